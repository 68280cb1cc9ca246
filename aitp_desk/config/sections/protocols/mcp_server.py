"""Settings of the MCP server."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the desk is an MCP server, at /mcp."""

    serve: Annotated[
        Literal["auto", "always", "never"],
        Meta(description="Whether /mcp is served: never, or always; auto is the same as always."),
    ] = "auto"
