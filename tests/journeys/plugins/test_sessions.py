"""Capabilities at doors without threads: a session tells in words, and understands words back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from a2a.types import a2a_pb2

from tests.support.clients.a2a import said, send, state, tasking
from tests.support.clients.event_stream import following
from tests.support.clients.operator import operating
from tests.support.clients.threads import Talker, Told, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.packages import installed, loyalty

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = "loyalty.example/cards"
AGENT = ScriptedAgent()
SETTINGS = ("capabilities.loyalty.stamps=2", 'capabilities.loyalty.rewards=["Tea", "Cake"]')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="module")
def desk_data(folder: Path) -> Path:
    return folder / "data"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> AsyncIterator[Talker]:
    """A visitor at a desk where two stamps give a reward."""
    package = tmp_path_factory.mktemp("package")
    with installed(package, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with talking(folder, *SETTINGS, agent=AGENT) as talker:
            yield talker


def stamp(card: str, receipt: str) -> str:
    return json.dumps({"$schema": SCHEMA, "collect_stamp": {"card": card, "receipt": receipt}})


async def ask(guest: Talker, query: str, session: str | None = None, *types: str) -> Told:
    body: dict[str, Any] = {"ahp": "0.1", "capability": "content_search", "query": query}
    if types:
        body["context"] = {"accept_types": types}
    return await guest.send(
        "POST", "/agent/converse", body if session is None else {**body, "session_id": session}
    )


def answer(told: Told) -> str:
    return str(told.ok["response"]["answer"])


@pytest.mark.slow
async def test_a_session_is_rendered_as_text_and_answers_in_words(guest: Talker) -> None:
    first = await ask(guest, stamp("s-1", "s-1-1"))
    session = first.ok["session_id"]
    assert answer(first) == "Card s-1 has 1 of 2 stamps."
    asked = (await ask(guest, stamp("s-1", "s-1-2"), session)).ok
    assert (asked["status"], asked["clarification_question"]) == (
        "clarification_needed",
        "Card s-1 is full. Choose a reward:\n1. Tea\n2. Cake\nReply 1 or 2.",
    )
    clarified = {"capability": "content_search", "query": stamp("s-1", "s-1-2")}
    clarified |= {"clarification": "2", "session_id": session}
    told = await guest.send("POST", "/agent/converse", clarified)
    assert answer(told) == "Chosen: Cake."
    thread = await guest.thread_of(session)
    async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
        for _ in range(6):
            await listener.until_named("message.created")
    listed = (await guest.messages(thread, "?order=asc")).ok["data"]
    assert [one["content"] for one in listed[:-1]] == [
        ["A stamp for card s-1, receipt s-1-1."],
        ["Card s-1 has 1 of 2 stamps."],
        ["A stamp for card s-1, receipt s-1-2."],
        ["Card s-1 is full. Choose a reward:\n1. Tea\n2. Cake\nReply 1 or 2."],
        ["2", "Chosen: Cake."],
    ]
    assert listed[-1]["content"][0].startswith("Here is Cake: show the voucher V-")


async def test_a_participant_with_a_declared_capability_gets_its_messages_next_to_the_words(
    guest: Talker,
) -> None:
    declared = "x-aitp/loyalty", "x-aitp/unknown"
    first = await ask(guest, stamp("s-7", "s-7-1"), None, *declared)
    assert first.ok["response"]["messages"][0]["card"]["stamps"] == 1
    session = first.ok["session_id"]
    asked = (await ask(guest, stamp("s-7", "s-7-2"), session, *declared)).ok
    question = asked["clarification"]["question"]
    assert question.endswith("1. Tea\n2. Cake\nReply 1 or 2."), "the words are there too"
    (message,) = asked["clarification"]["messages"]
    assert message["$schema"].endswith("/capabilities/loyalty/v1/schema.json")
    request = message["request_reward"]
    assert (request["card"], request["options"]) == ("s-7", ["Tea", "Cake"])
    assert asked["clarification"]["besides"] == ""
    reward = {"request_id": request["request_id"], "option": "Tea"}
    chosen = json.dumps({"$schema": SCHEMA, "choose_reward": reward})
    assert answer(await ask(guest, chosen, session, *declared)) == "Chosen: Tea."


async def test_who_declares_another_capability_is_given_words_alone(guest: Talker) -> None:
    asked: dict[str, Any] = {}
    session = None
    for number in range(2):
        told = await ask(guest, stamp("s-8", f"s-8-{number}"), session, "x-aitp/requests")
        asked, session = told.ok, told.ok["session_id"]
    assert asked["clarification"].keys() == {"question", "options", "free_form"}


async def test_the_manifest_names_what_can_be_declared(guest: Talker) -> None:
    async with guest.http.get("/.well-known/agent.json") as response:
        manifest = await response.json()
    assert {tuple(one["response_types"])[-1] for one in manifest["capabilities"]} == {
        "x-aitp/loyalty"
    }


async def test_what_waits_on_a_thread_is_answered_in_its_session(guest: Talker) -> None:
    thread = (await guest.open()).id
    for number in range(2):
        await guest.post(thread, stamp("s-2", f"s-2-{number}"))
    assert answer(await ask(guest, "Tea.", thread)) == "Chosen: Tea."


async def test_what_a_capability_says_in_the_background_is_passed_on_in_the_next_turn(
    guest: Talker,
) -> None:
    thread = (await guest.open()).id
    for number in range(2):
        await ask(guest, stamp("s-9", f"s-9-{number}"), thread)
    async with following(guest, thread) as listener:
        assert answer(await ask(guest, "Tea.", thread)) == "Chosen: Tea."
        while "voucher" not in (await guest.texts(thread))[-1]:
            await listener.until_named("message.created")
    told = answer(await ask(guest, "When do you open?", thread))
    assert told.startswith("Here is Tea: show the voucher V-")
    assert told.endswith("asked: When do you open?")
    assert "voucher" not in answer(await ask(guest, "Where are you?", thread)), "it is told once"


async def test_words_that_mean_no_answer_are_for_the_agent(guest: Talker) -> None:
    thread = (await guest.open()).id
    for number in range(2):
        await guest.post(thread, stamp("s-3", f"s-3-{number}"))
    told = answer(await ask(guest, "When do you open?", thread))
    assert told.endswith("asked: When do you open?")
    before = [utterance.text for utterance in AGENT.turns[-1].transcript]
    assert before[0] == "A stamp for card s-3, receipt s-3-0."
    assert not any("$schema" in text for text in before)
    assert answer(await ask(guest, "1", thread)) == "Chosen: Tea."


async def test_a_task_asks_for_input_and_is_rendered_as_text(guest: Talker) -> None:
    async with tasking(guest.desk, "JSONRPC") as client:
        first = await send(client, stamp("s-6", "s-6-1"))
        assert (state(first), said(first)) == ("completed", "Card s-6 has 1 of 2 stamps.")
        assert first.history[0].parts[0].text == "A stamp for card s-6, receipt s-6-1."
        asked = await send(client, stamp("s-6", "s-6-2"), contextId=first.context_id)
        assert state(asked) == "input_required"
        question = asked.status.message.parts[0].text
        assert question.endswith("1. Tea\n2. Cake\nReply 1 or 2.")
        chosen = await send(client, "2", contextId=first.context_id, taskId=asked.id)
        thread = await guest.thread_of(first.context_id)
        async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
            for _ in range(6):
                await listener.until_named("message.created")
        got = await client.get_task(a2a_pb2.GetTaskRequest(id=chosen.id))
        assert state(got) == "completed"
        assert said(got).startswith("Here is Cake: show the voucher V-")


async def test_operators_read_the_same_words(guest: Talker, desk_data: Path) -> None:
    thread = (await guest.open()).id
    async with operating(guest.desk, desk_data) as operator:
        path = f"threads/{thread}"
        async with operator.follow(f"{path}/events") as listener:
            await guest.post(thread, stamp("s-5", "s-5"))
            live = [await listener.until_named("message") for _ in range(2)]
        listed = (await operator.get(f"{path}/messages"))["data"]
    said = ["A stamp for card s-5, receipt s-5.", "Card s-5 has 1 of 2 stamps."]
    assert [one["text"] for one in listed] == said
    assert [heard[-1].data["text"] for heard in live] == said


async def test_a_refusal_has_the_protocols_form(guest: Talker) -> None:
    refused = await ask(guest, stamp("No such card!", "s-4"))
    assert (refused.status, refused.body["code"]) == (400, "invalid_request")
    assert refused.body["message"] == "A card has small letters, digits and -."
    assert (await ask(guest, stamp("s-4", "s-4"))).status == 200
