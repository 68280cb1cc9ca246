"""The same request again: an Idempotency-Key makes it count once."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.clients.threads import DATABASE, THREADS, Talker, talking
from tests.support.doubles.agent import Clock, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 30
CONFLICT = (409, "idempotency_conflict", "Idempotency-Key")
IN_FLIGHT = (409, "idempotency_in_flight", "Idempotency-Key")
UNUSABLE = (400, "invalid_request", "Idempotency-Key")


def once(key: str | None = None) -> list[tuple[str, str]]:
    """The header, with its own key unless one is given."""
    return [("Idempotency-Key", key or str(uuid4()))]


async def test_a_thread_opened_twice_with_one_key_is_opened_once(talker: Talker) -> None:
    headers = once()
    first = await talker.open("One?", "Two?", headers=headers, wait=SECONDS)
    before = talker.counts()
    again = await talker.open("One?", "Two?", headers=headers)
    assert again.id == first.id
    assert again.ok["messages"] == first.ok["messages"][:2]
    assert again.ok["metadata"] == first.ok["metadata"]
    assert talker.counts() == before


async def test_a_message_posted_twice_with_one_key_is_posted_once(talker: Talker) -> None:
    thread, headers = (await talker.open()).id, once()
    first = await talker.post(thread, "One?", headers=headers, wait=SECONDS)
    before = talker.counts()
    again = await talker.post(thread, "One?", headers=headers)
    assert again.ok == {name: first.ok[name] for name in again.ok}
    assert talker.counts() == before
    assert len(await talker.texts(thread)) == 2


async def test_a_replay_that_waits_waits_for_the_same_run(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        headers = once()
        opened = await talker.open("One?", headers=headers, wait=0)
        replay = await talker.open("One?", headers=headers, wait=SECONDS)
        assert replay.ok["run"]["id"] == opened.ok["run"]["id"]
        assert replay.ok["run"]["status"] == "completed"
        assert replay.ok["replies"] == replay.ok["messages"][1:]
        headers = once()
        posted = await talker.post(opened.id, "Two?", headers=headers)
        first = await talker.post(opened.id, "Two?", headers=headers, wait=SECONDS)
        second = await talker.post(opened.id, "Two?", headers=headers, wait=SECONDS)
        assert first.ok == second.ok
        assert first.id == posted.id
        assert first.ok["replies"][0]["content"][0].endswith("asked: Two?")
        assert [turn.question for turn in agent.turns] == ["One?", "Two?"]


async def test_another_request_under_a_used_key_conflicts_and_is_not_to_be_retried(
    talker: Talker,
) -> None:
    headers = once()
    thread = (await talker.open("One?", headers=headers)).id
    await talker.post(thread, "Two?", headers=headers)
    before = talker.counts()
    body = b'{"messages":["One?"]}'
    for refused in (
        await talker.open("Something else?", headers=headers),
        await talker.send("POST", "/v1/thread", {"messages": ["One?"]}, headers=headers),
        await talker.send("POST", THREADS, body, headers=headers),
        await talker.post(thread, "Something else?", headers=headers),
    ):
        assert refused.refusal == CONFLICT
        assert refused.headers["x-should-retry"] == "false"
        assert "Retry-After" not in refused.headers
    assert talker.counts() == before


async def test_while_the_first_is_being_written_the_second_is_asked_to_retry(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as talker:
        thread, headers = (await talker.open()).id, once()
        with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as other:
            other.execute("BEGIN IMMEDIATE")  # nobody else can commit
            for send in (
                partial(talker.post, thread, "One?", headers=headers),
                partial(talker.open, "One?", headers=headers),
            ):
                both = [asyncio.create_task(send()) for _ in "ab"]
                (early,), _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                refused = early.result()
                assert refused.refusal == IN_FLIGHT
                assert refused.headers["Retry-After"] == "1"
                assert "x-should-retry" not in refused.headers
                both.remove(early)
                other.rollback()
                made = (await both[0]).id
                assert (await send()).id == made
                other.execute("BEGIN IMMEDIATE")


async def test_without_a_credential_only_a_long_key_opens_a_thread(talker: Talker) -> None:
    before = talker.counts()
    for key in ("a", "a" * 19, "a" * 256, "é" * 300):
        assert (await talker.open("One?", headers=once(key))).refusal == UNUSABLE
    assert talker.counts() == before
    assert (await talker.open("One?", headers=once("a" * 20))).ok
    assert (await talker.open("One?", headers=once("a" * 255))).ok
    known = await talker.with_key("threads")
    assert (await known.open("One?", headers=once("a"))).ok
    # who knows the thread's id may use a short key there
    thread = (await talker.open()).id
    assert (await talker.post(thread, "One?", headers=once("1"))).ok
    for key in ("", "a" * 256):
        refused = await talker.post(thread, "One?", headers=[("Idempotency-Key", key)])
        assert refused.refusal == UNUSABLE


async def test_keys_of_one_caller_are_nothing_to_another(talker: Talker) -> None:
    alice, bob = await talker.with_key("threads"), await talker.with_key("threads")
    headers = once()
    opened = {(await who.open("One?", headers=headers)).id for who in (talker, alice, bob)}
    assert len(opened) == 3
    assert {(await who.open("One?", headers=headers)).id for who in (talker, alice, bob)} == opened
    # a known caller's keys count for all that they do
    thread = (await alice.open("Two?")).id
    assert (await alice.post(thread, "One?", headers=headers)).refusal == CONFLICT


async def test_keys_without_a_credential_count_on_their_thread_alone(talker: Talker) -> None:
    headers = once("1")
    threads = [(await talker.open()).id for _ in "abc"]
    posted = [(await talker.post(thread, "One?", headers=headers)).id for thread in threads]
    assert len(set(posted)) == 3
    again = [(await talker.post(thread, "One?", headers=headers)).id for thread in threads]
    assert again == posted


async def test_keys_for_new_threads_count_within_an_address(tmp_path: Path) -> None:
    async with talking(tmp_path, 'server.trusted_proxies=["127.0.0.1/32"]') as talker:
        headers = once()

        async def open_from(address: str) -> str:
            forwarded = [("X-Forwarded-For", address)]
            return (await talker.open("One?", headers=headers + forwarded)).id

        here, there = await open_from("192.0.2.1"), await open_from("192.0.2.2")
        assert here != there
        assert (await open_from("192.0.2.1"), await open_from("192.0.2.2")) == (here, there)


async def test_a_refused_request_leaves_its_key_free(talker: Talker) -> None:
    headers = once()
    assert (await talker.open("", headers=headers)).refusal[0] == 400
    thread = (await talker.open("One?", headers=headers)).id
    headers = once()
    assert (await talker.post(thread, "Who?", role="nobody", headers=headers)).refusal[0] == 400
    assert (await talker.post("thread_nobody", "Who?", headers=headers)).refusal[0] == 404
    assert (await talker.post(thread, "Who?", headers=headers)).ok


async def test_of_what_was_sent_only_a_keyed_digest_is_kept_next_to_the_key(
    talker: Talker,
) -> None:
    body = b'{"messages":["One?"]}'
    await talker.send("POST", THREADS, body, headers=once("a-key-that-is-looked-for"))
    ((kept,),) = talker.rows(
        "SELECT fingerprint FROM idempotency WHERE key = 'a-key-that-is-looked-for'"
    )
    request = f"POST {THREADS}\n".encode() + body
    assert len(kept) == 32
    assert kept not in {hashlib.sha256(said).digest() for said in (body, request)}


async def test_a_key_is_remembered_for_a_day_also_over_a_restart(tmp_path: Path) -> None:
    headers, clock = once(), Clock()
    async with talking(tmp_path, clock=clock) as talker:
        opened = await talker.open("One?", headers=headers, wait=SECONDS)
    clock.advance(23 * 3600)
    async with talking(tmp_path, clock=clock) as talker:
        replay = await talker.open("One?", headers=headers, wait=SECONDS)
        assert replay.id == opened.id
        assert replay.ok["replies"] == opened.ok["replies"]
    clock.advance(2 * 3600)
    async with talking(tmp_path, clock=clock) as talker:
        assert (await talker.open("One?", headers=headers)).id != opened.id
