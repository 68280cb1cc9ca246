"""Reads the parameters and the result of a function from its annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.actions.base import Context
from aitp_desk.actions.schemas.types import check_kind

Report = Callable[[str], None]
"""Receives a fault of the function, as text that follows its name."""
REQUIRED = inspect.Parameter.empty
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Parameter(msgspec.Struct, frozen=True):
    """A parameter that a caller sends.

    Parameters:
        default: :data:`REQUIRED` for none.
    """

    name: str
    kind: Any
    default: Any = REQUIRED


class Signature(msgspec.Struct, frozen=True):
    """The parameters and the result of a function.

    Parameters:
        takes: its parameters by name, except the one for the Context.
        context: the name of the parameter that takes the Context; None for none.
        gives: the type of its result; :data:`REQUIRED` if it has no annotation.
    """

    takes: Mapping[str, Parameter]
    context: str | None
    gives: Any

    def pick(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the arguments that the function takes, and the Context if it takes it."""
        picked = {name: arguments[name] for name in self.takes}
        if self.context is not None:
            picked[self.context] = context
        return picked


def read_signature(function: Callable[..., Any], report: Report) -> Signature | None:
    """Read a function's signature; None, with a report, if it is not usable."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        report("yields its results one by one; return them as a list.")
        return None
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        report(f"has an unknown type ({error}); import or define it at the top of the file.")
        return None
    except Exception as error:  # noqa: BLE001 -- the site's own code: reading a type may run any
        report(f"has a type that cannot be read ({error}); write one such as str or list[int].")
        return None
    found: dict[str, Parameter] = {}
    context: str | None = None
    is_right = True
    for parameter in inspect.signature(function).parameters.values():
        name, kind = parameter.name, hints.get(parameter.name)
        if kind is Context and context is None:
            context = name
            continue
        if wrong := _wrong(parameter, kind, name in hints):
            report(wrong)
            is_right = False
        found[name] = Parameter(name, kind, parameter.default)
    return Signature(found, context, hints.get("return", REQUIRED)) if is_right else None


def _wrong(parameter: inspect.Parameter, kind: Any, has_type: bool) -> str | None:
    name = parameter.name
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return (
            f"takes '{name}' by position only; remove the /, because arguments are passed by name."
        )
    if parameter.kind not in _BY_NAME:
        return f"takes any number of arguments as '{name}'; write each parameter with its type."
    if kind is Context:
        return f"takes the Context twice; remove '{name}'."
    if not has_type:
        return f"has no type for '{name}'; write one, such as {name}: str."
    if name.startswith("_"):
        return f"has the parameter '{name}'; its name must begin with a letter."
    if wrong := check_kind(kind):
        return f"takes '{name}' of a type that callers cannot send: {wrong}."
    return _wrong_default(parameter, kind)


def _wrong_default(parameter: inspect.Parameter, kind: Any) -> str | None:
    name, default = parameter.name, parameter.default
    if default is REQUIRED:
        return None
    if isinstance(default, (list, set, dict)) and default:
        return f"has a mutable default for '{name}'; write None, or a tuple."
    try:
        msgspec.convert(msgspec.to_builtins(default), kind)
    except (TypeError, ValueError):
        if default is None:
            return (
                f"has the default None for '{name}', which its type does not allow; write … | None."
            )
        return f"has a default for '{name}' that is not of its type; change or remove it."
    return None


def make_struct(name: str, parameters: Mapping[str, Parameter]) -> type[msgspec.Struct]:
    """Make the Struct of a function's arguments."""
    return msgspec.defstruct(
        name,
        [
            (one.name, one.kind) if one.default is REQUIRED else (one.name, one.kind, one.default)
            for one in parameters.values()
        ],
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
