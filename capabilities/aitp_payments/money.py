"""Amounts of money: read from text, counted in millionths of a currency, split without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

PLACES = 6
"""How many digits after the point an amount has at most."""
WHOLE_PLACES = 12
"""How many digits before the point an amount has at most."""
MILLION = 1_000_000

MINOR_UNITS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0)
    | dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3)
    | dict.fromkeys("CLF UYW".split(), 4)
)
"""Digits after the point of currencies that have not two (ISO 4217)."""
USUAL_PLACES = 2

_AMOUNT = re.compile(rf"[0-9]{{1,{WHOLE_PLACES}}}(\.[0-9]{{1,{PLACES}}})?")


def parse(text: str) -> Decimal:
    """Read an amount as AITP-01 writes one, such as ``29.99``.

    Raises:
        ValueError: it is no such amount, or has more digits than are counted.
    """
    if not _AMOUNT.fullmatch(text):
        raise ValueError(
            f"An amount is written with digits and a point, such as 29.99: at most {WHOLE_PLACES}"
            f" before the point and {PLACES} after it."
        )
    return Decimal(text)


def plain(amount: Decimal) -> str:
    """An amount as messages have it: digits and a point, no exponent."""
    return f"{amount:f}"


def millionths(amount: Decimal) -> int:
    """Count an amount in millionths of its currency, exactly.

    Raises:
        ValueError: it is finer or larger than what is counted, or no number.
    """
    if not amount:
        return 0
    # the exponent is looked at first: a tiny text can stand for a number of a million digits
    if not amount.is_finite() or not -PLACES <= amount.adjusted() < WHOLE_PLACES:
        raise ValueError(_uncounted(amount))
    above, below = amount.as_integer_ratio()
    count, rest = divmod(above * MILLION, below)
    if rest:
        raise ValueError(_uncounted(amount))
    return count


def _uncounted(amount: Decimal) -> str:
    return (
        f"{amount!s:.40} is not counted: amounts have at most {WHOLE_PLACES} digits before the"
        f" point and {PLACES} after it."
    )


def counted(text: str) -> int:
    """Read an amount and count it in millionths.

    Raises:
        ValueError: as :func:`parse`.
    """
    return millionths(parse(text))


def places(currency: str) -> int:
    """How many digits after the point the minor unit of a currency has: 2 for EUR, 0 for JPY."""
    return MINOR_UNITS.get(currency, USUAL_PLACES)


def minor_unit(currency: str) -> int:
    """The minor unit of a currency, such as a cent, in millionths."""
    return int(10 ** (PLACES - places(currency)))


def amount(count: int, currency: str) -> str:
    """Write a count of millionths as an amount: plain, with the minor unit's places at least."""
    whole, rest = divmod(abs(count), MILLION)
    least = places(currency)
    digits = f"{rest:0{PLACES}}"
    after = digits[:least] + digits[least:].rstrip("0")
    return f"{'-' if count < 0 else ''}{whole}{'.' if after else ''}{after}"


def is_whole(count: int, currency: str) -> bool:
    """Whether a count of millionths is one of whole minor units, as cards need it."""
    return count % minor_unit(currency) == 0


def whole_part(count: int, currency: str) -> int:
    """The largest count of whole minor units that is no more than this one."""
    return count - count % minor_unit(currency)


def split(total: int, weights: Sequence[int], currency: str) -> list[int]:
    """Split a count of millionths by weights: the parts are exactly all of it.

    Each part is of whole minor units where the total is, else of millionths. What a whole part
    leaves goes to those that lack most of theirs, of equals to the first (largest remainder).

    Raises:
        ValueError: there is nothing to split by, or something is below 0.
    """
    if total < 0 or not weights or min(weights) < 0 or not sum(weights):
        raise ValueError("What is split is not below 0, nor is a weight, and one is above 0.")
    return _split(total, weights, minor_unit(currency) if is_whole(total, currency) else 1)


def take_from(total: int, holdings: Sequence[int], currency: str) -> list[int]:
    """Split a count of millionths among those who hold it, in proportion: none gives more.

    Each part is of whole minor units where the total and all that is held are, else of millionths.

    Parameters:
        holdings: what each holds, in millionths; together as much as the total at least.

    Raises:
        ValueError: they hold less, or something is below 0.
    """
    if not 0 <= total <= sum(holdings) or min(holdings, default=0) < 0:
        raise ValueError("What is taken is not below 0, nor more than what is held.")
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
