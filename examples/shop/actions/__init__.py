"""The shop's actions for agents: look-ups, quotes, orders, returns and visits.

Importing a module declares its actions. The database is opened by the first call.
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
