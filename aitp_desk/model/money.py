"""Money: an exact amount in a currency."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import msgspec

Currency = Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")]
"""An ISO 4217 code."""


class Money(msgspec.Struct, frozen=True):
    """An amount of money.

    Parameters:
        amount: exact, in units of the currency; written as text, such as "29.99".
        currency: an ISO 4217 code, such as EUR.
    """

    amount: Decimal
    currency: Currency

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"

    def is_same(self, other: Money) -> bool:
        """Return whether both are the same amount of the same currency, however written."""
        return self.currency == other.currency and self.amount == other.amount
