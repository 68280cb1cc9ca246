"""The types that a declaration may use: fully described by a schema.

Types that could hold anything (``Any``, ``object``, bytes) are refused: a caller could not know
what to send, nor the owner that a result holds no more than it should.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any

from msgspec import inspect

from aitp_desk.actions.secret import Secret

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


_PLAIN = (
    inspect.NoneType,
    inspect.BoolType,
    inspect.IntType,
    inspect.FloatType,
    inspect.StrType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.TimeType,
    inspect.TimeDeltaType,
    inspect.UUIDType,
    inspect.DecimalType,
    inspect.LiteralType,
)
_OBJECTS = (
    inspect.StructType,
    inspect.DataclassType,
    inspect.TypedDictType,
    inspect.NamedTupleType,
)
_LISTS = (
    inspect.ListType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.VarTupleType,
)
_WITHOUT_OWN = (inspect.CollectionType, inspect.CustomType)
"""Types that stand for a class and have no own schema."""
_ONLY_PYTHON = re.compile(r"\\[AZ]|\(\?P")
WRITE = (
    "write str, int, float, bool, Decimal, date, UUID, an enum, a Literal, a msgspec.Struct, or a"
    " list of these"
)
"""The advice in messages about invalid types."""


def check_kind(kind: Any) -> str | None:
    """Return the fault of a type; None if it may be used."""
    try:
        info = inspect.type_info(kind)
    except Exception as error:  # noqa: BLE001 -- the site's own code: reading a type may run any
        return f"{str(error).partition(chr(10))[0].rstrip('.')}; {WRITE}"
    return next(_wrong(info, set()), None)


def list_classes(kind: Any) -> Iterator[type]:
    """Yield the classes with a schema that a type contains, each once."""
    seen: set[type] = set()
    todo = [inspect.type_info(kind)]
    while todo:
        info = todo.pop(0)
        class_ = getattr(info, "cls", None)
        if isinstance(class_, type) and not isinstance(info, _WITHOUT_OWN):
            if class_ in seen:
                continue
            seen.add(class_)
            yield class_
        todo += _inner(info)


def has_secret(kind: Any) -> bool:
    """Return whether a valid type is a secret, or contains one."""
    seen: set[Any] = set()
    todo = [inspect.type_info(kind)]
    while todo:
        info = todo.pop()
        class_ = getattr(info, "cls", None)
        if isinstance(info, inspect.CustomType):
            return True
        if isinstance(info, _OBJECTS):
            if class_ in seen:
                continue
            seen.add(class_)
        todo += _inner(info)
    return False


def _inner(info: inspect.Type) -> tuple[inspect.Type, ...]:
    """Return the types that a type directly contains."""
    match info:
        case inspect.Metadata(type=inner):
            return (inner,)
        case inspect.UnionType(types=types):
            return types
        case inspect.TupleType(item_types=types):
            return types
        case inspect.DictType(key_type=key, value_type=value):
            return key, value
        case _ if isinstance(info, _OBJECTS):
            return tuple(field.type for field in info.fields)
        case _ if isinstance(info, _LISTS):
            return (info.item_type,)
        case _:
            return ()


def _wrong(info: inspect.Type, seen: set[type]) -> Iterator[str]:
    """Yield the faults of a type and of those in it."""
    if is_unsatisfiable(info):
        yield f"bounds that no value satisfies: {read_bounds(info)}; change them"
    yield from _wrong_kind(info, seen)


def _wrong_kind(info: inspect.Type, seen: set[type]) -> Iterator[str]:
    if isinstance(info, _OBJECTS):
        if info.cls in seen:
            return
        seen.add(info.cls)
    elif isinstance(info, inspect.DictType):
        if not isinstance(_bare(info.key_type), inspect.StrType):
            yield (f"names of an object's members must be text; {WRITE} or a dict[str, …] of these")
    elif isinstance(info, inspect.StrType):
        if info.pattern is not None and _ONLY_PYTHON.search(info.pattern):
            yield (
                f"pattern {info.pattern} is not valid in JSON Schema; write ^ for \\A, $"
                " for \\Z, and (?: for (?P<name>"
            )
    elif isinstance(info, (inspect.DateTimeType, inspect.TimeType)) and info.tz is not True:
        name = "time" if isinstance(info, inspect.TimeType) else "datetime"
        yield f"a time without its zone; write Annotated[{name}, Meta(tz=True)], or date, or str"
    elif isinstance(info, inspect.AnyType):
        yield f"could be anything; {WRITE}"
    elif isinstance(info, inspect.CustomType) and info.cls is not Secret:
        yield f"{info.cls.__name__} has no form in JSON; {WRITE}"
    elif not isinstance(
        info,
        (
            *_PLAIN,
            *_LISTS,
            inspect.CustomType,
            inspect.EnumType,
            inspect.Metadata,
            inspect.UnionType,
            inspect.TupleType,
        ),
    ):
        name = type(info).__name__.removesuffix("Type").lower()
        yield f"{name} has no form in JSON that callers know; {WRITE}"
    for inner in _inner(info):
        yield from _wrong(inner, seen)


def _bare(info: inspect.Type) -> inspect.Type:
    return _bare(info.type) if isinstance(info, inspect.Metadata) else info
