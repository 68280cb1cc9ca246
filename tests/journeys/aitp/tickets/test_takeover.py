"""Operators take conversations over without a ticket; what they note there nobody else sees."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2

from aitp_desk.agent.base import Answer, Outcome, Turn, Utterance
from aitp_desk.desk.tickets.takeover import Takeover
from tests.support.access.audit_log import somebody
from tests.support.clients.a2a import said, send, state, tasking
from tests.support.clients.event_stream import following
from tests.support.clients.threads import HELD, Talker, talking
from tests.support.doubles.agent import Clock, PacedAgent, ScriptedAgent
from tests.support.store.erasure import converse, mark

ABROAD = Path(__file__).parents[3] / "support" / "sites" / "multilingual"
BY = somebody()
MANUAL = [("OpenAI-Beta", "assistants=v2")]
RUN = {"assistant_id": "desk"}
WAIT = 20


def stepping_in(talker: Talker) -> Takeover:
    return Takeover(talker.desk.store, time.time)


@pytest.mark.slow
async def test_on_a_thread_that_was_taken_without_a_ticket_the_agent_is_silent(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as talker:
        steps, thread = stepping_in(talker), (await talker.open("Hello?", wait=WAIT)).id
        before = await talker.texts(thread)
        await steps.take_thread(thread, "anna", BY)
        posted = await talker.post(thread, "Is anybody there?", wait=5)
        assert (posted.ok["run"], posted.ok["replies"]) == (None, [])
        refused = await talker.send("POST", f"/v1/threads/{thread}/runs", RUN, headers=MANUAL)
        assert refused.refusal[:2] == (409, "precondition_failed")
        async with following(talker, thread, "?after=0") as listener:
            await steps.say(thread, "I am here.", "anna", BY)
            heard = await listener.until(lambda event: "I am here." in str(event.data))
            await steps.resolve(thread, "All is well.", "anna", BY)
            heard += await listener.until_named("thread.handed_back")
        assert heard[-1].data["id"].endswith("/operators/anna")
        assert await talker.texts(thread) == [
            *before,
            "Is anybody there?",
            "I am here.",
            "All is well.",
        ]
        again = await talker.post(thread, "What does shipping cost?", wait=WAIT)
        assert again.ok["run"]["status"] == "completed"


@pytest.mark.slow
async def test_a_run_at_work_ends_when_its_thread_is_taken_without_a_ticket(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread = (await talker.open(headers=MANUAL)).id
        async with following(talker, thread, "?after=0") as listener:
            await talker.post(thread, "Hello?")
            await listener.until_named("run.in_progress")
            await stepping_in(talker).take_thread(thread, "anna", BY)
            heard = await listener.until_named("thread.handed_over")
            agent.say(Answer("Too late."))
        assert "run.failed" in [event.name for event in heard]
        assert await talker.texts(thread) == ["Hello?"]


async def test_a_session_whose_thread_was_taken_without_a_ticket_is_held(tmp_path: Path) -> None:
    async with talking(tmp_path, "sessions.max_turns=2") as talker:
        session = (await converse(talker, "What does shipping cost?"))["session_id"]
        await talker.desk.store.settled()
        thread, steps = await talker.thread_of(session), stepping_in(talker)
        await steps.take_thread(thread, "anna", BY)
        held = await converse(talker, "Hello?", session)
        assert held["response"]["answer"] == HELD
        await steps.say(thread, "What can I do for you?", "anna", BY)
        held = await converse(talker, "And now?", session)
        assert held["response"]["answer"] == "anna: What can I do for you?"
        await steps.release_thread(thread, BY)
        freed = await converse(talker, "What does shipping cost?", session)
        assert "anna" not in freed["response"]["answer"]


async def test_what_a_person_says_reaches_a_client_of_mcp(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        asking = await talker.with_key("threads")

        async def call(query: str, **more: str) -> dict[str, Any]:
            params = {"name": "content_search", "arguments": {"query": query, **more}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            result = (await asking.send("POST", "/mcp", body)).ok["result"]
            told: dict[str, Any] = result["structuredContent"]
            return told

        session = (await call("What does shipping cost?"))["session_id"]
        await talker.desk.store.settled()
        thread, steps = await asking.thread_of(session), stepping_in(talker)
        await steps.take_thread(thread, "anna", BY)
        assert (await call("Hello?", session_id=session))["answer"] == HELD
        await steps.say(thread, "What can I do for you?", "anna", BY)
        told = await call("And now?", session_id=session)
        assert told["answer"] == "anna: What can I do for you?"


async def test_a_task_works_until_the_person_answers_it(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker, tasking(talker.desk) as client:
        begun = await send(client, "What does shipping cost?")
        thread, steps = await talker.thread_of(begun.context_id), stepping_in(talker)
        await steps.take_thread(thread, "anna", BY)
        task = await send(client, "Hello?", contextId=begun.context_id)
        assert state(task) == "working"
        await steps.say(thread, "What can I do for you?", "anna", BY)
        task = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id))
        assert (state(task), said(task)) == ("completed", "What can I do for you?")


@pytest.mark.parametrize(
    ("locale", "begins"),
    [
        ("fr", "Une personne, anna, a repris cette conversation"),
        ("de-AT", "Ein Mensch, anna, hat dieses Gespräch übernommen"),
        ("en", HELD),
    ],
)
async def test_it_is_said_in_the_visitors_language_that_a_person_has_the_conversation(
    tmp_path: Path, locale: str, begins: str
) -> None:
    async with talking(tmp_path, site=ABROAD) as talker:
        body: dict[str, Any] = {"ahp": "0.1", "capability": "content_search", "query": "Returns?"}
        body |= {"context": {"locale": locale}}
        async with talker.http.post("/agent/converse", json=body) as response:
            session = (await response.json())["session_id"]
        await talker.desk.store.settled()
        await stepping_in(talker).take_thread(await talker.thread_of(session), "anna", BY)
        async with talker.http.post(
            "/agent/converse", json=body | {"session_id": session}
        ) as response:
            held = await response.json()
        assert held["response"]["answer"].startswith(begins)
        assert held["meta"]["locale"] == locale.partition("-")[0]


async def test_a_session_that_a_person_has_is_kept_until_they_were_heard(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as talker:
        session = (await converse(talker, "What does shipping cost?"))["session_id"]
        await talker.desk.store.settled()
        thread = await talker.thread_of(session)
        steps = Takeover(talker.desk.store, clock)
        await steps.take_thread(thread, "anna", BY)
        clock.advance(24 * 3600)
        await steps.say(thread, "What can I do for you?", "anna", BY)
        talker.desk.desk.on_people_acted()
        clock.advance(48 * 3600)
        held = await converse(talker, "Hello?", session)
        assert held["response"]["answer"] == "anna: What can I do for you?"


@pytest.mark.parametrize("words", ["", "What can I do for you?"])
async def test_a_turn_at_work_says_nothing_once_a_person_has_its_session(
    tmp_path: Path, words: str
) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        agent.say(Answer("At once."))
        session = (await converse(talker, "Hello?"))["session_id"]
        await talker.desk.store.settled()
        thread, steps = await talker.thread_of(session), stepping_in(talker)
        await agent.asked.get()
        turn = asyncio.create_task(converse(talker, "What does shipping cost?", session))
        await agent.asked.get()
        await steps.take_thread(thread, "anna", BY)
        if words:
            await steps.say(thread, words, "anna", BY)
        agent.say(Answer("Too late."))
        told = (await turn)["response"]["answer"]
        assert told == (f"anna: {words}" if words else HELD)
        texts = await talker.texts(thread)
        assert texts == ["Hello?", "At once.", *filter(None, (words,)), "What does shipping cost?"]


async def test_to_openais_clients_no_person_is_an_assistant(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        thread = (await talker.open("What does shipping cost?", wait=5)).id
        steps = stepping_in(talker)
        await steps.take_thread(thread, "anna", BY)
        await steps.say(thread, "What can I do for you?", "anna", BY)
        listed = await talker.send("GET", f"/v1/threads/{thread}/messages", headers=MANUAL)
        spoken, answered, _ = listed.ok["data"]
        assert (spoken["role"], spoken["assistant_id"]) == ("assistant", None)
        assert spoken["metadata"]["actor"] == f"{talker.desk.url}/operators/anna"
        assert answered["assistant_id"] == "desk"


class _Reader(ScriptedAgent):
    """An agent of whom it is known all that it was ever told."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.summarised: list[str] = []

    async def _answer(self, turn: Turn) -> Outcome:
        return Answer(f"You asked {turn.question[:40]}. {'So it is. ' * 20}")

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        self.summarised += [previous, *(one.text for one in utterances)]
        return f"{len(utterances)} things were said, within {max_tokens}."


async def test_no_visitor_and_no_model_ever_sees_a_note(tmp_path: Path) -> None:
    secret, said = mark("secret-note"), mark("said-aloud")
    agent = _Reader()
    bounds = ("threads.window_tokens=500", "threads.summary_tokens=100")
    async with talking(tmp_path, *bounds, agent=agent) as anyone:
        who = await anyone.with_key("threads")
        thread, steps = (await who.open("Hello?", wait=WAIT)).id, stepping_in(who)
        session = (await converse(who, "What is it?"))["session_id"]
        await who.desk.store.settled()
        for id_ in (thread, await who.thread_of(session)):
            await steps.note(id_, secret, "anna", BY)
            await steps.take_thread(id_, "anna", BY)
            await steps.note(id_, f"Again: {secret}", "anna", BY)
            await steps.say(id_, said, "anna", BY)
            await steps.resolve(id_, "", "anna", BY)
        run = ""
        for number in range(8):
            words = f"Number {number}. {'And so on. ' * 20}"
            run = (await who.post(thread, words, wait=WAIT)).ok["run"]["id"]
        forked = await who.open("And here?", metadata={"parent_id": thread}, wait=WAIT)
        told: list[Any] = [
            forked.body,
            await converse(who, "And now?", session),
            (await who.post(thread, "And?", wait=WAIT)).body,
        ]
        paths = [
            f"/v1/threads/{thread}{rest}"
            for rest in ("", "/messages?limit=100", "/grants", "/runs", f"/runs/{run}")
        ]
        paths += [f"/v1/threads/{thread}/runs/{run}/steps", f"/v1/threads/{forked.id}"]
        paths += [f"/v1/threads/{forked.id}/messages"]
        for path in paths:
            answered = await who.send("GET", path, headers=MANUAL)
            assert answered.status == 200, path
            told.append(answered.body)
        for id_ in (thread, forked.id):
            async with following(who, id_, "?after=0") as listener:
                await who.post(id_, "The end.", headers=MANUAL)
                heard = await listener.until(lambda event: "The end." in str(event.data))
                told += [event.data for event in heard]
        by_link = {"link": True, "may": "read"}
        grant = (await who.send("POST", f"/v1/threads/{thread}/grants", by_link)).ok
        guest = who.with_link(grant["secret"])
        told.append((await guest.messages(thread, "?limit=100")).body)

        assert agent.summarised, "the thread grew long enough to be summarised"
        told += [repr(turn) for turn in agent.turns]
        told += agent.summarised
        assert said in json.dumps(told)
        assert secret not in json.dumps(told)
        assert secret in str(who.rows("SELECT words FROM notes"))
        async with asyncio.timeout(WAIT):
            while not (kept := who.rows("SELECT text FROM summaries")):
                await who.read(thread)
        assert secret not in str(kept)
