"""Desks for tests: real ones, on a free port of the loopback, over a temporary SQLite."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Agent
from aitp_desk.app.server import NO_ENVIRONMENT, NO_TRANSPORTS, RunningServer, open_server
from aitp_desk.config import load_config
from aitp_desk.transports.base import Transport
from tests.support.desk.first_start import begin_desk, begin_index, keep_index
from tests.support.store.chosen import store_settings

SITE = Path(__file__).parents[2] / "support" / "sites" / "bookshop"
"""A small bookshop's content, for tests that need some."""
SHOP = Path(__file__).parents[3] / "examples" / "shop"
UNLIMITED = ("limits.enabled=false", "store.synchronous=normal")
"""Settings of most tests: no limits, and no wait for the disk at each commit."""


@asynccontextmanager
async def serving(
    data: Path,
    *settings: str,
    folder: Path = SITE,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
    actions: Sequence[OfferedAction] = (),
    transports: Mapping[str, type[Transport]] = NO_TRANSPORTS,
    environment: Mapping[str, str] = NO_ENVIRONMENT,
    explains: bool = False,
) -> AsyncIterator[RunningServer]:
    """A desk on a free port.

    Parameters:
        data: its data folder.
        settings: as ``--set`` takes them, after `UNLIMITED`.
        folder: the site's folder.
        clock: Unix seconds.
        agent: who answers; by default extraction.
        actions: what the agent may call for those who may.
        transports: that no package has.
        environment: with the credentials that settings name.
        explains: whether its home page shows how answers were found, as under `aitp-desk dev`.
    """
    chosen = await store_settings(data)
    config = load_config(folder, (*UNLIMITED, *chosen, *settings), port=0, data=data)
    begin_desk(config)
    begin_index(data, folder)
    async with open_server(
        config,
        clock=clock,
        agent=agent,
        actions=actions,
        transports_beside=transports,
        environment=environment,
        explains=explains,
    ) as desk:
        keep_index(data, folder)
        yield desk
