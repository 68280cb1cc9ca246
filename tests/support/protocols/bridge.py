"""The MCP server of visited sites, begun as a program, and assistants that use it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.support.clients.mcp import Mode, words

if TYPE_CHECKING:
    import mcp
    from mcp_types import CallToolResult

PROGRAM = """
import asyncio, sys
from decimal import Decimal
from aitp_desk.model.money import Money
from aitp_desk.visitor import Policy
from aitp_desk.visitor.bridge import serve

budget = Money(Decimal(sys.argv[3]), "USD")
key, url = sys.argv[2], sys.argv[1]
asyncio.run(serve([url], policy=Policy(budget=budget), credentials={url: key}))
"""


@asynccontextmanager
async def assistant(
    url: str, key: str, mode: Mode, *, budget: Decimal, **more: Any
) -> AsyncIterator[mcp.Client]:
    """A client that has begun the program itself, for one site."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=["-c", PROGRAM, url, key, str(budget)]
    )
    async with mcp.Client(stdio_client(server), mode=mode, **more) as client:
        yield client


def read(result: CallToolResult) -> Any:
    """What a tool says."""
    return json.loads(words(result))
