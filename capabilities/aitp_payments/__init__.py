"""AITP-01, payments: quotes, payments and their results on a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aitp_payments.capability import Payments

__all__ = ["Payments"]


def __getattr__(name: str) -> Any:
    """Import the capability on first access: the commands of this package need less."""
    if name == "Payments":
        from aitp_payments.capability import Payments

        return Payments
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
