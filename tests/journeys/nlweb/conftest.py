"""The camp, whose pages declare what they are about, and the demo shop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Outcome, Source, Turn
from tests.support.clients.nlweb import write_site
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import SHOP
from tests.support.doubles.agent import ScriptedAgent


async def tell(turn: Turn) -> Outcome:
    said = [one.text for one in turn.transcript]
    return Answer(f"{said} {turn.question}", sources=(Source("Tent", "/products/tent", "direct"),))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def camp(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("camp")
    site = write_site(folder / "site")
    async with talking(folder, site=site, agent=ScriptedAgent(tell)) as talker:
        yield talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """The demo shop, with the agent that answers by extraction."""
    async with talking(tmp_path_factory.mktemp("shop"), site=SHOP) as talker:
        yield talker
