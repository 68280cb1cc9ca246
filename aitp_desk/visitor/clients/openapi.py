"""Calls the operations of a site's OpenAPI document (OpenAPI 3.0 and 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from yarl import URL

from aitp_desk.model.calls.action import Safety
from aitp_desk.visitor.base import SiteAction
from aitp_desk.visitor.clients.hac import read_safety
from aitp_desk.visitor.clients.operations import OWN_HEADERS, Operation, OperationClient, Place
from aitp_desk.visitor.discovery.members import clean, list_of, object_of, text_of
from aitp_desk.visitor.fetcher import Method

MAX_OPERATIONS = 500
MAX_REFERENCES = 8
"""How many references of a chain are followed."""
BY_METHOD: Mapping[str, Safety | None] = {
    "GET": Safety(mutability="read_only"),
    "DELETE": Safety(mutability="irreversible"),
    "PUT": Safety(mutability="reversible"),
    "PATCH": Safety(mutability="reversible"),
    "POST": None,
}
"""What a method says about safety, if the operation says nothing (HAC 1.0, section 12.2)."""


class OpenApiClient(OperationClient):
    """Calls what the document describes; a desk's document marks its actions by ``x-kind``."""

    async def find_operations(self) -> Sequence[Operation]:
        """Return the actions, or all operations where none is marked."""
        found = list(_list_operations(self.endpoint.document, self.endpoint.url))
        marked = [operation for is_marked, operation in found if is_marked]
        return (marked or [operation for _, operation in found])[:MAX_OPERATIONS]


def _list_operations(document: Mapping[str, Any], url: str) -> Iterator[tuple[bool, Operation]]:
    servers = list_of(document, "servers")
    base = _base(url, text_of(servers[0], "url") if servers else "")
    for path, item in object_of(document, "paths").items():
        shared = list_of(item, "parameters")
        for method in get_args(Method):
            operation = object_of(item, method.lower())
            name = text_of(operation, "operationId")
            if not name or operation.get("deprecated") is True:
                continue
            try:
                address = f"{base}{path}"
                origin = str(URL(address).origin())
            except ValueError:
                continue
            yield (
                "x-kind" in operation,
                _read_operation(document, operation, shared, method, address, origin),
            )


def _read_operation(
    document: Mapping[str, Any],
    operation: Mapping[str, Any],
    shared: list[Any],
    method: Any,
    address: str,
    origin: str,
) -> Operation:
    properties: dict[str, Any] = {}
    required: list[str] = []
    places: dict[str, Place] = {}
    for one in (*shared, *list_of(operation, "parameters")):
        parameter = _resolve(document, one)
        name, place = text_of(parameter, "name"), text_of(parameter, "in")
        if not name or place not in get_args(Place) or name.lower() in OWN_HEADERS:
            continue
        if name.lower() == "idempotency-key":
            continue
        properties[name] = _resolve(document, object_of(parameter, "schema"))
        places[name] = place  # type: ignore[assignment]
        if parameter.get("required") is True:
            required.append(name)
    content = object_of(_resolve(document, object_of(operation, "requestBody")), "content")
    body = _resolve(document, object_of(object_of(content, "application/json"), "schema"))
    for name, schema in object_of(body, "properties").items():
        properties[name] = _resolve(document, schema)
        places[name] = "body"
    required += [name for name in list_of(body, "required") if isinstance(name, str)]
    told = "\n\n".join(
        filter(None, (text_of(operation, "summary"), text_of(operation, "description")))
    )
    safety = read_safety(operation.get("x-safety"), method) or BY_METHOD[method]
    return Operation(
        SiteAction(
            name=text_of(operation, "operationId"),
            description=clean(told),
            origin=origin,
            input_schema={"type": "object", "properties": properties, "required": required},
            safety=safety,
            has_cost="_confirm" in places or "_payment" in places,
        ),
        method,
        address,
        places,
    )


def _resolve(document: Mapping[str, Any], value: Any) -> Mapping[str, Any]:
    """Follow references within the document; empty for one that leads elsewhere or nowhere."""
    for _ in range(MAX_REFERENCES):
        reference = text_of(value, "$ref")
        if not reference:
            return value if isinstance(value, Mapping) else {}
        if not reference.startswith("#/"):
            return {}
        value = document
        for step in reference[2:].split("/"):
            value = object_of(value, step.replace("~1", "/").replace("~0", "~"))
    return {}


def _base(url: str, server: str) -> str:
    """Return the address below which the paths are."""
    try:
        return str(URL(url).join(URL(server or "/"))).rstrip("/")
    except ValueError:
        return str(URL(url).origin())
