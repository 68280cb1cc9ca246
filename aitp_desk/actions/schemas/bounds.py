"""The bounds of a type, and whether any value satisfies them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from msgspec import inspect

_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length")


def read_bounds(info: inspect.Type) -> str:
    """Return the bounds of a type as declared: ``ge=1, le=99``."""
    named = {name: getattr(info, name, None) for name in _BOUNDS}
    return ", ".join(f"{name}={value}" for name, value in named.items() if value is not None)


def is_unsatisfiable(info: inspect.Type) -> bool:
    """Return whether no value satisfies the bounds of a type."""
    if isinstance(info, (inspect.IntType, inspect.FloatType)):
        return _has_no_number(info)
    least, most = getattr(info, "min_length", None), getattr(info, "max_length", None)
    return least is not None and most is not None and least > most


def _has_no_number(info: inspect.IntType | inspect.FloatType) -> bool:
    least = info.gt if info.ge is None else info.ge
    most = info.lt if info.le is None else info.le
    if least is None or most is None:
        return False
    step = info.multiple_of or (1 if isinstance(info, inspect.IntType) else None)
    if step is None:
        return least > most or (least == most and (info.ge is None or info.le is None))
    first = ceil(Fraction(least) / Fraction(step))
    first += info.ge is None and first * Fraction(step) == least
    last = floor(Fraction(most) / Fraction(step))
    last -= info.le is None and last * Fraction(step) == most
    return first > last
