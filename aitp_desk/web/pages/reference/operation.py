"""Shows an operation: a line, and on demand how to call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.protocols.base.protocol import FORM
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.reference.example import make_body, make_command
from aitp_desk.web.pages.reference.schema import Row, SchemaIndex, find_body, write_table
from aitp_desk.web.pages.reference.task import Operation
from aitp_desk.web.pages.renderer import read_template

_OPERATION = read_template("api_operation.html")
_NEEDS = {
    "": "It needs no credential.",
    "bearer": "It needs an API key or an access token.",
    "basic": "It needs the id and the secret of a client.",
    "console": "It needs the session of an operator in the console.",
}
_REFUSED = 400


def find_common_refusals(operations: Sequence[Operation]) -> frozenset[str]:
    """Return the statuses with which every operation may refuse."""
    return frozenset.intersection(*(frozenset(_list_refusals(one)) for one in operations))


def write_operation(
    url: str, operation: Operation, schemas: SchemaIndex, common: frozenset[str], question: str
) -> Markup:
    """Show an operation.

    Parameters:
        url: of the site.
        schemas: those of the document.
        common: the statuses of refusals that the page names once.
        question: for the body of an operation that asks one.
    """
    item = operation.item
    scheme = _find_scheme(item)
    body = make_body(operation, schemas, question)
    media_type, schema = find_body(item.get("requestBody", {}))
    rows = [_write_parameter(one, schemas) for one in item.get("parameters", ())]
    if media_type:
        rows += _list_fields(schema, schemas) if media_type == FORM else _list_body(schema, schemas)
    return fill_template(
        _OPERATION,
        id=operation.id,
        method=operation.method,
        verb=operation.method.lower(),
        path=operation.path,
        scheme=scheme,
        media_type=media_type,
        body=body,
        summary=item["summary"],
        description=_write_paragraphs(str(item.get("description", ""))),
        needs=_NEEDS[scheme],
        parameters=write_table(rows, "Parameter"),
        responses=_write_responses(operation, schemas, common),
        example=make_command(url, operation, scheme, body),
    )


def _write_paragraphs(text: str) -> Markup:
    return join_markup(fill_template("<p>$it</p>", it=part) for part in text.split("\n\n") if part)


def _find_scheme(item: Mapping[str, Any]) -> str:
    """Return the scheme of the credential that an operation needs; empty for none."""
    ways: Sequence[Mapping[str, Any]] = item.get("security", ({},))
    return "" if {} in ways else next((name for way in ways for name in way if name in _NEEDS), "")


def _write_parameter(parameter: Mapping[str, Any], schemas: SchemaIndex) -> Row:
    """Return the row of a parameter, with what the script needs to send it."""
    schema, place = parameter.get("schema", {}), parameter["in"]
    return Row(
        parameter["name"],
        fill_template("$kind in the $place", kind=schemas.write_kind(schema), place=place),
        str(parameter.get("description") or schemas.describe(schema)),
        bool(parameter.get("required")),
        fill_template(' data-in="$place"', place=place),
    )


def _list_body(schema: Any, schemas: SchemaIndex) -> list[Row]:
    """Return the members of a body, or one row that links to its schema."""
    members = list(schemas.list_members(schema)) if schemas.is_inline(schema) else []
    return members or [Row("body", schemas.write_kind(schema), schemas.describe(schema))]


def _list_fields(schema: Any, schemas: SchemaIndex) -> list[Row]:
    """Return the fields of a form, marked for the script that sends them."""
    places = {
        name: "file" if "contentMediaType" in field else "form"
        for name, field in schema["properties"].items()
    }
    return [
        msgspec.structs.replace(
            row, marks=fill_template(' data-in="$place"', place=places[row.name])
        )
        for row in schemas.list_members(schema)
    ]


def _list_refusals(operation: Operation) -> list[str]:
    return [
        status
        for status in operation.item["responses"]
        if status.isdecimal() and int(status) >= _REFUSED
    ]


def _write_responses(operation: Operation, schemas: SchemaIndex, common: frozenset[str]) -> Markup:
    """Write the successes with what they hold, then what else it refuses with."""
    refused = _list_refusals(operation)
    given, forms = [], []
    for status, response in operation.item["responses"].items():
        media_type, schema = find_body(response)
        kind = schemas.write_kind(schema) if schema else fill_template("$it", it=media_type)
        if status not in refused:
            shown = "<code>$status</code> $kind" if kind else "<code>$status</code>$kind"
            given.append(fill_template(shown, status=status, kind=kind))
        elif kind:
            forms.append(kind)
    further = ", ".join(status for status in refused if status not in common)
    return fill_template(
        "Returns $given.$further$form",
        given=join_markup(given, ", "),
        further=f" Refuses also with {further}." if further else "",
        form=fill_template(" Refusals are $form.", form=forms[0]) if forms else Markup(),
    )
