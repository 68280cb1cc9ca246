"""Every platform that the contract suite of transports tries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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
LOOPBACK = "egress.allow_loopback=true"


class CarriedDesk(msgspec.Struct, frozen=True):
    """A desk, and a platform on which people write to it."""

    talker: Talker
    platform: Platform


@asynccontextmanager
async def carrying(
    folder: Path, name: str, *settings: str, agent: Agent | None = None
) -> AsyncIterator[CarriedDesk]:
    """A desk with one transport, whose people are on its platform.

    Parameters:
        folder: for the site and the data.
        name: of the transport.
        settings: as ``--set`` takes them.
        agent: by default one that repeats what it is asked.
    """
    async with {**PLATFORMS, **SERVERS}[name]() as platform:
        site = folder / "site"
        if not site.exists():
            site.mkdir(parents=True)
            (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
        (site / "desk.toml").write_text(platform.settings, encoding="utf-8")
        data = folder / "data"
        async with (
            serving(
                data,
                LOOPBACK,
                *settings,
                folder=site,
                agent=agent or ScriptedAgent(answer),
                transports=BESIDE,
                environment=platform.environment,
            ) as desk,
            aiohttp.ClientSession(desk.url) as http,
        ):
            platform.desk = desk.url
            yield CarriedDesk(Talker(desk, data, http), platform)


async def answer(turn: Turn) -> Outcome:
    """Answer with the question; a question that asks for colours offers two."""
    if "colours" in turn.question:
        return Clarification("Which one?", options=("Red", "Blue"))
    if "long" in turn.question:
        return Answer("\n\n".join(f"Paragraph {n}. " + "word " * 40 for n in range(12)))
    return Answer(f"You asked: {turn.question}")
