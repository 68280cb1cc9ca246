"""Amounts of money: parsed, counted in millionths of a currency, split without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

PLACES = 6
"""Maximum digits after the point of an amount."""
WHOLE_PLACES = 12
"""Maximum digits before the point of an amount."""
MILLION = 1_000_000

MINOR_UNITS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0)
    | dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3)
    | dict.fromkeys("CLF UYW".split(), 4)
)
"""Digits after the point of currencies that do not have two (ISO 4217)."""
USUAL_PLACES = 2

_AMOUNT = re.compile(rf"[0-9]{{1,{WHOLE_PLACES}}}(\.[0-9]{{1,{PLACES}}})?")


def parse(text: str) -> Decimal:
    """Parse an amount of AITP-01, such as ``29.99``.

    Raises:
        ValueError: it is malformed, or has too many digits.
    """
    if not _AMOUNT.fullmatch(text):
        raise ValueError(
            "An amount must have only digits and a point, such as 29.99: at most"
            f" {WHOLE_PLACES} digits before the point and {PLACES} after it."
        )
    return Decimal(text)


def plain(amount: Decimal) -> str:
    """Format an amount for messages: digits and a point, no exponent."""
    return f"{amount:f}"


def millionths(amount: Decimal) -> int:
    """Count an amount in millionths of its currency, exactly.

    Raises:
        ValueError: it is too fine, too large, or no number.
    """
    if not amount:
        return 0
    # check the exponent first: a short text can denote a number of a million digits
    if not amount.is_finite() or not -PLACES <= amount.adjusted() < WHOLE_PLACES:
        raise ValueError(_uncounted(amount))
    above, below = amount.as_integer_ratio()
    count, rest = divmod(above * MILLION, below)
    if rest:
        raise ValueError(_uncounted(amount))
    return count


def _uncounted(amount: Decimal) -> str:
    return (
        f"{amount!s:.40} cannot be counted: an amount must have at most {WHOLE_PLACES} digits"
        f" before the point and {PLACES} after it."
    )


def counted(text: str) -> int:
    """Parse an amount and count it in millionths.

    Raises:
        ValueError: as for :func:`parse`.
    """
    return millionths(parse(text))


def places(currency: str) -> int:
    """Return the digits after the point of a currency's minor unit: 2 for EUR, 0 for JPY."""
    return MINOR_UNITS.get(currency, USUAL_PLACES)


def minor_unit(currency: str) -> int:
    """Return a currency's minor unit, such as a cent, in millionths."""
    return int(10 ** (PLACES - places(currency)))


def amount(count: int, currency: str) -> str:
    """Format millionths as an amount, with at least the minor unit's digits."""
    whole, rest = divmod(abs(count), MILLION)
    least = places(currency)
    digits = f"{rest:0{PLACES}}"
    after = digits[:least] + digits[least:].rstrip("0")
    return f"{'-' if count < 0 else ''}{whole}{'.' if after else ''}{after}"


def is_whole(count: int, currency: str) -> bool:
    """Return whether millionths are whole minor units, as cards need them."""
    return count % minor_unit(currency) == 0


def whole_part(count: int, currency: str) -> int:
    """Round millionths down to whole minor units."""
    return count - count % minor_unit(currency)


def split(total: int, weights: Sequence[int], currency: str) -> list[int]:
    """Split millionths by weights into parts that add up exactly.

    Each part has whole minor units if the total has, else millionths. What remains goes to the
    parts with the largest remainders, among equals to the first.

    Raises:
        ValueError: there are no weights, or something is negative.
    """
    if total < 0 or not weights or min(weights) < 0 or not sum(weights):
        raise ValueError(
            "The total and the weights must not be negative, and one weight must be above 0."
        )
    return _split(total, weights, minor_unit(currency) if is_whole(total, currency) else 1)


def take_from(total: int, holdings: Sequence[int], currency: str) -> list[int]:
    """Split millionths among holders in proportion, so that none gives more than it holds.

    Each part has whole minor units if the total and all holdings have, else millionths.

    Parameters:
        holdings: what each holds, in millionths; together at least the total.

    Raises:
        ValueError: they hold less, or something is negative.
    """
    if not 0 <= total <= sum(holdings) or min(holdings, default=0) < 0:
        raise ValueError("The total must be 0 to the sum of the holdings.")
    if not total:
        return [0] * len(holdings)
    are_whole = all(is_whole(count, currency) for count in (total, *holdings))
    return _split(total, holdings, minor_unit(currency) if are_whole else 1)


def _split(total: int, weights: Sequence[int], unit: int) -> list[int]:
    of = sum(weights)
    shares = [divmod(total // unit * weight, of) for weight in weights]
    left = total // unit - sum(whole for whole, _ in shares)
    lacking = sorted(range(len(shares)), key=lambda place: (-shares[place][1], place))
    more = set(lacking[:left])
    return [(whole + (place in more)) * unit for place, (whole, _) in enumerate(shares)]
