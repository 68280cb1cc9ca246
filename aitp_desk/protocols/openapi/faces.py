"""Adds HAC's envelope to the responses of an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aitp_desk.protocols.base.protocol import JSON, REFUSED, Route
from aitp_desk.protocols.openapi.parameters import PATH_PARAMETER
from aitp_desk.protocols.openapi.parts import Item, make_content, make_plain_response, make_ref

HAC = "application/vnd.hac+json"
_SHAPES: Mapping[str, Item] = {
    "HacMetadata": {
        "type": "object",
        "properties": {
            "version": {"type": "string"},
            "description": {"type": "string"},
            "actions": {"type": "array", "items": {"type": "object"}},
            "related": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["version"],
    },
    "HacDiscovery": {
        "type": "object",
        "properties": {
            "_hac": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "resources": {"type": "array", "items": {"type": "object"}},
                },
                "required": ["name", "resources"],
            }
        },
        "required": ["_hac"],
    },
    "HacError": {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "retryable": {"type": "boolean"},
                    "retry_after": {"type": "integer"},
                    "recovery": {"type": "object"},
                },
                "required": ["code", "message"],
            }
        },
        "required": ["error"],
    },
}
"""HAC 1.0, sections 3, 6 and 7."""


def add_faces(paths: Mapping[str, Item], routes: Iterable[Route], calls: str) -> Mapping[str, Item]:
    """Describe the HAC representation of operations, and the 406 of those without one.

    Parameters:
        paths: the operations; those of routes with a second handler get it.
        calls: the prefix of the addresses of single actions, which have the representation too.

    Returns:
        The schemas that it needs; none where no operation has the representation.
    """
    faced = {(_plain(route.path), route.method.lower()) for route in routes if route.second}
    if not faced:
        return {}
    for path, item in paths.items():
        for method, operation in item.items():
            told = operation["responses"]
            if (path, method) in faced or path.startswith(calls):
                told = {status: _with_face(int(status), one) for status, one in told.items()}
            refused = {
                **make_plain_response(406),
                "content": make_content(HAC, make_ref("HacError")),
            }
            operation["responses"] = dict(sorted({"406": refused, **told}.items()))
    return _SHAPES


def _plain(path: str) -> str:
    return PATH_PARAMETER.sub(r"{\1}", path)


def _with_face(status: int, response: Item) -> Item:
    given = response.get("content", {})
    if HAC in given:
        return response
    if status >= REFUSED:
        return {**response, "content": {**given, **make_content(HAC, make_ref("HacError"))}}
    if not given:
        return response
    shape = (
        make_ref("HacDiscovery") if JSON not in given else _around(given[JSON].get("schema", {}))
    )
    return {**response, "content": {**given, **make_content(HAC, shape)}}


def _around(schema: Item) -> Item:
    return {
        "type": "object",
        "properties": {"data": schema, "_hac": make_ref("HacMetadata")},
        "required": ["data", "_hac"],
    }
