"""Structured messages on a platform: its own buttons and forms, which come back structured."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from tests.journeys.transports.test_contract import has, shown
from tests.support.clients.operator import Operator, operating
from tests.support.plugins.decisions import SIZE
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

FORM = {
    "id": "address",
    "title": "Where to?",
    "description": "For the parcel.",
    "form": {
        "fields": [
            {"id": "street", "label": "Street", "required": True},
            {"id": "gift", "label": "Gift wrap"},
        ]
    },
}


class Counter(msgspec.Struct):
    """A desk on whose platform Ada has asked something, and the operator who has her thread."""

    desk: CarriedDesk
    anna: Operator
    thread: str

    async def ask(self, capability: str, **message: Any) -> None:
        body = {"capability": capability, "message": message}
        await self.anna.post(f"threads/{self.thread}/messages", **body)

    def answers(self) -> list[dict[str, Any]]:
        """The structured messages of visitors on the thread."""
        rows = self.desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor'")
        parts = [part for (content,) in rows for part in json.loads(content)]
        return [json.loads(part) for part in parts if part.startswith("{")]


@pytest.fixture
def platform() -> str:
    """By its name; tests that try several replace it."""
    return "pigeon"


on_each = pytest.mark.parametrize("platform", ["pigeon", "slack", "slack (socket)"])


@pytest_asyncio.fixture
async def counter(tmp_path: Path, platform: str) -> AsyncIterator[Counter]:
    settings = ("capabilities.requests={}", "capabilities.data={}", "console.enabled=true")
    async with (
        carrying(tmp_path, platform, *settings) as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        await desk.platform.write("ada", "I need a tent.")
        await shown(desk, "ada", len)
        ((thread,),) = desk.talker.rows("SELECT id FROM threads")
        await anna.post(f"threads/{thread}/take")
        yield Counter(desk, anna, thread)


@on_each
async def test_a_decision_is_buttons_and_a_press_is_its_answer(counter: Counter) -> None:
    await counter.ask("requests", request_decision=SIZE)
    found = await shown(counter.desk, "ada", has("Size?"))
    assert found[-1].buttons == ("S", "m")
    await counter.desk.platform.press("ada", found[-1].ref, "S")
    await counter.desk.platform.write("ada", "Thanks.")
    await until_said(counter, "Thanks.")
    (answer,) = counter.answers()
    assert answer["decision"]["options"] == [{"id": "s", "name": "S"}]


async def test_a_decision_is_made_once(counter: Counter) -> None:
    await counter.ask("requests", request_decision=SIZE)
    found = await shown(counter.desk, "ada", has("Size?"))
    for label in ("S", "m"):
        await counter.desk.platform.press("ada", found[-1].ref, label)
    await counter.desk.platform.write("ada", "Thanks.")
    await until_said(counter, "Thanks.")
    assert len(counter.answers()) == 1
    assert isinstance(counter.desk.platform, PigeonPlatform)
    *_, notice = counter.desk.platform.notices.values()
    assert "no open request" in notice


@on_each
async def test_a_form_comes_back_with_its_values(counter: Counter) -> None:
    await counter.ask("data", request_data=FORM)
    found = await shown(counter.desk, "ada", has("Where to?"))
    assert found[-1].fields == ("street", "gift")
    await counter.desk.platform.submit("ada", found[-1].ref, {"street": "Elm Street 5"})
    await counter.desk.platform.write("ada", "Thanks.")
    await until_said(counter, "Thanks.")
    (answer,) = counter.answers()
    assert answer["data"]["fields"] == [
        {"id": "street", "label": "Street", "value": "Elm Street 5"}
    ]


async def until_said(counter: Counter, words: str) -> None:
    """Wait until a visitor's words are on the thread: what came before is handled then."""

    def is_said(_: object) -> bool:
        rows = counter.desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor'")
        return any(words in content for (content,) in rows)

    await shown(counter.desk, "ada", is_said)
