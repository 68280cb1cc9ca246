"""Taking back what was said, in AITP's dialect."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from tests.support.clients.ahp import CONVERSE
from tests.support.clients.event_stream import Heard, following
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import ScriptedAgent

SECONDS = 30
MANUAL = [("OpenAI-Beta", "assistants=v2")]


async def delete(who: Talker, thread: str, message: str | None = None) -> Told:
    path = f"{THREADS}/{thread}" if message is None else f"{THREADS}/{thread}/messages/{message}"
    return await who.send("DELETE", path)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_answer_tells_of_replies_that_may_quote_it_and_takes_them_too(
    talker: Talker,
) -> None:
    for query, are_deleted in (("", False), ("?with_replies=true", True)):
        opened = await talker.open("How much does gift wrapping cost?", wait=SECONDS)
        (reply,) = opened.ok["replies"]
        question = opened.ok["messages"][0]["id"]
        path = f"{THREADS}/{opened.id}/messages/{question}{query}"
        deleted = await talker.send("DELETE", path)
        assert deleted.ok["replies"] == [{"id": reply["id"], "deleted": are_deleted}]
        assert len(await talker.texts(opened.id)) == (0 if are_deleted else 1)
    wrong = await talker.send("DELETE", f"{THREADS}/thread_x/messages/x?with_replies=1")
    assert wrong.refusal == (400, "invalid_request", "with_replies")


async def test_what_a_capability_said_to_a_message_is_a_reply_to_it(tmp_path: Path) -> None:
    decision = {"request_decision_id": "none", "options": [{"id": "s"}]}
    unasked = json.dumps({"$schema": "aitp.dev/requests", "decision": decision})
    async with talking(tmp_path, "capabilities.requests.open_for=600") as talker:
        thread = (await talker.open()).id
        first, second = [await talker.post(thread, unasked) for _ in range(2)]
        listed = (await talker.messages(thread, "?order=asc")).ok["data"]
        said, answer, _, other = [one["id"] for one in listed]
        assert (said, listed[2]["id"]) == (first.id, second.id)
        path = f"{THREADS}/{thread}/messages/{said}?with_replies=true"
        deleted = await talker.send("DELETE", path)
        assert deleted.ok["replies"] == [{"id": answer, "deleted": True}]
        told = await delete(talker, thread, second.id)
        assert told.ok["replies"] == [{"id": other, "deleted": False}]


async def test_a_mere_participant_deletes_no_replies(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner, guest = await talker.with_key("threads"), await talker.with_key("threads")
        thread = (await owner.open()).id
        joining = {"id": "guest", "principal": f"key:{(guest.key or '').split('_')[1]}"}
        await owner.send("POST", f"{THREADS}/{thread}/actors", joining)
        said = await guest.post(thread, "How much does gift wrapping cost?", wait=SECONDS)
        path = f"{THREADS}/{thread}/messages/{said.id}"
        refused = await guest.send("DELETE", f"{path}?with_replies=true")
        assert refused.refusal == (403, "forbidden", "with_replies")
        assert len((await guest.send("DELETE", path)).ok["replies"]) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_who_holds_an_anonymous_thread_deletes_what_was_said_there(talker: Talker) -> None:
    opened = await talker.open("How much does gift wrapping cost?", wait=SECONDS)
    (reply,) = opened.ok["replies"]
    deleted = await delete(talker, opened.id, reply["id"])
    gone = {"object": "thread.message.deleted", "deleted": True}
    assert deleted.ok == {"id": reply["id"], **gone, "replies": []}
    assert await talker.texts(opened.id) == ["How much does gift wrapping cost?"]
    assert (await delete(talker, opened.id)).ok == {
        "id": opened.id,
        "object": "thread.deleted",
        "deleted": True,
    }
    assert (await talker.read(opened.id)).refusal == (404, "thread_not_found", "thread_id")
    kept = talker.rows(
        f"SELECT content, attachments, salt, metadata FROM messages WHERE thread_id = '{opened.id}'"
    )
    assert kept == [(None, None, None, "{}")] * 2


@pytest.mark.asyncio(loop_scope="module")
async def test_notes_change_on_what_one_has_said_oneself(talker: Talker) -> None:
    opened = await talker.open("Hello.", wait=SECONDS)
    said, reply = opened.ok["messages"]
    path = f"{THREADS}/{opened.id}/messages"
    changed = await talker.send("POST", f"{path}/{said['id']}", {"metadata": {"mood": "good"}})
    assert changed.ok == {**said, "metadata": {"mood": "good", "actor": "visitor"}}
    for body in (None, {}, {"metadata": None}):
        assert (await talker.send("POST", f"{path}/{said['id']}", body)).ok == changed.ok
    assert (await talker.send("GET", f"{path}/{said['id']}")).ok == changed.ok
    for message, metadata, refusal in (
        (reply, {"mood": "bad"}, (403, "forbidden", "message_id")),
        (said, {"actor": "mallory"}, (400, "invalid_request", "metadata.actor")),
        (said, {"actor": 7}, (400, "invalid_request", "metadata.actor")),
        (said, {"k": 1}, (400, "invalid_request", "metadata.k")),
        (said, {"k": "v" * 513}, (400, "invalid_request", "metadata.k")),
    ):
        told = await talker.send("POST", f"{path}/{message['id']}", {"metadata": metadata})
        assert told.refusal == refusal
    assert (await talker.send("GET", f"{path}/{said['id']}")).ok == changed.ok


async def test_the_agent_never_hears_what_was_deleted(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread = (await talker.open("My secret is 4711.", headers=MANUAL)).id
        (said,) = (await talker.messages(thread)).ok["data"]
        await delete(talker, thread, said["id"])
        await talker.post(thread, "What did I say?", wait=SECONDS)
        (turn,) = agent.turns
        assert (turn.question, turn.transcript) == ("What did I say?", ())


async def test_a_run_at_work_ends_with_its_thread_and_writes_nothing(tmp_path: Path) -> None:
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def slow(turn: Turn) -> Outcome:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Answer(f"Too late for {turn.question}")

    async with talking(tmp_path, agent=ScriptedAgent(slow)) as talker:
        thread = (await talker.open()).id
        waiting = asyncio.create_task(talker.post(thread, "One?", wait=SECONDS))
        async with asyncio.timeout(SECONDS):
            await asked.wait()
            assert (await delete(talker, thread)).ok
            told = await waiting
        assert told.ok["replies"] == []
        assert told.ok["run"]["last_error"]["message"] == "The thread was deleted."
        async with asyncio.timeout(SECONDS):
            await stopped.wait()
    async with talking(tmp_path) as talker:  # the first desk has ended, its worker with it
        assert talker.rows("SELECT state FROM runs") == [("failed",)]
        assert talker.rows("SELECT content FROM messages") == [(None,)]
        assert (await talker.read(thread)).status == 404


@pytest.mark.asyncio(loop_scope="module")
async def test_a_repeat_brings_nothing_back(talker: Talker) -> None:
    key = [("Idempotency-Key", str(uuid4()))]
    opened = await talker.open("One?", "Two?", headers=key, wait=SECONDS)
    one, two, _ = opened.ok["messages"]
    await delete(talker, opened.id, two["id"])
    replay = await talker.open("One?", "Two?", headers=key)
    assert replay.ok["messages"] == [one]

    posting = [("Idempotency-Key", "once")]
    posted = await talker.post(opened.id, "Three?", headers=posting)
    await delete(talker, opened.id, posted.id)
    again = await talker.post(opened.id, "Three?", headers=posting)
    assert again.refusal == (404, "message_not_found", None)

    await delete(talker, opened.id)
    assert (await talker.open("One?", "Two?", headers=key)).status == 404
    assert (await talker.post(opened.id, "Three?", headers=posting)).status == 404


@pytest.mark.asyncio(loop_scope="module")
async def test_an_operator_deletes_a_thread_and_the_session_on_it(talker: Talker) -> None:
    question = {"ahp": "0.1", "capability": "content_search", "query": "How do I return a book?"}
    asked = (await talker.send("POST", CONVERSE, question)).ok
    thread = await talker.thread_of(asked["session_id"])
    operator = await talker.with_key("operator")
    assert (await delete(operator, thread)).ok
    further = {**question, "session_id": asked["session_id"]}
    told = await talker.send("POST", CONVERSE, further)
    assert (told.status, told.body["detail"]) == (400, "unknown_session")


@pytest.mark.slow
async def test_followers_are_told_what_was_deleted_and_not_what_it_said(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.heartbeat_seconds=1") as talker:
        thread = (await talker.open("A secret.", headers=MANUAL)).id
        (said,) = (await talker.messages(thread)).ok["data"]
        async with following(talker, thread) as listener:
            assert (await listener.next()).name == "following"
            await delete(talker, thread, said["id"])
            gone = {"id": said["id"], "object": "thread.message.deleted", "deleted": True}
            assert await listener.next() == Heard("message.deleted", gone, 2)
            async with following(talker, thread, "?after=0") as late:
                told = await late.until_named("message.deleted")
                assert [(heard.name, heard.data) for heard in told[1:]] == [
                    ("message.created", gone),
                    ("message.deleted", gone),
                ]
            await delete(talker, thread)
            (ended,) = await listener.until_named("thread.deleted")
            assert ended.data == {"id": thread, "object": "thread.deleted", "deleted": True}
            assert {heard.name for heard in await listener.rest()} <= {"beat"}


async def test_a_session_forgets_what_was_deleted_on_its_thread(tmp_path: Path) -> None:
    async def ask_back(turn: Turn) -> Outcome:
        return Clarification("Which one?") if "secret" in turn.question else Answer("Well.")

    agent = ScriptedAgent(ask_back)
    async with talking(tmp_path, agent=agent) as talker:

        async def ask(query: str, **members: str) -> str:
            body = {"ahp": "0.1", "capability": "content_search", "query": query, **members}
            session: str = (await talker.send("POST", CONVERSE, body)).ok["session_id"]
            return session

        session = await ask("My secret is 4711.")
        thread = await talker.thread_of(session)
        operator = await talker.with_key("operator")
        (_, said) = (await operator.messages(thread)).ok["data"]
        assert (await delete(operator, thread, said["id"])).ok
        assert talker.rows("SELECT pending FROM sessions") == [(None,)]
        assert await ask("And now?", session_id=session) == session
        assert (agent.turns[-1].question, agent.turns[-1].pending) == ("And now?", None)
        assert "4711" not in str(agent.turns[-1])


async def test_a_turn_whose_thread_is_deleted_meanwhile_ends_its_session(tmp_path: Path) -> None:
    asked, deleted = asyncio.Event(), asyncio.Event()

    async def think(turn: Turn) -> Outcome:
        if turn.question == "And now?":
            asked.set()
            await deleted.wait()
        return Answer("Well.")

    durable = "store.query_turns=durable"
    async with talking(tmp_path, durable, agent=ScriptedAgent(think)) as talker:

        async def ask(query: str, **members: str) -> Told:
            body = {"ahp": "0.1", "capability": "content_search", "query": query, **members}
            return await talker.send("POST", CONVERSE, body)

        session: str = (await ask("My secret is 4711.")).ok["session_id"]
        thread = await talker.thread_of(session)
        turns = [asyncio.create_task(ask("And now?", session_id=session)) for _ in range(2)]
        async with asyncio.timeout(60):
            await asked.wait()
        await delete(await talker.with_key("operator"), thread)
        deleted.set()
        for told in [*(await asyncio.gather(*turns)), await ask("And now?", session_id=session)]:
            assert told.status == 400
            assert (told.body["code"], told.body["detail"]) == (
                "invalid_request",
                "unknown_session",
            )
