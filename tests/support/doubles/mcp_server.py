"""An MCP server of a shop, for tests: over pipes where it is begun as a program, else over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import uvicorn
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from mcp.server import MCPServer


class Stock(BaseModel):
    """What is there."""

    sku: str
    count: int


def make_server(called: list[str] | None = None) -> MCPServer:
    """The server.

    Parameters:
        called: receives the name of each call.
    """
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("shop")
    done = [] if called is None else called

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def get_stock(sku: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]+$")]) -> Stock:
        """How many of an item there are."""
        done.append(f"stock of {sku}")
        return Stock(sku=sku, count=3)

    @server.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True))
    def greet(name: str) -> str:
        """Greets a person."""
        return f"Hello, {name}, from {os.environ.get('SHOP_NAME', 'nobody')}."

    @server.tool(structured_output=False)
    def place_order(sku: str) -> str:
        """Orders an item."""
        done.append(f"order of {sku}")
        if sku == "SOLD-1":
            raise ToolError("It is sold out.")
        return f"Ordered {sku}."

    @server.tool(structured_output=False)
    def leave() -> str:
        """Ends the server in the middle of a call."""
        os._exit(3)

    @server.tool(structured_output=False)
    def process() -> str:
        """Says which process it is."""
        return str(os.getpid())

    return server


class RunningApp(uvicorn.Server):
    """A server that says when it can be asked."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving_tools(
    called: list[str] | None = None, port: int = 0, *, server: MCPServer | None = None
) -> AsyncIterator[str]:
    """The address of the shop's server, or of another, on the loopback."""
    server = server or make_server(called)
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    running = RunningApp(
        uvicorn.Config(app, "127.0.0.1", port, log_config=None, timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(running.serve())
    try:
        async with asyncio.timeout(60):
            await running.ready.wait()
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task


if __name__ == "__main__":
    make_server().run("stdio")
