"""The addresses at which the schemas of capabilities stand: one for each version of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import msgspec

from aitp_desk.desk.capabilities.enabled import Capabilities
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.reply import Call, Door, Handler, Reply, Route, has_version, version_of

SCHEMA_JSON = "application/schema+json"
KEPT_SECONDS = 3600


def make_schema_doors(
    capabilities: Capabilities, render_error: Callable[[DeskError, Mapping[str, str]], Reply]
) -> tuple[Door, ...]:
    """The door of the schemas; none where no capability is enabled.

    Every address is known when the desk starts, so that none stands in the way of an action's.
    """
    routes = tuple(
        Route(
            "GET",
            urlsplit(one.addresses[version]).path,
            _serving(msgspec.json.encode({"$id": one.addresses[version], **schema.document})),
            "static",
            gives=(SCHEMA_JSON,),
            is_open=True,
        )
        for one in capabilities.all
        for version, schema in one.schemas.items()
    )
    return (Door("schemas", routes, (), render_error),) if routes else ()


def _serving(body: bytes) -> Handler:
    tag = version_of(body)
    headers = (("ETag", tag), ("Cache-Control", f"public, max-age={KEPT_SECONDS}"))

    async def get_schema(_desk: Desk, call: Call) -> Reply:
        """``GET /capabilities/{slug}/v{version}/schema.json``."""
        if has_version(call.headers, tag):
            return Reply(304, headers=headers, content_type=SCHEMA_JSON)
        return Reply(200, body, SCHEMA_JSON, headers)

    return get_schema
