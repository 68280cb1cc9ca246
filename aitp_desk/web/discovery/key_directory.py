"""Serves the key that verifies the desk's requests to partners (Web Bot Auth)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, RouteNotFound
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route
from aitp_desk.visitor.proof.signatures import DIRECTORY_PATH

MEDIA_TYPE = "application/http-message-signatures-directory+json"
_CACHED = ("Cache-Control", "public, max-age=300")


def make_key_directory_routes(
    directory: Mapping[str, Any] | None,
    render_error: Callable[[DeskError, Mapping[str, str]], Reply],
) -> tuple[ProtocolRoutes, ...]:
    """Return the route of the key directory.

    Parameters:
        directory: the keys; None if the desk signs no requests.
    """

    async def get_directory(_desk: Desk, _call: Call) -> Reply:
        if directory is None:
            raise RouteNotFound("This site signs no requests.")
        return Reply(200, msgspec.json.encode(directory), MEDIA_TYPE, (_CACHED,))

    route = Route("GET", DIRECTORY_PATH, get_directory, "static", gives=(MEDIA_TYPE,), is_open=True)
    return (ProtocolRoutes("key directory", (route,), owns=(), render_error=render_error),)
