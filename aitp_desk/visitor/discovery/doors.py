"""Finds the doors of a site and picks the richest (AHP 0.1, section 3.5; agents.txt 1.0, 9.2)."""

from __future__ import annotations

from collections.abc import Sequence

from yarl import URL

from aitp_desk.visitor.base import Door
from aitp_desk.visitor.fetcher import Fetcher

ORDER = ("ahp", "aitp", "mcp", "a2a", "nlweb", "hac", "agents_txt", "openapi", "llms_txt")
"""The kinds of doors, the richest first."""


async def find_doors(fetcher: Fetcher, url: str) -> Sequence[Door]:
    """Return the doors of a site, the richest first."""
    address = str(URL(url).join(URL("/.well-known/agent.json")))
    found = await fetcher.send(address)
    if found.status != 200:
        return ()
    reason = "It has an AHP manifest."
    return (Door("ahp", address, address, reason, answers=True),)
