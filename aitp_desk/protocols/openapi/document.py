"""Writes an OpenAPI 3.1 document of everything that a desk serves.

Its sources are the table of routes, which has the body and the refusals of each address, and the
declarations of the actions. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus

from aitp_desk import own_version
from aitp_desk.config import Site
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.resource import ResourceType
from aitp_desk.protocols.base.protocol import (
    EVENT_STREAM,
    FORM,
    JSON,
    URLENCODED,
    ProtocolRoutes,
    Route,
)
from aitp_desk.protocols.openapi.actions import action_schemas, describe_action
from aitp_desk.protocols.openapi.faces import add_faces
from aitp_desk.protocols.openapi.operation_text import OperationText
from aitp_desk.protocols.openapi.operations import find_operation
from aitp_desk.protocols.openapi.parameters import PATH_PARAMETER, list_parameters
from aitp_desk.protocols.openapi.parts import (
    Item,
    make_content,
    make_plain_response,
    make_ref,
)
from aitp_desk.protocols.openapi.resources import describe_resource, resource_schemas
from aitp_desk.protocols.openapi.schema_components import object_schemas
from aitp_desk.protocols.openapi.wire import PROBLEM

OPENAPI = "3.1.1"
_UNNAMED = re.compile(r"[^A-Za-z0-9]+")
_ERRORS = {
    "aitp": (JSON, "Error"),
    "ahp": (JSON, "AHPError"),
    "agents.txt": (JSON, "AHPError"),
    "console": (JSON, "ConsoleError"),
    "content": (JSON, "AHPError"),
    "discovery": (JSON, "AHPError"),
    "oauth": (JSON, "OAuthError"),
    "openapi": (PROBLEM, "Problem"),
    "resources": (PROBLEM, "Problem"),
    "health": (JSON, "Error"),
    "metrics": (JSON, "Error"),
    "hooks": (JSON, "Error"),
    "schemas": (JSON, "Error"),
}
"""The error form of each protocol; the forms of others are not described."""
_LEFT_OUT = frozenset({"inspector", "resources"})
"""The panel of ``aitp-desk dev`` is for its own page; declarations say more of resources."""
_OF_RESOURCES = (400, 401, 403, 404, 421, 429, 500, 503)
_OBJECT: Item = {"type": "object"}
_UPLOAD: Item = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "contentMediaType": "application/octet-stream"},
        "purpose": {"type": "string"},
    },
    "required": ["file", "purpose"],
}


def describe(
    site: Site,
    routes: Iterable[tuple[ProtocolRoutes, Route]],
    actions: Sequence[Action],
    resources: Sequence[ResourceType],
    below: str,
) -> Item:
    """Write the document of one desk.

    Parameters:
        routes: its addresses, with their protocols.
        actions: what it can do.
        resources: the types of its resources.
        below: the base path of its addresses; empty for the site's own.
    """
    paths: dict[str, Item] = {}
    cookies: dict[str, Item] = {}
    routes = tuple(routes)
    shapes = object_schemas(protocol for protocol, _ in routes)
    page = shapes.pop("ListPage", {})
    for protocol, route in routes:
        if protocol.name.partition(" ")[0] in _LEFT_OUT:
            continue
        path = PATH_PARAMETER.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(protocol, route, below, page)
        if route.cookie:
            cookies["console"] = {"type": "apiKey", "in": "cookie", "name": route.cookie}
    refused = {str(status): _refusal("resources", status) for status in _OF_RESOURCES}
    for type_ in resources:
        paths[f"{below}{type_.template}"] = {"get": describe_resource(type_, below, refused)}
    calls = paths.get(f"{below}/capabilities/{{name}}")
    if calls is not None:
        refused = calls["post"]["responses"]
        for action in actions:
            path = f"{below}/capabilities/{action.name}"
            paths[path] = {"post": describe_action(action, below, refused)}
    for action in actions:
        shapes |= action_schemas(action)
    for type_ in resources:
        shapes |= resource_schemas(type_)
    shapes |= add_faces(paths, [route for _, route in routes], f"{below}/capabilities/")
    return {
        "openapi": OPENAPI,
        "info": {
            "title": site.name,
            "version": own_version(),
            **({"description": site.description} if site.description else {}),
        },
        "servers": [{"url": site.url}],
        "security": [{}, {"bearer": []}],
        "tags": [{"name": tag} for tag in _tags(paths)],
        "paths": paths,
        "components": {
            "schemas": shapes,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key of this desk, or an access token.",
                },
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The id and the secret of a client (RFC 6749, section 2.3.1).",
                },
                **cookies,
            },
        },
    }


def _tags(paths: Mapping[str, Item]) -> list[str]:
    found = {tag: None for item in paths.values() for one in item.values() for tag in one["tags"]}
    return list(found)


def _operation(protocol: ProtocolRoutes, route: Route, below: str, page: Item) -> Item:
    path = route.path.removeprefix(below) or "/"
    kind = protocol.name.partition(" ")[0]
    known = find_operation(kind, route.method, path)
    named = f"{route.path}index" if route.path.endswith("/") else route.path
    slug = _UNNAMED.sub("_", f"{route.method.lower()} {named}").strip("_")
    operation: Item = {
        "operationId": slug,
        "tags": [kind],
        "summary": known.summary,
        "responses": {**_answers(kind, route, known, page), **_refusals(kind, route, known)},
    }
    if parameters := list_parameters(route, known):
        operation["parameters"] = parameters
    if route.max_body:
        operation["requestBody"] = _body(route, known)
    if route.cookie:
        operation["security"] = [{"console": []}]
    elif not route.identifies:
        operation["security"] = [{}, {"basic": []}] if route.media_type == URLENCODED else [{}]
    return operation


def _body(route: Route, known: OperationText) -> Item:
    if known.takes:
        return {"content": make_content(route.media_type, make_ref(known.takes))}
    return {
        "content": make_content(route.media_type, _UPLOAD if route.media_type == FORM else _OBJECT)
    }


def _answers(kind: str, route: Route, known: OperationText, page: Item) -> dict[str, Item]:
    """Return the responses of success.

    Parameters:
        page: the schema of a list page of any objects.
    """
    given: Item = {}
    if known.gives:
        shape = _any_of(known.gives.split(" | "))
        given = make_content(JSON, _page_of(page, shape) if known.is_list else shape)
    elif not known.streams:
        given = {media: {} for media in route.gives if "*" not in media}
    if known.streams:
        given[EVENT_STREAM] = {}
    given |= {media: given.get(JSON, {}) for media in known.also}
    if known.gives_files:
        given = {"*/*": {}}
    answers: dict[str, Item] = {"200": {"description": "OK", "content": given}}
    for status in known.statuses:
        if status < HTTPStatus.BAD_REQUEST:
            answers[str(status)] = {**make_plain_response(status), "content": given}
    answers |= {str(status): make_plain_response(status) for status in known.empty}
    if 201 in known.statuses:
        del answers["200"]
    if route.method == "GET" and route.is_open:
        answers["304"] = make_plain_response(304)
    if kind == "pages":
        answers["302"] = make_plain_response(302)
    if "{path:" in route.path:
        answers |= {"206": make_plain_response(206), "416": make_plain_response(416)}
    if kind == "console" and route.method == "DELETE":
        answers["204"] = make_plain_response(204)
    return answers


def _any_of(names: Sequence[str]) -> Item:
    refs = [make_ref(name) for name in names]
    return refs[0] if len(refs) == 1 else {"anyOf": refs}


def _page_of(page: Item, shape: Item) -> Item:
    """Return the schema of a list page of objects of one kind.

    It is written in full: code generators mix up pages that share a component.
    """
    untitled = {member: value for member, value in page.items() if member != "title"}
    listed = {"type": "array", "items": shape}
    return {**untitled, "properties": {**page["properties"], "data": listed}}


def _refusals(kind: str, route: Route, known: OperationText) -> dict[str, Item]:
    """Return the refusals that follow from the route."""
    statuses = {400, 401, 403, 421, 500, 503}
    if route.counted is not None:
        statuses.add(429)
    if route.max_body:
        statuses |= {408, 409, 413, 415}
    if route.method == "DELETE":
        statuses.add(409)
    if "{" in route.path:
        statuses.add(404)
    statuses |= {status for status in known.statuses if status >= HTTPStatus.BAD_REQUEST}
    return {str(status): _refusal(kind, status) for status in sorted(statuses)}


def _refusal(kind: str, status: int) -> Item:
    known = _ERRORS.get(kind)
    if known is None:
        return make_plain_response(status)
    media, shape = known
    told = make_content(media, make_ref(shape))
    return {**make_plain_response(status), "content": told}
