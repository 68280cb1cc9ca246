"""Every platform that the contract suite of transports tries."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import msgspec

from aitp_desk.agent.base import Agent, Answer, Clarification, Outcome, Turn
from aitp_desk.transports.base import Transport
from aitp_desk.transports.email.transport import EmailTransport
from aitp_desk.transports.matrix.transport import MatrixTransport
from aitp_desk.transports.slack.transport import SlackTransport
from aitp_desk.transports.telegram.transport import TelegramTransport
from aitp_desk.transports.whatsapp.transport import WhatsAppTransport
from tests.support.clients.threads import Talker
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent
from tests.support.transports.email_platform import email_platform
from tests.support.transports.matrix_platform import matrix_platform
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.pigeon_platform import pigeon_platform
from tests.support.transports.platform import Platform
from tests.support.transports.slack_platform import slack_platform, socket_platform
from tests.support.transports.telegram_platform import polling_platform, telegram_platform
from tests.support.transports.whatsapp_platform import whatsapp_platform

PLATFORMS: Mapping[str, Callable[[], AbstractAsyncContextManager[Platform]]] = {
    "email": email_platform,
    "pigeon": pigeon_platform,
    "slack": slack_platform,
    "slack (socket)": socket_platform,
    "telegram": telegram_platform,
    "telegram (polling)": polling_platform,
    "whatsapp": whatsapp_platform,
}
"""By the names of their transports: entered, each gives a platform without people."""
SERVERS: Mapping[str, Callable[[], AbstractAsyncContextManager[Platform]]] = {
    "matrix": matrix_platform,
    "matrix (appservice)": partial(matrix_platform, "appservice"),
}
"""Those that are real servers, tried by tests that are marked so."""
BESIDE: Mapping[str, type[Transport]] = {
    "email": EmailTransport,
    "matrix": MatrixTransport,
    "pigeon": Pigeon,
    "slack": SlackTransport,
    "telegram": TelegramTransport,
    "whatsapp": WhatsAppTransport,
}
Prepare = Callable[[Mapping[str, Platform]], Awaitable[Sequence[str]]]
LOOPBACK = "egress.allow_loopback=true"


class CarriedDesk(msgspec.Struct, frozen=True):
    """A desk, and a platform on which people write to it."""

    talker: Talker
    platform: Platform


@asynccontextmanager
async def carrying(
    folder: Path,
    name: str,
    *settings: str,
    agent: Agent | None = None,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[CarriedDesk]:
    """A desk with one transport, whose people are on its platform.

    Parameters:
        as of :func:`carrying_all`.
    """
    async with carrying_all(folder, (name,), *settings, agent=agent, clock=clock) as (
        talker,
        platforms,
    ):
        yield CarriedDesk(talker, platforms[name])


@asynccontextmanager
async def carrying_all(
    folder: Path,
    names: Sequence[str],
    *settings: str,
    agent: Agent | None = None,
    clock: Callable[[], float] = time.time,
    prepare: Prepare | None = None,
) -> AsyncIterator[tuple[Talker, Mapping[str, Platform]]]:
    """A desk with several transports, and their platforms by name.

    Parameters:
        folder: for the site and the data.
        settings: as ``--set`` takes them.
        agent: by default one that repeats what it is asked.
        clock: Unix seconds.
        prepare: what is done on the platforms first; it returns further settings.
    """
    async with AsyncExitStack() as stack:
        platforms = {
            name: await stack.enter_async_context({**PLATFORMS, **SERVERS}[name]())
            for name in names
        }
        site = folder / "site"
        if not site.exists():
            site.mkdir(parents=True)
            (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
        sections = "\n".join(platform.settings for platform in platforms.values())
        (site / "desk.toml").write_text(sections, encoding="utf-8")
        data = folder / "data"
        further = () if prepare is None else await prepare(platforms)
        desk = await stack.enter_async_context(
            serving(
                data,
                LOOPBACK,
                *settings,
                *further,
                folder=site,
                agent=agent or ScriptedAgent(answer),
                clock=clock,
                transports=BESIDE,
                environment={
                    name: value
                    for platform in platforms.values()
                    for name, value in platform.environment.items()
                },
            )
        )
        http = await stack.enter_async_context(aiohttp.ClientSession(desk.url))
        for platform in platforms.values():
            platform.desk = desk.url
        yield Talker(desk, data, http), platforms


async def answer(turn: Turn) -> Outcome:
    """Answer with the question; a question that asks for colours offers two."""
    if "colours" in turn.question:
        return Clarification("Which one?", options=("Red", "Blue"))
    if "long" in turn.question:
        return Answer("\n\n".join(f"Paragraph {n}. " + "word " * 40 for n in range(12)))
    return Answer(f"You asked: {turn.question}")
