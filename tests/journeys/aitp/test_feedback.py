"""Feedback on the desk's answers, in AITP's dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.clients.event_stream import following
from tests.support.clients.threads import THREADS, Talker, Told, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 30
QUESTION = "How much does gift wrapping cost?"


async def rate(who: Talker, thread: str, message: str, body: Any) -> Told:
    return await who.send("POST", f"{THREADS}/{thread}/messages/{message}/feedback", body)


async def ask(who: Talker) -> tuple[str, str, str]:
    """Open a thread; return its id, and those of the question and the answer."""
    opened = await who.open(QUESTION, wait=SECONDS)
    return opened.id, opened.ok["messages"][0]["id"], opened.ok["replies"][0]["id"]


def kept(who: Talker, thread: str) -> list[tuple[Any, ...]]:
    of = f"WHERE thread_id = '{thread}' ORDER BY principal"
    return who.rows(f"SELECT message_id, principal, rating, reason FROM feedback {of}")


async def test_feedback_is_stored_replaced_and_taken_back(talker: Talker) -> None:
    thread, _, answer = await ask(talker)
    first = await rate(talker, thread, answer, {"rating": "down", "reason": " Too long. "})
    assert first.ok == {
        "object": "thread.message.feedback",
        "id": answer,
        "thread_id": thread,
        "rating": "down",
        "reason": "Too long.",
    }
    assert kept(talker, thread) == [(answer, "", "down", "Too long.")]
    assert (await rate(talker, thread, "latest", {"rating": "up"})).ok["id"] == answer
    assert kept(talker, thread) == [(answer, "", "up", "")]
    back = await rate(talker, thread, answer, {"rating": None, "reason": "Never mind."})
    assert (back.ok["rating"], back.ok["reason"]) == (None, None)
    assert kept(talker, thread) == []


async def test_followers_receive_the_ratings_and_a_repeat_changes_nothing(talker: Talker) -> None:
    thread, _, answer = await ask(talker)
    async with following(talker, thread) as listener:
        begin = (await listener.next()).data["after"]
        for body in ({"rating": "down", "reason": "Wrong."}, {"rating": "up"}, {"rating": "up"}):
            await rate(talker, thread, answer, body)
        await talker.post(thread, "Thanks.")
        heard = (await listener.until_named("message.created"))[-3:]
    told = [event for event in heard if event.name == "message.feedback"]
    assert [event.id for event in told] == [begin + 1, begin + 2]
    assert told[-1].data == {
        "object": "thread.message.feedback",
        "id": answer,
        "up": 1,
        "down": 0,
    }
    assert "Wrong." not in str([event.data for event in told])
    assert (await talker.read(thread)).ok["id"] == thread


async def test_everybody_who_may_write_has_one_say(talker: Talker) -> None:
    aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
    thread, _, answer = await ask(aya)
    grant = {"principal": f"key:{(ben.key or '').split('_')[1]}", "may": "read"}
    assert (await rate(ben, thread, answer, {"rating": "up"})).refusal[:2] == (
        404,
        "thread_not_found",
    )
    await aya.send("POST", f"{THREADS}/{thread}/grants", grant)
    refused = await rate(ben, thread, answer, {"rating": "up"})
    assert refused.refusal[:2] == (403, "forbidden")
    await aya.send("POST", f"{THREADS}/{thread}/grants", {**grant, "may": "write"})
    assert (await rate(ben, thread, answer, {"rating": "up"})).ok
    assert (await rate(aya, thread, answer, {"rating": "down"})).ok
    assert sorted(row[2] for row in kept(talker, thread)) == ["down", "up"]


async def test_what_is_wrong_is_refused_by_name(talker: Talker) -> None:
    thread, question, answer = await ask(talker)
    for message, body, refusal in (
        (answer, {}, (400, "missing_field", "rating")),
        (answer, {"rating": "meh"}, (400, "invalid_request", "rating")),
        (answer, {"rating": ["up"]}, (400, "invalid_request", "rating")),
        (answer, {"rating": "up", "reason": 7}, (400, "invalid_request", "reason")),
        (answer, {"rating": "up", "reason": "x" * 501}, (400, "invalid_request", "reason")),
        (question, {"rating": "up"}, (400, "invalid_request", "message_id")),
        ("msg_none", {"rating": "up"}, (404, "message_not_found", "message_id")),
    ):
        assert (await rate(talker, thread, message, body)).refusal == refusal
    nowhere = await rate(talker, "thread_none", answer, {"rating": "up"})
    assert nowhere.refusal == (404, "thread_not_found", "thread_id")
    assert kept(talker, thread) == []


async def test_feedback_goes_with_its_message_and_with_its_thread(talker: Talker) -> None:
    for path in ("messages/{answer}", ""):
        thread, _, answer = await ask(talker)
        await rate(talker, thread, answer, {"rating": "down", "reason": "My name is Aya."})
        gone = f"{THREADS}/{thread}/{path.format(answer=answer)}".rstrip("/")
        assert (await talker.send("DELETE", gone)).ok["deleted"]
        assert kept(talker, thread) == []


async def test_the_feedback_of_a_claimed_thread_is_its_owners(talker: Talker) -> None:
    aya = await talker.with_key("threads")
    thread, _, answer = await ask(talker)
    await rate(talker, thread, answer, {"rating": "down"})
    await aya.send("POST", f"{THREADS}/{thread}/claim")
    await rate(aya, thread, answer, {"rating": "up"})
    assert [row[2] for row in kept(talker, thread)] == ["up"]


async def test_a_session_of_ahp_rates_its_newest_answer(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        query = {"ahp": "0.1", "capability": "content_search", "query": QUESTION}
        session = (await talker.send("POST", CONVERSE, query)).ok["session_id"]
        assert (await rate(talker, session, "latest", {"rating": "down"})).ok["rating"] == "down"


async def test_a_thread_has_the_ratings_of_its_messages(talker: Talker) -> None:
    thread, _, answer = await ask(talker)
    assert "ratings" not in (await talker.send("GET", f"{THREADS}/{thread}")).ok
    await rate(talker, thread, answer, {"rating": "down", "reason": "Wrong."})
    rated = {"object": "thread.message.feedback", "id": answer, "up": 0, "down": 1}
    assert (await talker.send("GET", f"{THREADS}/{thread}")).ok["ratings"] == [rated]
