"""Serves the schemas and documents of capabilities, one address each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.protocol import (
    JSON,
    Call,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
)

SCHEMA_JSON = "application/schema+json"
KEPT_SECONDS = 3600


def make_schema_routes(
    capabilities: PluginRegistry, render_error: Callable[[DeskError, Mapping[str, str]], Reply]
) -> tuple[ProtocolRoutes, ...]:
    """Return the routes of schemas and documents; none without enabled capabilities.

    Every address is known when the desk starts, so that none hides that of an action.
    """
    schemas = (
        _route(
            urlsplit(one.addresses[version]).path,
            msgspec.json.encode({"$id": one.addresses[version], **schema.document}),
            SCHEMA_JSON,
        )
        for one in capabilities.all
        for version, schema in one.schemas.items()
    )
    documents = (_route(path, body, JSON) for path, body in capabilities.documents.items())
    routes = (*schemas, *documents)
    return (ProtocolRoutes("schemas", routes, (), render_error),) if routes else ()


def _route(path: str, body: bytes, media_type: str) -> Route:
    return Route(
        "GET", path, _serving(body, media_type), "static", gives=(media_type,), is_open=True
    )


def _serving(body: bytes, media_type: str) -> Handler:
    tag = make_etag(body)
    headers = (("ETag", tag), ("Cache-Control", f"public, max-age={KEPT_SECONDS}"))

    async def get_document(_desk: Desk, call: Call) -> Reply:
        """``GET /capabilities/{slug}/…``: a schema or a document."""
        if matches_etag(call.headers, tag):
            return Reply(304, headers=headers, content_type=media_type)
        return Reply(200, body, media_type, headers)

    return get_document
