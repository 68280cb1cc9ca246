"""Clients of MCP servers: of a child process, and of a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aitp_desk.actions.mcp.connection import Connect
from aitp_desk.config import Mcp
from aitp_desk.egress.client import USER_AGENT

if TYPE_CHECKING:
    from mcp import Client

_READ_SECONDS = 300


def make_connector(settings: Mcp, folder: Path, environment: Mapping[str, str]) -> Connect:
    """Return the function that connects to a server.

    Parameters:
        folder: working directory of a program.
        environment: holds the variables that it receives.
    """
    if settings.url:
        token = environment.get(settings.bearer_env, "").strip()
        return partial(_over_http, settings.url, token)
    given = {name: environment[name] for name in settings.env if name in environment}
    return partial(_over_pipes, settings.command, given, folder)


@asynccontextmanager
async def _over_http(url: str, token: str) -> AsyncIterator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"User-Agent": USER_AGENT} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(30, read=_READ_SECONDS),
            trust_env=False,
        ) as http,
        Client(streamable_http_client(url, http_client=http), cache=None) as client,
    ):
        yield client


@asynccontextmanager
async def _over_pipes(
    command: tuple[str, ...], environment: Mapping[str, str], folder: Path
) -> AsyncIterator[Client]:
    from mcp import Client, StdioServerParameters

    program, *arguments = command
    parameters = StdioServerParameters(
        command=program, args=arguments, env=dict(environment), cwd=folder
    )
    async with Client(parameters, cache=None) as client:
        yield client
