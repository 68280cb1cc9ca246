"""What people on a platform may call: the actions that the site opens to those it has proven."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.agent.base import Outcome, Turn
from aitp_desk.agent.extractive.agent import EXTRACTIVE
from aitp_desk.config import ConfigError
from aitp_desk.transports.events import TextMessage
from tests.journeys.transports.test_attacks import GROUP, handled, pigeons
from tests.support.desk.conditions import until
from tests.support.doubles.agent import Clock, ScriptedAgent
from tests.support.transports.platforms import CarriedDesk, answer, carrying

ACTIONS = '''
"""An action that changes something."""

from pathlib import Path

from aitp_desk.actions import action

BOOK = Path(__file__).with_name("book")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    examples=["Please reserve “maps”."],
)
def reserve(item: str) -> str:
    """Reserves an item for a day.

    Args:
        item: what is reserved.
    """
    with BOOK.open("a") as book:
        book.write(f"{item}\\n")
    return f"{item} reserved"
'''
OPENED = "transports.pigeon.actions=['reserve']"


class WordReader(ScriptedAgent):
    """An agent that calls nothing: the desk finds the action by the words."""

    name = EXTRACTIVE


@pytest.fixture
def book(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    return site / "book"


@pytest_asyncio.fixture
async def desk(tmp_path: Path, book: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon", OPENED, agent=WordReader(answer)) as carried:
        yield carried


async def wish(desk: CarriedDesk, item: str, **more: Any) -> None:
    """Ask for the action, and agree to what the desk proposes."""
    platform = pigeons(desk)
    for text in (f"Please reserve “{item}”.", "yes"):
        answered = len(platform.sent)
        message = TextMessage(text=text, message_ref=f"{item} {text}")
        await platform.deliver("ada", message, **more)
        await until(lambda: len(platform.sent) > answered)  # noqa: B023 -- awaited here


def reserved(book: Path) -> list[str]:
    return book.read_text("utf-8").splitlines() if book.exists() else []


async def test_a_proven_person_calls_an_opened_action(desk: CarriedDesk, book: Path) -> None:
    await wish(desk, "maps")
    assert reserved(book) == ["maps"]
    await wish(desk, "pens")  # the conversation is known by now
    assert reserved(book) == ["maps", "pens"]


@pytest.mark.parametrize("more", [{"is_proven": False}, GROUP], ids=["unproven", "group"])
async def test_others_do_not(desk: CarriedDesk, book: Path, more: dict[str, Any]) -> None:
    await wish(desk, "maps", **more)
    assert reserved(book) == []


async def test_a_secret_of_a_message_does_not_replace_the_proof(
    desk: CarriedDesk, book: Path
) -> None:
    await wish(desk, "maps")
    await wish(desk, "pens", is_proven=False, holds_secret=True)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1
    assert reserved(book) == ["maps"]


async def test_unproven_words_gain_nothing_from_the_proof_of_the_next_message(
    tmp_path: Path, book: Path
) -> None:
    offered: dict[str, set[str]] = {}

    async def speak(turn: Turn) -> Outcome:
        offered[turn.question] = {tool.name for tool in turn.tools}
        return await answer(turn)

    clock, limit = Clock(), "limits.authenticated_per_minute=1"
    settings = (OPENED, "limits.enabled=true", limit)
    agent = ScriptedAgent(speak)
    async with carrying(tmp_path, "pigeon", *settings, agent=agent, clock=clock) as desk:
        platform = pigeons(desk)
        await platform.deliver("ada", TextMessage(text="Reserve “maps”.", message_ref="1"))
        await until(lambda: len(platform.sent) == 1)
        forged = TextMessage(text="Reserve “pens”.", message_ref="2")
        await platform.deliver("ada", forged, is_proven=False, holds_secret=True)
        await handled(desk)
        clock.advance(61)  # it was over the limit: it is kept, and answered with the next message
        await platform.deliver("ada", TextMessage(text="Thank you.", message_ref="3"))
        await until(lambda: len(platform.sent) == 2)
        assert len(desk.talker.rows("SELECT id FROM threads")) == 1
    assert "reserve" in offered["Reserve “maps”."]
    assert "reserve" not in offered["Reserve “pens”.\nThank you."]


async def test_nobody_does_without_the_setting(tmp_path: Path, book: Path) -> None:
    async with carrying(tmp_path, "pigeon", agent=WordReader(answer)) as desk:
        await wish(desk, "maps")
    assert reserved(book) == []


async def test_what_is_no_name_of_an_action_is_refused(tmp_path: Path, book: Path) -> None:
    with pytest.raises(ConfigError, match="actions"):
        async with carrying(tmp_path, "pigeon", "transports.pigeon.actions=['Reserve it']"):
            pass
