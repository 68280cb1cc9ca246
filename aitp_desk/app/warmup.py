"""Warms caches in a thread once the server accepts requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from aitp_desk.agent.speech import all_speech
from aitp_desk.agent.speech.person_request import read_languages
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.web.pages.blocks.article import markdown_parser
from aitp_desk.web.widget.assets import read_component


@asynccontextmanager
async def warm_caches(
    site_agents: Sequence[SiteAgentContext], after: asyncio.Event
) -> AsyncIterator[None]:
    """Warm caches in the background; at the end, wait for it.

    A request that needs something not yet cached loads it itself.

    Parameters:
        site_agents: the contexts of all site agents.
        after: set once requests are accepted.
    """

    async def read() -> None:
        await after.wait()
        await asyncio.to_thread(_read, site_agents)

    reading = asyncio.create_task(read())
    try:
        yield
    finally:
        if not after.is_set():
            reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


def _read(site_agents: Sequence[SiteAgentContext]) -> None:
    for site_agent in site_agents:
        site_agent.knowledge.editions.prepare()
    all_speech()
    if any(site_agent.config.tickets.people != "off" for site_agent in site_agents):
        read_languages()
    markdown_parser()
    if any(site_agent.config.widget.origins for site_agent in site_agents):
        read_component()
