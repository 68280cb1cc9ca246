"""Assistants that use visited sites: ``aitp-desk visit --mcp`` over pipes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aitp_desk.cli.commands.agents.visit import CREDENTIAL
from tests.support.clients.mcp import Mode, words

if TYPE_CHECKING:
    import mcp
    from mcp_types import CallToolResult


@asynccontextmanager
async def assistant(
    url: str, key: str, mode: Mode, *, budget: Decimal, **more: Any
) -> AsyncIterator[mcp.Client]:
    """A client that has begun the command itself, for one site."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aitp_desk", "visit", "--mcp", url, "--budget", f"{budget}USD"],
        env={CREDENTIAL: key},
    )
    async with mcp.Client(stdio_client(server), mode=mode, **more) as client:
        yield client


def read(result: CallToolResult) -> Any:
    """What a tool says."""
    return json.loads(words(result))
