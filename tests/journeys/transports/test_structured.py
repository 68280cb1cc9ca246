"""Structured messages on a platform: its own buttons and forms, which come back structured."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.journeys.transports.test_contract import has, shown
from tests.support.clients.operator import Operator, operating
from tests.support.plugins.decisions import SIZE
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

FORM: dict[str, Any] = {
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


class Page:
    """A page of the desk in a person's browser."""

    def __init__(self, desk: CarriedDesk, url: str) -> None:
        self.desk = desk
        self.url = url
        self._html = ""

    async def load(self, status: int = 200) -> str:
        """Open it."""
        return await self._call("GET", status)

    async def submit(self, status: int = 200, **values: str) -> str:
        """Press its button."""
        return await self._call("POST", status, data=values)

    def css(self, selector: str) -> list[LexborNode]:
        """Find elements."""
        return LexborHTMLParser(self._html).css(selector)

    async def _call(self, method: str, status: int, **more: Any) -> str:
        parts = urlsplit(self.url)
        here = f"{self.desk.talker.desk.url}{parts.path}?{parts.query}"
        async with self.desk.talker.http.request(method, here, **more) as answer:
            assert answer.status == status
            self._html = await answer.text()
        return self._html


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


on_each_without_forms = pytest.mark.parametrize(
    "platform",
    [
        "email",
        "telegram",
        "whatsapp",
        pytest.param("matrix", marks=pytest.mark.servers),
        pytest.param("matrix (appservice)", marks=pytest.mark.servers),
    ],
)


@on_each_without_forms
async def test_a_form_is_a_page_where_the_platform_has_none(counter: Counter) -> None:
    await counter.ask("data", request_data=FORM)
    page = await open_page(counter)
    assert [one.attributes["name"] for one in page.css("input")] == ["f0", "f1"]
    assert counter.answers() == []  # programs that scan messages open links too
    assert "received" in await page.submit(f0="Elm Street 5")
    (answer,) = counter.answers()
    assert answer["data"]["fields"] == [
        {"id": "street", "label": "Street", "value": "Elm Street 5"}
    ]
    await page.submit(status=410, f0="Oak Street 7")
    assert "no longer open" in await page.load(status=410)
    assert len(counter.answers()) == 1


@pytest.mark.parametrize("platform", ["telegram"])
async def test_a_page_is_shown_again_with_what_is_wrong(counter: Counter) -> None:
    fields = [{"id": "count", "label": "Count", "type": "number"}, *FORM["form"]["fields"]]
    await counter.ask("data", request_data={**FORM, "form": {"fields": fields}})
    page = await open_page(counter)
    shown = await page.submit(f0="7", f1="")
    assert "Please check this field: Street." in shown
    assert 'value="7"' in shown
    assert counter.answers() == []
    await page.submit(f0="7", f1="Elm Street 5")
    (answer,) = counter.answers()
    assert [one["value"] for one in answer["data"]["fields"]] == ["7", "Elm Street 5"]


@pytest.mark.parametrize("platform", ["telegram"])
async def test_a_page_is_opened_by_its_link_alone(counter: Counter) -> None:
    await counter.ask("data", request_data=FORM)
    page = await open_page(counter)
    token, _, signature = page.url.partition("link=")[2].partition(".")
    for forged in (token, f"{token}.", f"{token}.{signature[:-1]}A", f"{token[:-1]}.{signature}"):
        changed = Page(counter.desk, page.url.partition("link=")[0] + f"link={forged}")
        await changed.submit(status=410, f0="Elm Street 5")
    assert counter.answers() == []


@pytest.mark.parametrize("platform", ["slack"])
async def test_a_form_that_slack_cannot_show_is_a_page(counter: Counter) -> None:
    noise = Random(7)
    fields = [{"id": f"{n}", "label": noise.randbytes(60).hex()} for n in range(50)]
    await counter.ask("data", request_data={**FORM, "form": {"fields": fields}})
    page = await open_page(counter)
    assert "received" in await page.submit(f7="Yes")
    (answer,) = counter.answers()
    assert [one["value"] for one in answer["data"]["fields"]] == ["Yes"]


async def open_page(counter: Counter) -> Page:
    """Open the page of the form that Ada is asked to fill in."""
    found = await shown(counter.desk, "ada", lambda all_of: any(one.links for one in all_of))
    (url,) = (url for one in found for url in one.links)
    page = Page(counter.desk, url)
    await page.load()
    return page


async def until_said(counter: Counter, words: str) -> None:
    """Wait until a visitor's words are on the thread: what came before is handled then."""

    def is_said(_: object) -> bool:
        rows = counter.desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor'")
        return any(words in content for (content,) in rows)

    await shown(counter.desk, "ada", is_said)
