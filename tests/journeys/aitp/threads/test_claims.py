"""A signed-in caller claims a thread that was opened without a credential."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer
from aitp_desk.model.calls.action import Action
from tests.support.clients.ahp import Visitor
from tests.support.clients.event_stream import following
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import PacedAgent
from tests.support.sites.actions import offering

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOT_FOUND = (404, "thread_not_found", "thread_id")
NOBODYS = "thread_" + "0" * 36


async def claim(who: Talker, thread_id: str) -> Told:
    return await who.send("POST", f"{THREADS}/{thread_id}/claim")


async def take(who: Talker, thread_id: str) -> Any:
    return (await claim(who, thread_id)).ok


async def test_after_a_claim_the_id_alone_opens_nothing(talker: Talker) -> None:
    aya, ben, operator = [
        await talker.with_key(scope) for scope in ("threads", "threads", "operator")
    ]
    thread = (await talker.open("Mine?", wait=10)).id
    claimed = await take(aya, thread)
    assert claimed == (await aya.read(thread)).ok
    assert await aya.texts(thread) == await operator.texts(thread)
    for who in (talker, ben):
        assert (await who.read(thread)).refusal == NOT_FOUND
        assert (await who.post(thread, "Still here?")).refusal == NOT_FOUND
    assert (await aya.post(thread, "Now mine.", wait=10)).ok["replies"]


async def test_a_second_claim_is_the_owners_and_to_others_there_is_no_such_thread(
    talker: Talker,
) -> None:
    aya, ben, operator = [
        await talker.with_key(scope) for scope in ("threads", "threads", "operator")
    ]
    thread = (await talker.open("Mine?", wait=10)).id
    assert (await claim(talker, thread)).refusal == (401, "not_authenticated", None)
    assert (await claim(talker, NOBODYS)).body == (await claim(talker, thread)).body
    first = await take(aya, thread)
    assert (await claim(aya, thread)).ok == first
    assert (await claim(ben, thread)).refusal == NOT_FOUND
    assert (await claim(ben, thread)).body == (await claim(ben, NOBODYS)).body
    assert (await claim(operator, thread)).refusal == (403, "forbidden", "thread_id")
    other = (await talker.open()).id
    without = await talker.with_key("actions")
    assert (await claim(without, other)).refusal[:2] == (403, "forbidden")


async def test_two_claims_at_once_have_one_winner(talker: Talker) -> None:
    both = [await talker.with_key("threads") for _ in range(2)]
    thread = (await talker.open()).id
    told = await asyncio.gather(*(claim(who, thread) for who in both))
    assert sorted(one.status for one in told) == [200, 404]


async def test_streams_of_those_who_held_the_id_end(talker: Talker) -> None:
    aya, partner = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await talker.open("Hello.", wait=10)).id
    actor = {"id": "https://ben.example"}
    assert (await partner.send("POST", f"{THREADS}/{thread}/actors", actor)).ok
    async with (
        following(talker, thread) as visitor,
        following(partner, thread) as present,
        following(aya, thread) as claimer,
    ):
        await take(aya, thread)
        last = (await visitor.rest())[-1]
        assert (last.name, last.data) == (
            "thread.claimed",
            {"id": thread, "object": "thread.claimed"},
        )
        await aya.post(thread, "To us alone.")
        for stays in (claimer, present):
            heard = await stays.until_named("message.created")
            assert heard[-1].data["content"] == ["To us alone."]


async def test_a_streamed_run_of_one_who_held_the_id_ends(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        aya = await talker.with_key("threads")
        thread = (await talker.open("Hello.", headers=[("OpenAI-Beta", "assistants=v2")])).id
        body = {"assistant_id": "desk", "stream": True}
        async with talker.http.post(f"{THREADS}/{thread}/runs", json=body) as response:
            await agent.asked.get()
            await take(aya, thread)
            async with asyncio.timeout(60):
                told = await response.content.read()
        assert b"thread.run.in_progress" in told
        agent.say(Answer("To her alone."))


async def test_a_session_on_it_is_unknown_to_its_starter(
    talker: Talker,
) -> None:
    asking = Visitor(talker.desk, talker.http)
    first = await asking.ask("What is your return policy?")
    thread = await talker.thread_of(first.session_id)
    aya = await talker.with_key("threads")
    await take(aya, thread)
    again = await asking.ask("And for books?", session_id=first.session_id)
    assert again.refusal == (400, "invalid_request", "unknown_session")
    headers = [("Authorization", f"Bearer {aya.key}")]
    goes_on = await asking.ask("And for books?", session_id=first.session_id, headers=headers)
    assert goes_on.session_id == first.session_id


async def test_a_call_on_it_is_shown_to_its_owner_until_it_goes(tmp_path: Path) -> None:
    async def perform(_who: str, _arguments: Mapping[str, Any]) -> str:
        return "It is done."

    action = offering(Action("work", "Takes its time.", kind="async"), perform)
    async with talking(tmp_path, actions=(action,)) as talker:
        asked = {"capability": "work", "query": "Please."}
        accepted = await talker.send("POST", "/agent/converse", asked)
        poll = accepted.body["poll"]
        thread = await talker.thread_of(accepted.body["session_id"])
        async with asyncio.timeout(60):
            while "It is done." not in str((await talker.send("GET", poll)).body):
                await talker.texts(thread)
        aya, ben = await talker.with_key("actions", "threads"), await talker.with_key("threads")
        await take(aya, thread)
        nothing = await talker.send("GET", "/agent/converse/status/session_none")
        assert "It is done." in str((await aya.send("GET", poll)).ok)
        for who in (talker, ben):
            told = await who.send("GET", poll)
            assert (told.status, told.body) == (nothing.status, nothing.body)
        (await aya.send("DELETE", f"{THREADS}/{thread}")).ok  # noqa: B018
        assert (await aya.send("GET", poll)).body == nothing.body


async def test_its_files_are_the_claimers(tmp_path: Path) -> None:
    async with talking(tmp_path, "files.anonymous=true") as talker:
        aya = await talker.with_key("threads")
        file_id = (await talker.upload()).id
        thread = (await talker.open({"content": "See.", "attachments": [{"file_id": file_id}]})).id
        await take(aya, thread)
        for method in ("GET", "DELETE"):
            told = await talker.send(method, f"/v1/files/{file_id}")
            assert told.refusal[:2] == (404, "file_not_found")
        assert (await aya.send("GET", f"/v1/files/{file_id}")).id == file_id


async def test_a_repeat_of_the_call_that_opened_it_tells_nothing(talker: Talker) -> None:
    aya = await talker.with_key("threads")
    headers = [("Idempotency-Key", "claimed-later-" + "0" * 20)]
    opened = await talker.open("Once?", headers=headers)
    assert (await talker.open("Once?", headers=headers)).id == opened.id
    await take(aya, opened.id)
    assert (await talker.open("Once?", headers=headers)).refusal[:2] == (404, "thread_not_found")


async def test_a_claimed_fork_does_not_tell_its_claimer_an_anonymous_parents_id(
    talker: Talker,
) -> None:
    aya = await talker.with_key("threads")
    parent = (await talker.open("Secret.", wait=10)).id
    fork = (await talker.open(metadata={"parent_id": parent})).id
    assert (await claim(aya, fork)).ok["metadata"]["parent_id"] is None
    assert (await aya.read(fork)).ok["metadata"]["parent_id"] is None
    await take(aya, parent)
    assert (await aya.read(fork)).ok["metadata"]["parent_id"] == parent


async def test_a_fork_of_it_keeps_what_was_said_up_to_then(talker: Talker) -> None:
    aya = await talker.with_key("threads")
    parent = (await talker.open("What is your return policy?", wait=10)).id
    fork = (await talker.open(metadata={"parent_id": parent})).id
    await take(aya, parent)
    assert (await talker.read(fork)).ok["metadata"]["parent_id"] is None
    assert (await talker.post(fork, "And for books?", wait=10)).ok["replies"]
    refused = await talker.open(metadata={"parent_id": parent})
    assert refused.refusal == (404, "thread_not_found", "metadata.parent_id")
