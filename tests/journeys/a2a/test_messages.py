"""What is sent over A2A: it keeps nobody waiting for people, counts once, and is refused whole."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils import errors as sdk_errors

from aitp_desk.agent.base import Answer
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.calls.action import Action, Safety
from tests.journeys.a2a.test_calls import echo
from tests.support.access.audit_log import somebody
from tests.support.clients.a2a import calling, said, send, state, tasking
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock, PacedAgent
from tests.support.sites.actions import offering

QUESTION = "How long do returns take?"
GIVEN_UP = 10
"""Seconds after which a client would have given up, far below the 20 that the protocol may take."""


def offers() -> tuple[Any, ...]:
    grave = Safety(mutability="irreversible", blast_radius="self")
    return (
        offering(Action("say", "Says it again."), echo),
        offering(
            Action(
                "refund",
                "Pays money back.",
                "async",
                open_to="actions",
                safety=grave,
                approval="always",
            ),
            echo,
        ),
    )


async def over_http(talker: Talker, key: str, *parts: Any, **more: Any) -> Any:
    """Send a message over plain HTTP with an idempotency key."""
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": parts, **more}
    headers = [("A2A-Version", "1.0"), ("Accept", "application/json"), ("Idempotency-Key", key)]
    return await talker.send("POST", "/a2a/message:send", {"message": message}, headers=headers)


async def test_nobody_waits_for_a_person_who_is_to_approve_a_call(tmp_path: Path) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        key = (await talker.with_key("actions")).key
        async with tasking(talker.desk, key=key) as client, asyncio.timeout(GIVEN_UP):
            task = await send(client, calling("refund", words="x", _confirm=True))
            assert (state(task), said(task)) == ("working", "Waiting for approval.")


@pytest.mark.slow
async def test_who_follows_a_call_hears_at_once_that_a_person_declined_it(tmp_path: Path) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        key = (await talker.with_key("actions")).key
        async with (
            tasking(talker.desk, key=key) as client,
            tasking(talker.desk, key=key, streams=True) as follower,
            asyncio.timeout(GIVEN_UP),
        ):
            task = await send(client, calling("refund", words="x", _confirm=True))
            told = follower.subscribe(a2a_pb2.SubscribeToTaskRequest(id=task.id))
            assert (await anext(told)).task.id == task.id
            ((ticket,),) = talker.rows("SELECT id FROM tickets")
            people = EscalationService(talker.desk.store, time.time)
            await people.decline(ticket, "Not this one.", "anna", somebody())
            last = [event async for event in told][-1].status_update
            assert last.status.state == a2a_pb2.TASK_STATE_FAILED
            assert "Not this one." in str(last.status.message)


async def test_nobody_is_kept_waiting_longer_than_clients_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.protocols.a2a.service.MAX_WAIT", 0.1)
    agent = PacedAgent()
    async with (
        talking(tmp_path, "threads.max_wait=60", agent=agent) as talker,
        tasking(talker.desk) as client,
        asyncio.timeout(GIVEN_UP),
    ):
        task = await send(client, QUESTION)
        assert state(task) in ("submitted", "working")
        agent.say(Answer("Two weeks."))


@pytest.mark.parametrize("part", [{"text": QUESTION}, calling("say", words="x")])
async def test_a_repeat_returns_the_first_task(tmp_path: Path, part: dict[str, Any]) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        caller = await talker.with_key("threads", "actions")
        first, again = [(await over_http(caller, "once", part)).body["task"] for _ in range(2)]
        assert again == first
        assert first["status"]["state"] == "TASK_STATE_COMPLETED"
        for table in ("threads", "tasks", "task_turns"):
            assert talker.rows(f"SELECT count(*) FROM {table}") == [(1,)], table
        other = {"text": "Something else."} if "text" in part else calling("say", words="y")
        refused = await over_http(caller, "once", other)
        assert (refused.status, "Use a new key" in json.dumps(refused.body)) == (400, True)
        assert talker.rows("SELECT count(*) FROM threads") == [(1,)]


async def test_what_is_refused_leaves_no_file_and_no_question(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner = await talker.with_key("threads", "actions")
        async with tasking(talker.desk, key=owner.key) as client:
            over = await send(client, QUESTION)
            before = talker.rows("SELECT count(*) FROM messages")
            file = {"raw": base64.b64encode(b"Hello.").decode(), "mediaType": "text/plain"}
            capability = calling("content_search", query=QUESTION)
            elsewhere = {"taskPushNotificationConfig": {"url": "http://127.0.0.1:1/"}}
            for part in (file, capability):
                with pytest.raises(sdk_errors.UnsupportedOperationError):
                    await send(client, part, task_id=over.id)
                with pytest.raises(sdk_errors.InvalidParamsError, match="sends no notifications"):
                    await send(client, part, configuration=elsewhere)
                with pytest.raises(sdk_errors.InvalidParamsError, match="Leave contextId out"):
                    await send(client, part, context_id="session_of_nobody")
        await talker.desk.store.settled()
        assert talker.rows("SELECT count(*) FROM files") == [(0,)]
        assert talker.rows("SELECT count(*) FROM messages") == before


async def test_a_call_that_is_refused_opens_no_thread(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        caller = await talker.with_key("threads", "actions")
        unknown = {"data": {"action": "fly"}}
        asked = {"data": {"action": "content_search", "arguments": []}}
        for n, part in enumerate((unknown, asked)):
            assert (await over_http(caller, f"key {n}", part)).status == 400, part
        assert talker.rows("SELECT count(*) FROM threads") == [(0,)]


async def test_a_task_that_has_moved_since_is_listed_however_long_ago_it_was_asked(
    tmp_path: Path,
) -> None:
    clock, agent = Clock(), PacedAgent()
    async with talking(tmp_path, clock=clock, agent=agent) as talker:
        key = (await talker.with_key()).key
        async with tasking(talker.desk, key=key) as client:
            task = await send(client, QUESTION, configuration={"returnImmediately": True})
            clock.advance(60)
            agent.say(Answer("Two weeks."))
            while state(task) != "completed":
                await talker.desk.store.settled()
                task = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id))
            since = a2a_pb2.ListTasksRequest(status_timestamp_after=task.status.timestamp)
            assert [one.id for one in (await client.list_tasks(since)).tasks] == [task.id]
            clock.advance(60)
            later = a2a_pb2.ListTasksRequest()
            later.status_timestamp_after.FromSeconds(int(clock()))
            assert not (await client.list_tasks(later)).tasks


async def test_bytes_that_are_no_base64_are_refused(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner = await talker.with_key()
        for raw in ("SGVs!bG8u", "SGVs bG8u", "&&&&", "a"):
            part = {"raw": raw, "mediaType": "text/plain", "filename": "a.txt"}
            told = await over_http(owner, f"key {raw}", part)
            assert (told.status, "base64" in json.dumps(told.body)) == (400, True), raw


async def test_the_card_says_what_a_call_of_a_skill_returns(tmp_path: Path) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        key = (await talker.with_key("actions")).key
        async with tasking(talker.desk, key=key) as client:
            card = await client.get_extended_agent_card(a2a_pb2.GetExtendedAgentCardRequest())
        told = {skill.id: skill.description for skill in card.skills}
        assert told["refund"].startswith("Pays money back. It cannot be undone.")
        assert "approve" in told["refund"]
        assert "undone" not in told["content_search"]


@pytest.mark.parametrize("is_served", [True, False])
async def test_the_card_names_only_documents_that_are_served(
    tmp_path: Path, is_served: bool
) -> None:
    async with talking(tmp_path, f"rest.enabled={str(is_served).lower()}") as talker:
        card = (await talker.send("GET", "/.well-known/agent-card.json")).body
        assert card.get("documentationUrl") == (f"{talker.desk.url}/docs" if is_served else None)
        async with talker.http.get("/docs") as response:
            assert response.status == (200 if is_served else 404)
