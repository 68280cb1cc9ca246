"""The list of a server's tools, fetched at the start and stored."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aitp_desk.actions.mcp.tools import Tool

if TYPE_CHECKING:
    from mcp import Client

FOLDER = "mcp"
"""The folder of stored lists, below the data folder."""
MOST_PAGES = 50
"""Maximum number of pages of a list."""


async def list_tools(client: Client) -> tuple[Tool, ...]:
    """Fetch the tools of a connected server."""
    found: list[Tool] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            hints = tool.annotations
            found.append(
                Tool(
                    tool.name,
                    tool.title,
                    tool.description,
                    tool.input_schema,
                    tool.output_schema,
                    None if hints is None else hints.read_only_hint,
                    None if hints is None else hints.destructive_hint,
                    None if hints is None else hints.idempotent_hint,
                )
            )
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(found)


def save_tools(data: Path, name: str, tools: tuple[Tool, ...]) -> None:
    """Store a list of tools; a full disk is not an error."""
    file = data / FOLDER / f"{name}.json"
    new = file.with_suffix(".new")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(tools))
        os.replace(new, file)  # noqa: PTH105 -- replaced atomically


def load_tools(data: Path, name: str) -> tuple[Tool, ...] | None:
    """Return the list that was stored last; None for none."""
    try:
        raw = (data / FOLDER / f"{name}.json").read_bytes()
        return msgspec.json.decode(raw, type=tuple[Tool, ...])
    except (OSError, msgspec.DecodeError):
        return None
