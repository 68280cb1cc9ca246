"""Checks that all declarations share: name, docstring, arguments and result."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any

from aitp_desk.actions.base import Context
from aitp_desk.actions.declaration.docstring import ParsedDocstring
from aitp_desk.actions.declaration.signature import REQUIRED, Report, Signature, make_struct
from aitp_desk.actions.schemas.json_schema import describe_members, json_schema
from aitp_desk.actions.schemas.shape import Shape, ShapeMismatch
from aitp_desk.actions.schemas.types import check_kind, has_secret
from aitp_desk.model.calls.action import is_action_name
from aitp_desk.model.conversation.ticket import Answered, Ticket
from aitp_desk.model.errors import InvalidRequest, MissingField

MAX_SUMMARY = 256


def check_name(name: str, report: Report) -> None:
    """Report a function's name that is not a valid action name."""
    if not is_action_name(name):
        report(
            "has an invalid name; use at most 64 lowercase letters, digits and _, a letter first."
        )


def check_doc(doc: ParsedDocstring, takes: Collection[str], report: Report) -> None:
    """Report a docstring without the text that callers need."""
    if not doc.summary:
        report("has no docstring; write a line for callers that says what it does.")
    elif len(doc.summary) > MAX_SUMMARY:
        report(
            f"has a docstring whose first paragraph has {len(doc.summary)} characters; write one of"
            f" at most {MAX_SUMMARY}, then an empty line and the rest."
        )
    for name in doc.members:
        if name not in takes:
            report(f"describes '{name}', which is not a parameter; remove it or rename it.")


def make_arguments_shape(name: str, signature: Signature, doc: ParsedDocstring) -> Shape:
    """Make the shape that validates a function's arguments."""
    kind = make_struct(name, signature.takes)
    schema = json_schema(kind)
    describe_members(schema, doc.members)
    return Shape(kind, schema=schema, whole="The arguments")


def make_result_shape(signature: Signature, report: Report) -> Shape | None:
    """Make the shape of a result; None, with a report, if invalid."""
    if signature.gives is Ticket:
        return Shape(Answered, whole="the result")
    if Ticket in typing.get_args(signature.gives):
        report("returns a Ticket or another type; write -> Ticket alone.")
    elif signature.gives is REQUIRED:
        report("has no return type; write -> and the type, or -> None.")
    elif wrong := check_kind(signature.gives):
        report(f"returns a type that cannot be sent to callers: {wrong}.")
    elif has_secret(signature.gives):
        report("returns a Secret, which callers must not receive; return another value.")
    else:
        return Shape(signature.gives, whole="the result")
    return None


def read_arguments(shape: Shape, arguments: Mapping[str, Any], *, strict: bool = True) -> Any:
    """Validate arguments as JSON values.

    Raises:
        InvalidRequest: they do not fit the shape; MissingField if one is missing.
    """
    try:
        return shape.read(arguments, strict=strict)
    except ShapeMismatch as error:
        refuse = MissingField if error.is_missing else InvalidRequest
        raise refuse(error.message, param=error.path or None) from None


def write_result(function: Callable[..., Any], shape: Shape, result: Any) -> Any:
    """Return a result as a JSON value.

    Raises:
        TypeError: the function returned something else than it declares.
    """
    try:
        return shape.write(result)
    except ShapeMismatch as error:
        raise TypeError(
            f"{function.__name__} returned a value that does not fit its return type:"
            f" {error.message}"
        ) from None


def read_partial_signature(
    function: Any, whole: Signature, what: str, report: Report
) -> Signature | None:
    """Return the signature of a function that takes some parameters of another.

    Parameters:
        whole: the other function's signature.
        what: the function's role in messages: ``the precondition 'in_stock'``.
    """
    if not inspect.isfunction(function):
        report(f"has no function as {what}; write one with def or async def.")
        return None
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # noqa: BLE001 -- the site's own code: reading a type may run any
        report(f"has {what} with a type that cannot be read: {error}.")
        return None
    takes, context = {}, None
    for name in inspect.signature(function).parameters:
        if hints.get(name) is Context:
            context = name
        elif name in whole.takes:
            takes[name] = whole.takes[name]
        else:
            known = ", ".join(whole.takes) or "nothing"
            report(f"has {what}, which takes '{name}'; it may take {known}, and the Context.")
            return None
    return Signature(takes, context, hints.get("return", REQUIRED))
