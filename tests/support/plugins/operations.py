"""Desks at which operations are enabled, by the entry point that the package has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import Any

from aitp_desk.agent.base import Agent
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.packages import installed

POINTS = {"operations": "aitp_operations:Operations"}
SLUG = "aitp.dev/operations"
PUBLISHED = "https://aitp.dev/v1/operations.schema.json"
EXAMPLES: tuple[dict[str, Any], ...] = tuple(
    {"$schema": PUBLISHED, "healthcheck": asked}
    for asked in ({}, {"type": "simple"}, {"type": "full"})
)
"""The messages of AITP-04's draft."""


@asynccontextmanager
async def watching(
    folder: Path,
    *settings: str,
    clock: Callable[[], float] = time,
    agent: Agent | None = None,
) -> AsyncIterator[Talker]:
    """A desk with operations, and a caller without a credential.

    Parameters:
        folder: an empty one.
        settings: as ``--set`` takes them.
    """
    package = folder / "package"
    package.mkdir(parents=True)
    with installed(package, {}, POINTS):
        async with talking(
            folder,
            "capabilities.operations={}",
            *settings,
            clock=clock,
            agent=agent or ScriptedAgent(),
        ) as talker:
            yield talker
