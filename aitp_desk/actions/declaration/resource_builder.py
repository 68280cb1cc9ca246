"""Builds an offered resource from a declared function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from aitp_desk.actions.base import Context, OfferedResource
from aitp_desk.actions.declaration.docstring import read_docstring
from aitp_desk.actions.declaration.invocation import call_function
from aitp_desk.actions.declaration.links import check_links
from aitp_desk.actions.declaration.parts import (
    check_doc,
    check_name,
    make_arguments_shape,
    make_result_shape,
    read_arguments,
    write_result,
)
from aitp_desk.actions.declaration.reader_builder import build_reader, check_payment
from aitp_desk.actions.declaration.resource import DeclaredAffordance, DeclaredResource
from aitp_desk.actions.declaration.signature import REQUIRED, Report, Signature, read_signature
from aitp_desk.actions.declaration.terms import check_open_to, check_related, list_entries
from aitp_desk.actions.schemas.shape import Shape
from aitp_desk.actions.schemas.types import has_secret
from aitp_desk.model.calls.resource import (
    NOTHING_HERE,
    Affordance,
    PathTemplate,
    Resource,
    ResourceType,
    expand,
    fill_links,
)
from aitp_desk.model.errors import ResourceNotFound


def build_resource(
    declared: DeclaredResource[..., Any], is_action: Callable[[str], bool], report: Report
) -> OfferedResource | None:
    """Build an offered resource from its declaration.

    Parameters:
        is_action: returns whether an action of this name may be afforded.
        report: receives each fault, as text that follows the function's name.

    Returns:
        None if it has a fault.
    """
    wrong: list[str] = []
    made = None
    try:
        made = _make(declared, is_action, wrong.append)
    except (TypeError, ValueError) as error:
        wrong.append(f"cannot be declared like this: {error}.")
    for message in wrong:
        report(message)
    return None if wrong else made


def _make(
    declared: DeclaredResource[..., Any], is_action: Callable[[str], bool], report: Report
) -> OfferedResource | None:
    function = declared.function
    name, doc = function.__name__, read_docstring(function.__doc__)
    check_name(name, report)
    for message in (*check_open_to(declared.open_to), *check_related(declared.related)):
        report(message)
    check_payment(declared, report)
    template = PathTemplate.parse(str(declared.path))
    if template is None:
        report(
            f"has the path {declared.path!r}; it must begin with a name and have each"
            " variable as a whole segment, such as /orders/{order_id}."
        )
    signature = read_signature(function, report)
    if signature is None:
        return None
    check_doc(doc, signature.takes, report)
    if template is not None:
        _check_variables(template, signature, report)
    signature = msgspec.structs.replace(signature, gives=_without_none(signature.gives))
    gives = make_result_shape(signature, report)
    affords = tuple(declared.affordances)
    for one in affords:
        _check_affords(one, is_action, report)
    if template is None or gives is None:
        return None
    takes = make_arguments_shape(name, signature, doc)
    known = (takes.schema, gives.schema)
    for message in check_links(list_entries(declared.related), known, "the path or the resource"):
        report(message)
    type_ = ResourceType(
        name,
        template,
        doc.summary,
        doc.description,
        declared.open_to,
        takes.schema,
        gives.schema,
        tuple(one.action for one in affords),
        tuple(list_entries(declared.related)),
        declared.reader,
    )
    read = partial(_read, type_, declared, signature, takes, gives, affords)
    reader = None
    if type_.read_by:
        check_name(type_.read_by, report)
        reader = build_reader(declared, type_, signature, takes, read, report)
    return OfferedResource(type_, read, partial(_arguments, takes), reader)


def _check_variables(template: PathTemplate, signature: Signature, report: Report) -> None:
    for name in template.names:
        if name not in signature.takes:
            report(f"has {{{name}}} in its path but no such parameter; write {name}: str.")
    for name, parameter in signature.takes.items():
        if name not in template.names:
            report(f"takes '{name}', which is not in its path {template}; write {{{name}}} there.")
        elif has_secret(parameter.kind):
            report(f"has the Secret '{name}' in its path, where others can read it; write str.")
        elif parameter.default is not REQUIRED:
            report(f"has a default for '{name}', which is always in the path; remove the default.")


def _check_affords(
    affords: DeclaredAffordance, is_action: Callable[[str], bool], report: Report
) -> None:
    name, function = affords.action, affords.function
    if not is_action(name):
        report(f"affords {name!r}; there is no such action.")
    elif not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        report(f"affords {name!r} by something other than a plain function; write def.")
    elif len(inspect.signature(function).parameters) != 1:
        report(f"affords {name!r} by a function that takes more than the resource.")


def _without_none(kind: Any) -> Any:
    """Return a type without the None that means no resource."""
    if get_origin(kind) not in {Union, UnionType}:
        return kind
    return reduce(or_, (each for each in get_args(kind) if each is not NoneType))


def _arguments(takes: Shape, variables: Mapping[str, str]) -> Mapping[str, Any]:
    given = msgspec.structs.asdict(read_arguments(takes, variables, strict=False))
    return {name: msgspec.to_builtins(value) for name, value in given.items()}


async def _read(
    type_: ResourceType,
    declared: DeclaredResource[..., Any],
    signature: Signature,
    takes: Shape,
    gives: Shape,
    affords: Sequence[DeclaredAffordance],
    variables: Mapping[str, str],
    context: Context,
) -> Resource:
    path = expand(str(type_.template), variables)
    given = msgspec.structs.asdict(read_arguments(takes, variables, strict=False))
    if path is None:
        raise ResourceNotFound(NOTHING_HERE)
    value = await call_function(declared.function, signature.pick(given, context))
    if value is None:
        raise ResourceNotFound(NOTHING_HERE)
    data = write_result(declared.function, gives, value)
    open_now = (_affordance(one, value) for one in affords)
    return Resource(
        path,
        msgspec.to_builtins(given),
        data,
        tuple(one for one in open_now if one is not None),
        fill_links(type_.related, data, variables),
    )


def _affordance(affords: DeclaredAffordance, value: Any) -> Affordance | None:
    said = affords.function(value)
    if said is None or said is False:
        return None
    arguments = {} if said is True else said
    if not isinstance(arguments, Mapping):
        raise TypeError(
            f"{affords.function.__name__} must return true, false or arguments of {affords.action}"
        )
    return Affordance(affords.action, msgspec.to_builtins(arguments))
