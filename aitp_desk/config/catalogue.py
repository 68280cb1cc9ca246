"""Lists the settings as rows, for messages, the starter file and the docs table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import msgspec
from msgspec import inspect

from aitp_desk.config.settings import Config

_MISSING = re.compile(r"Object missing required field `(\w+)`")


class Setting(msgspec.Struct, frozen=True):
    """One setting.

    Parameters:
        key: its full name, ``server.port``.
        takes: the accepted values as text, with bounds and unit.
        default: the default as TOML.
        sentence: its description.
    """

    key: str
    takes: str
    default: str
    sentence: str


class Section(msgspec.Struct, frozen=True):
    """A table of ``desk.toml`` with its direct settings.

    Parameters:
        repeats: whether there may be several, each with the header ``[[name]]``.
    """

    name: str
    sentence: str
    settings: tuple[Setting, ...]
    repeats: bool = False

    @property
    def heading(self) -> str:
        """The header line."""
        return f"[[{self.name}]]" if self.repeats else f"[{self.name}]"


def sections() -> tuple[Section, ...]:
    """Return every section in the order of the Structs, nested ones after their parent."""
    found: list[Section] = []
    for field in msgspec.structs.fields(Config):
        if is_section(field.type):
            found += _sections(field.type, field.name)
        elif (repeated := repeated_section(field.type)) is not None:
            found += _repeated(repeated, field.name)
    return tuple(found)


def is_section(kind: Any) -> bool:
    """Return whether a field's type is a Struct, and so a table of settings."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def repeated_section(kind: Any) -> type[msgspec.Struct] | None:
    """Return the Struct of an array of tables; None for any other field."""
    if get_origin(kind) is not tuple:
        return None
    each, *_ = get_args(kind)
    return each if is_section(each) else None


def names() -> Iterator[str]:
    """Yield every full name that ``desk.toml`` may contain, sections included."""
    for section in sections():
        yield section.name
        yield from (setting.key for setting in section.settings)


def takes(kind: Any) -> str:
    """Describe the values that a field's type accepts."""
    return _takes(inspect.type_info(kind))


def explain(kind: type[msgspec.Struct], error: msgspec.ValidationError) -> str:
    """Return what is wrong with a setting, and what it is for, in sentences.

    Parameters:
        kind: of the table.
        error: of its conversion; its patterns are for programs, and are left out.
    """
    what, _, at = str(error).partition(" - at `$")
    names = re.findall(r"\.(\w+)", at)
    if (missing := _MISSING.fullmatch(what)) is not None:
        names.append(missing[1])
        what = "is missing"
    elif "matching regex" in what:
        what = "does not have the expected form"
    else:
        what = f"has a wrong value: {what}"
    info: inspect.Type = inspect.type_info(kind)
    sentence = ""
    for name in names:
        found = [one.type for one in _fields(info) if one.encode_name == name]
        if not found:
            break
        (info,) = found
        sentence = _describe(info)
    return " ".join(filter(None, (f"{'.'.join(names)} {what}.".strip(), sentence)))


def _fields(info: inspect.Type) -> tuple[inspect.Field, ...]:
    """Return the fields of a section, which may be left out."""
    match info:
        case inspect.Metadata(type=inner):
            return _fields(inner)
        case inspect.UnionType(types=kinds):
            return tuple(field for kind in kinds for field in _fields(kind))
        case inspect.StructType(fields=fields):
            return fields
        case _:
            return ()


def as_toml(value: Any) -> str:
    """Write a setting's value as TOML."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _repeated(kind: type[msgspec.Struct], name: str) -> Iterator[Section]:
    """Yield an array of tables, and those nested in it.

    Its other sections are described in its sentence: they repeat the site's.
    """
    yield msgspec.structs.replace(next(_sections(kind, name)), repeats=True)
    for field in msgspec.structs.fields(kind):
        if (inner := repeated_section(field.type)) is not None:
            yield from _repeated(inner, f"{name}.{field.name}")


def _sections(kind: type[msgspec.Struct], name: str) -> Iterator[Section]:
    settings = tuple(
        Setting(
            key=f"{name}.{field.name}",
            takes=takes(field.type),
            default=as_toml(
                field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            ),
            sentence=_sentence(field.type),
        )
        for field in msgspec.structs.fields(kind)
        if not is_section(field.type) and repeated_section(field.type) is None
    )
    yield Section(name, " ".join((kind.__doc__ or "").split()), settings)
    for field in msgspec.structs.fields(kind):
        if is_section(field.type):
            yield from _sections(field.type, f"{name}.{field.name}")
        elif (repeated := repeated_section(field.type)) is not None:
            yield from _repeated(repeated, f"{name}.{field.name}")


def _sentence(kind: Any) -> str:
    return _describe(inspect.type_info(kind))


def _describe(info: inspect.Type) -> str:
    schema = info.extra_json_schema if isinstance(info, inspect.Metadata) else None
    return str((schema or {}).get("description", ""))


def _takes(info: inspect.Type, unit: str | None = None) -> str:
    match info:
        case inspect.Metadata(type=inner, extra=extra):
            return _takes(inner, (extra or {}).get("unit", unit))
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType(ge=low, le=high):
            return f"a whole number{f' of {unit}' if unit else ''} from {low} to {high}"
        case inspect.FloatType(ge=low, le=high):
            return f"a number{f' of {unit}' if unit else ''} from {low} to {high}"
        case inspect.LiteralType(values=values):
            return " or ".join(as_toml(value) for value in values)
        case inspect.StrType(pattern=pattern, min_length=low, max_length=high):
            size = f" of at most {high} characters" if high else ""
            line = " on one line" if pattern else ""
            return f"{unit or 'text'}{size}{line}{', not empty' if low else ''}"
        case inspect.VarTupleType(item_type=inspect.LiteralType(values=values)):
            return f"a list of {unit}: {', '.join(as_toml(value) for value in values)}"
        case inspect.VarTupleType(item_type=item):
            return f"a list of {unit or _takes(item)}"
        case inspect.DictType(value_type=value):
            return f"a table, each entry {_takes(value, unit)}"
        case inspect.AnyType():
            return "any value"
        case _:
            raise TypeError(f"a setting of the type {info} has no description yet")
