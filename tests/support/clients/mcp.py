"""Programs that use a desk's tools over MCP, by the official client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import httpx2

from tests.support.clients.tls import certificates

if TYPE_CHECKING:
    import mcp
    from mcp_types import CallToolResult

Mode = Literal["legacy", "auto"]
MODES: tuple[Mode, ...] = ("legacy", "auto")
"""The eras: those of the handshake, and what has all in each request."""


@asynccontextmanager
async def tool_user(
    url: str,
    mode: Mode,
    key: str | None = None,
    *,
    path: str = "/mcp",
    auth: httpx2.Auth | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    **more: Any,
) -> AsyncIterator[mcp.Client]:
    """A client of a desk's tools.

    Parameters:
        key: sent with every request.
        more: how the client itself is made.
    """
    import mcp
    from mcp.client.streamable_http import streamable_http_client

    known = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(
        headers={**headers, **known}, auth=auth, timeout=30, verify=certificates()
    ) as http:
        transport = streamable_http_client(url + path, http_client=http)
        async with mcp.Client(transport, mode=mode, **more) as client:
            yield client


def words(result: CallToolResult) -> str:
    """What a result says first."""
    text = result.content[0]
    assert text.type == "text"
    return text.text


def failure(result: CallToolResult) -> dict[str, Any]:
    """What a refusal says to programs."""
    assert result.is_error, result
    error: dict[str, Any] = result.structured_content["error"]
    return error
