"""The MCP servers of a site, and the tools that it offers of them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from aitp_desk.actions.base import OfferedAction
from aitp_desk.actions.mcp.catalogue import list_tools, load_tools, save_tools
from aitp_desk.actions.mcp.clients import make_connector
from aitp_desk.actions.mcp.connection import McpConnection
from aitp_desk.actions.mcp.tools import Tool, build_action
from aitp_desk.actions.schemas.normal_form import SchemaUnusable
from aitp_desk.actions.terms import ALL, find_name_faults
from aitp_desk.config import Config, Mcp, Problem, ToolTerms
from aitp_desk.model.errors import Unavailable
from aitp_desk.model.web_address import web_address

LIST_SECONDS = 10
"""How long the start of the desk waits for a server's list of tools, in seconds."""


def check_servers(config: Config, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the faults in the settings of servers, without connecting to them."""
    for number, one in enumerate(config.mcp, 1):
        place = f"mcp, {one.name}" if one.name else "mcp"
        if not one.name:
            yield Problem(place, f"table {number} of [[mcp]] has no name.")
        elif any(one.name == other.name for other in config.mcp[: number - 1]):
            yield Problem(place, "has a name that is already in use.")
        for message in _wrong(one, config.folder, environment):
            yield Problem(place, message)


def _wrong(one: Mcp, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    if bool(one.command) is bool(one.url):
        yield "must have either a command or a url."
    if one.command and not _is_program(one.command[0], folder):
        yield f"command begins with {one.command[0]!r}, which is not a program on this machine."
    if one.url:
        address = web_address(one.url)
        if address is None or address.username is not None:
            yield "url must be a web address, such as http://127.0.0.1:9000/mcp."
    for key, names in (
        ("bearer_env", [one.bearer_env] if one.bearer_env else []),
        ("env", one.env),
    ):
        for name in names:
            if not environment.get(name, "").strip():
                yield f"{key} names the environment variable {name}, which is not set."
    named = [terms.tool for terms in one.terms]
    yield from find_name_faults(named, one.tools, "tool")


def _is_program(word: str, folder: Path) -> bool:
    """Return whether a program exists: a name is searched, a path is relative to the folder."""
    return shutil.which(str(folder / word) if "/" in word else word) is not None


class ToolServer:
    """An MCP server while its connection is open.

    Attributes:
        notes: notes for the owner, in sentences.
    """

    def __init__(self, settings: Mcp, config: Config, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._data = config.data
        self._connection = McpConnection(
            settings.name, make_connector(settings, config.folder, environment)
        )
        self._tools: tuple[Tool, ...] | None = None
        self._told: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the owner, in sentences."""
        down = [
            f"The MCP server {self._settings.name} cannot be reached; its tools are unavailable."
        ]
        return (*(down if self._connection.is_down else ()), *self._told)

    def run(self) -> AbstractAsyncContextManager[None]:
        """Keep the connection open within the context."""
        return self._connection.run()

    async def load_tools(self) -> None:
        """Fetch the list of tools, or load the stored one."""
        from mcp import MCPError

        try:
            async with asyncio.timeout(LIST_SECONDS):
                tools = await list_tools(await self._connection.client())
        except (TimeoutError, Unavailable, MCPError):
            self._tools = load_tools(self._data, self._settings.name)
        else:
            self._tools = tools
            save_tools(self._data, self._settings.name, tools)

    def list_actions(self, is_taken: Callable[[str], bool]) -> Iterator[OfferedAction]:
        """Yield the offered actions after :meth:`load_tools`, and note what is not offered.

        Parameters:
            is_taken: returns whether another action has this name.
        """
        if self._tools is None:
            self._tell("has not listed its tools yet; restart the desk once it responds")
            return
        settings = self._settings
        tools = {tool.name: tool for tool in self._tools}
        terms = {one.tool: one for one in settings.terms}
        for name in tools if settings.tools == (ALL,) else dict.fromkeys(settings.tools):
            if name not in tools:
                self._tell(f"has no tool {name}")
                continue
            own = terms.get(name, ToolTerms())
            try:
                offered = build_action(tools[name], own, self._connection, prefix=settings.prefix)
            except SchemaUnusable as error:
                self._tell(f"has the tool {name}, which is not offered: it {error.message}")
                continue
            if is_taken(offered.action.name):
                self._tell(f"has the tool {name}, whose name is already in use; write a prefix")
            else:
                yield offered

    def _tell(self, message: str) -> None:
        self._told.append(f"The MCP server {self._settings.name} {message}.")
