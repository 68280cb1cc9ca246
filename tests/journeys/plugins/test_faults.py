"""Capabilities with faults of their own: no caller sees the fault itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from aitp_desk.capability import (
    Capability,
    Context,
    InvalidRequest,
    Keep,
    Part,
    Record,
    Refuse,
    Replace,
    Say,
    Schema,
    Take,
    Verdict,
    document_of,
)
from aitp_desk.testing import Guest, ScriptedAgent, open_desk

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Do(msgspec.Struct, frozen=True):
    what: str


class More(msgspec.Struct, frozen=True):
    what: str
    more: int


OLD: dict[str, type[msgspec.Struct]] = {"do": Do, "told": Do}
NEW: dict[str, type[msgspec.Struct]] = {"do": Do, "told": More}
EFFECTS: dict[str, Any] = {
    "say what breaks its schema": Say({"told": {"wrong": 1}}),
    "say what has no key": Say({"nothing": 1}),
    "say what has two keys": Say({"do": Do("x"), "told": Do("x")}),
    "say with a schema of its own": Say({"$schema": "https://elsewhere.example/s", "told": 1}),
    "say in a version that is none": Say({"told": Do("x")}, version=7),
    "say what is older than it says": Say({"told": Do("x")}, version=2),
    "replace by what breaks its schema": Replace({"do": 5}),
    "replace by somebody else's": Replace({"$schema": "https://elsewhere.example/s", "do": 5}),
    "nothing that is one": None,
}


class Odd(Capability):
    """Does what nobody can do."""

    slug = "odd"
    names = ("odd.example/messages",)

    def schemas(self) -> tuple[Schema, ...]:
        return tuple(
            Schema(version=version, messages=messages, document=document_of(messages, "Odd"))
            for version, messages in ((1, OLD), (2, NEW))
        )

    def judge(self, part: Part, context: Context) -> Verdict:
        what = part.content.what
        if what in EFFECTS:
            return Take((Say("Before."), EFFECTS[what]))
        match what:
            case "refuse":
                return Refuse(InvalidRequest("No.", param="what"))
            case "next":
                return Take((), then="agent")  # type: ignore[arg-type]
            case "newer":
                return Take((Say({"told": More("it", 3)}),))
            case "ask":
                return Take((Keep("asked", 1, 0, open_until=context.now + 600),))
            case _:
                return Take()

    def as_text(self, part: Part) -> str:
        what = part.content.what
        if what == "raises":
            raise RuntimeError("no words")
        words: dict[str, Any] = {"none": None, "number": 5, "surrogate": "\ud800", "empty": " "}
        found: str = words.get(what, f"It is about {what}.")
        return found

    def from_text(self, text: str, waiting: Sequence[Record]) -> Any:
        return {
            "a text": "abc",
            "a list": [1],
            "a number": 5,
            "an object": {"do": object()},
            "nothing": {},
            "what breaks the schema": {"do": 5},
        }.get(text)

    def health(self) -> Any:
        return "unwell"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest() -> AsyncIterator[Guest]:
    agent = ScriptedAgent("The agent.")
    async with open_desk("capabilities.odd={}", capabilities={"odd": Odd}, agent=agent) as guest:
        yield guest


def schema(guest: Guest, version: int) -> str:
    return f"{guest.url}/capabilities/odd/v{version}/schema.json"


def do(guest: Guest, what: str, version: int = 1) -> dict[str, Any]:
    return {"$schema": schema(guest, version), "do": {"what": what}}


@pytest.mark.parametrize("what", [*EFFECTS, "next"])
async def test_what_nobody_can_do_is_a_fault_and_nothing_is_stored(guest: Guest, what: str) -> None:
    for declared in ((), (schema(guest, 1),)):
        thread = await guest.open(*declared)
        told = await guest.say(thread, do(guest, what))
        assert (told.status, told.body["error"]["code"]) == (500, "internal")
        assert await guest.read(thread) == []


@pytest.mark.parametrize("what", ["raises", "none", "number", "surrogate", "empty"])
async def test_what_has_no_words_is_rendered_without_its_schema(guest: Guest, what: str) -> None:
    thread = await guest.open()
    posted = await guest.say(thread, do(guest, what))
    assert posted.status == 200
    assert await guest.read(thread) == [[f'{{\n  "do": {{\n    "what": "{what}"\n  }}\n}}']]


@pytest.mark.parametrize(
    "words",
    ["a text", "a list", "a number", "an object", "nothing", "what breaks the schema"],
)
async def test_words_that_are_taken_for_no_message_are_kept_as_words(
    guest: Guest, words: str
) -> None:
    thread = await guest.open()
    await guest.say(thread, do(guest, "ask"))
    told = await guest.say(thread, words)
    assert (told.status, told.body["content"]) == (200, [words])


async def test_what_an_older_version_cannot_say_is_said_in_a_newer_one_and_in_words(
    guest: Guest,
) -> None:
    thread = await guest.open(schema(guest, 2), schema(guest, 1))
    await guest.say(thread, do(guest, "newer"))
    newest = f'{{"$schema":"{schema(guest, 2)}","told":{{"what":"it","more":3}}}}'
    assert (await guest.read(thread))[-1] == [newest]


async def test_a_desk_tells_how_it_is_whatever_a_capability_tells(guest: Guest) -> None:
    ready = await guest.send("GET", "/ready")
    assert ready.status == 200
    assert ready.body["notes"] == ["The capability odd does not report its state."]


@pytest.mark.parametrize(
    "said",
    [
        {"do": 5},
        {"do": {"what": "say what has no key"}},
        {"do": {"what": "refuse"}},
    ],
    ids=["breaks its schema", "has a fault", "is refused"],
)
async def test_what_the_agent_says_and_cannot_be_said_is_no_fault_of_who_asks(
    said: Mapping[str, Any],
) -> None:
    agent = ScriptedAgent(json.dumps({"$schema": "odd.example/messages", **said}))
    async with open_desk("capabilities.odd={}", capabilities={"odd": Odd}, agent=agent) as guest:
        asked = {"ahp": "0.1", "capability": "content_search", "query": "When do you open?"}
        told = await guest.send("POST", "/agent/converse", asked)
        assert (told.status, told.body["code"]) == (500, "concierge_error")
        assert told.body["message"].startswith(
            "The desk cannot send its reply because of a fault on our side. Send us"
        )
        thread = await guest.open()
        await guest.say(thread, "When do you open?")
        path = f"/v1/threads/{thread}/events"
        async with (
            asyncio.timeout(60),
            aiohttp.ClientSession(guest.url) as http,
            http.get(path, headers={"Last-Event-ID": "0"}) as events,
        ):
            while not (await events.content.readline()).startswith(b"event: run.failed"):
                pass
            failed = json.loads((await events.content.readline()).removeprefix(b"data: "))
        assert failed["last_error"]["code"] == "server_error"
        assert await guest.read(thread) == [["When do you open?"]]
