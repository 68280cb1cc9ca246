"""What tools a server has: asked when the desk starts, and kept for when it cannot be reached."""

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
"""Where lists are kept, below the data folder."""
MOST_PAGES = 50
"""So many pages of a list are read."""


async def list_tools(client: Client) -> tuple[Tool, ...]:
    """The tools of a server that is connected."""
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
    """Keep a list; a data folder that takes nothing more is no reason not to serve."""
    file = data / FOLDER / f"{name}.json"
    new = file.with_suffix(".new")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(tools))
        os.replace(new, file)  # noqa: PTH105 -- what stands there is replaced at once


def load_tools(data: Path, name: str) -> tuple[Tool, ...] | None:
    """The list that was kept last; None without one."""
    try:
        raw = (data / FOLDER / f"{name}.json").read_bytes()
        return msgspec.json.decode(raw, type=tuple[Tool, ...])
    except (OSError, msgspec.DecodeError):
        return None
