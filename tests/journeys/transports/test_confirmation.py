"""A person on a platform confirms what costs: by a button, which is of its own question."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aitp_desk.agent.extractive.agent import EXTRACTIVE
from aitp_desk.transports.events import Choice, Event, Incoming, TextMessage
from aitp_desk.transports.messages import Outgoing
from tests.journeys.transports.test_attacks import handled, pigeons
from tests.support.desk.conditions import until
from tests.support.doubles.agent import ScriptedAgent
from tests.support.transports.platforms import CarriedDesk, answer, carrying
from tests.support.transports.reservations import ACTIONS, RESERVE, ReservingAgent, item_of

ITEMS = ("maps", "books", "pens")
CALLS = "SELECT arguments, state FROM calls ORDER BY created_at, id"


class Shop(CarriedDesk, frozen=True):
    """A desk that keeps items, and the book of those that it has kept."""

    book: Path


class WordReader(ScriptedAgent):
    """An agent that calls nothing: the desk finds the action by the words."""

    name = EXTRACTIVE


@pytest_asyncio.fixture(params=[ReservingAgent, WordReader])
async def desk(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    async with carrying(tmp_path, "pigeon", agent=request.param(answer)) as carried:
        yield Shop(carried.talker, carried.platform, site / "book")


async def wish(desk: Shop, item: str) -> Outgoing:
    """Wish something, and return the question."""
    platform = pigeons(desk)
    await platform.write("ada", f"{RESERVE} “{item}”")

    def asked() -> list[Outgoing]:
        return [one for one in platform.sent if item in item_of(one.text)]

    found: list[Outgoing] = await until(asked)
    return found[0]


async def press(desk: Shop, question: Outgoing, label: str) -> None:
    await pigeons(desk).press("ada", f"sent-{pigeons(desk).sent.index(question)}", label)


def states(desk: Shop) -> dict[str, str]:
    rows = desk.talker.rows(CALLS)
    return {named(json.loads(arguments)["item"]): state for arguments, state in rows}


async def test_a_button_confirms_what_it_is_below(desk: Shop) -> None:
    maps, books = [await wish(desk, item) for item in ("maps", "books")]
    await press(desk, maps, "yes")
    await until(lambda: states(desk)["maps"] == "succeeded")
    assert states(desk)["books"] == "waiting_input"
    await press(desk, books, "no")
    await until(lambda: states(desk)["books"] == "failed")
    assert booked(desk) == ["maps"]


async def test_what_is_written_answers_what_was_asked_last(desk: Shop) -> None:
    await wish(desk, "maps")
    await wish(desk, "books")
    await pigeons(desk).write("ada", "yes")
    await until(lambda: states(desk)["books"] == "succeeded")
    assert states(desk)["maps"] == "waiting_input"


async def test_buttons_that_are_pressed_at_once_each_count(desk: Shop) -> None:
    platform = pigeons(desk)
    questions = [await wish(desk, item) for item in ITEMS]
    tokens = [question.buttons[0].token for question in questions]
    events: list[Event] = [Choice(token=token) for token in tokens]
    events.insert(2, TextMessage(text="And do you sell ink?", message_ref="ink"))
    pressed = tuple(
        Incoming(event_id=f"p{n}", conversation="chat-ada", sender="ada", event=event)
        for n, event in enumerate(events)
    )
    assert await platform.post(pressed) == 200
    await until(lambda: set(states(desk).values()) == {"succeeded"})
    await handled(desk)
    assert sorted(booked(desk)) == sorted(ITEMS)


def booked(desk: Shop) -> list[str]:
    """What the action has kept, each time."""
    return [named(line.split(" ", 2)[2]) for line in desk.book.read_text("utf-8").splitlines()]


def named(item: str) -> str:
    """The one of the items that a text is about."""
    (found,) = [one for one in ITEMS if one in item]
    return found
