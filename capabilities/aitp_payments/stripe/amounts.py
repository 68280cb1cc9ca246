"""Converts amounts to and from Stripe's: whole numbers of a currency's smallest unit.

They are those of ISO 4217 for most currencies; for some Stripe has its own rules
(https://docs.stripe.com/currencies).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

from aitp_desk.capability import Money
from aitp_payments.money import MILLION, amount, millionths

MOST = 99_999_999
"""Maximum charge in smallest units: eight digits."""


def _table(*rows: tuple[str, int]) -> Mapping[str, int]:
    return MappingProxyType({code: value for codes, value in rows for code in codes.split()})


_UNITS = _table(
    ("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF", 1),
    ("BHD JOD KWD OMR TND", 1000),
)
"""Smallest units per unit of a currency, if they are not :data:`_USUAL_UNITS`."""
_USUAL_UNITS = 100
_STEPS = _table(("ISK UGX", 100), ("BHD JOD KWD OMR TND", 10))
"""The required divisor of a count: no fractions in the first, two of three digits in the others."""
_NOT_SERVED = frozenset("CLF CUP IQD IRR KPW LYD SDG SYP UYI UYW VED".split())
_LEAST = MappingProxyType(
    {
        code: Decimal(least)
        for codes, least in (
            ("AUD BRL CAD CHF EUR INR NZD SGD USD", "0.50"),
            ("GBP", "0.30"),
            ("BGN", "1.00"),
            ("AED MYR PLN RON", "2.00"),
            ("DKK", "2.50"),
            ("NOK SEK", "3.00"),
            ("HKD", "4.00"),
            ("MXN THB", "10"),
            ("CZK", "15.00"),
            ("JPY", "50"),
            ("HUF", "175.00"),
        )
        for code in codes.split()
    }
)
"""Minimum charges that Stripe publishes; in other currencies the minimum is the day's equivalent
of 0.50 USD."""


class NotChargeable(ValueError):
    """A card cannot be charged this amount; the text has the reason."""


def units(price: Money) -> int:
    """Count a price in Stripe's smallest units of its currency.

    Raises:
        NotChargeable: it is too small, too large, or too fine.
    """
    code = price.currency
    if code in _NOT_SERVED:
        raise NotChargeable(f"Stripe does not charge {code}.")
    least = _LEAST.get(code, Decimal(0))
    if price.amount <= 0 or price.amount < least:
        raise NotChargeable(f"Stripe charges at least {least or 'something'} {code}.")
    count, rest = divmod(millionths(price.amount) * _unit_count(code), MILLION)
    if rest or count % _STEPS.get(code, 1):
        raise NotChargeable(f"{price} has too many decimals for a card.")
    if count > MOST:
        raise NotChargeable(f"{price} is above Stripe's maximum for one payment.")
    return count


def price_of(count: int, currency: str) -> Money:
    """Return the price of a count of smallest units.

    Parameters:
        currency: in lowercase, as in Stripe.
    """
    code = currency.upper()
    return Money(Decimal(amount(count * MILLION // _unit_count(code), code)), code)


def _unit_count(code: str) -> int:
    return _UNITS.get(code, _USUAL_UNITS)
