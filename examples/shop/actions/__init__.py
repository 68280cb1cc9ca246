"""What the shop does for agents: looks things up, quotes, takes and changes orders, books visits.

Importing a module declares what stands in it. Nothing is opened before somebody calls.
"""

from . import (
    cancelling,
    catalog,
    late_returns,
    maps,
    ordering,
    orders,
    people,
    quotes,
    returning,
    shipping,
    visits,
)

__all__ = [
    "cancelling",
    "catalog",
    "late_returns",
    "maps",
    "ordering",
    "orders",
    "people",
    "quotes",
    "returning",
    "shipping",
    "visits",
]
