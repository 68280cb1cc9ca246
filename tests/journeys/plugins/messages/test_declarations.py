"""Nobody is given a structured message who has not declared its capability, by whichever door."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Delta
from tests.support.clients.a2a import request, send, tasking
from tests.support.clients.event_stream import Heard, following
from tests.support.clients.hac import face
from tests.support.clients.mcp import tool_user
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent
from tests.support.doubles.callback_receiver import receiving
from tests.support.plugins.decisions import SIZE

SLUG = "aitp.dev/requests"
SELLER = "https://seller.example"
MARKS = ("$schema", "request_decision")
BETA = ("OpenAI-Beta", "assistants=v2")
STRUCTURED = json.dumps({"$schema": SLUG, "request_decision": {**SIZE, "id": "agents"}})
WORDS = "Size?\n1. S\n2. m\nReply 1 or 2."


async def structured(_turn: Any) -> Answer:
    """An agent that says nothing in words."""
    return Answer(STRUCTURED)


def part(**message: Any) -> str:
    return json.dumps({"$schema": SLUG, **message})


def reads_words(told: Any) -> str:
    """What was told, after a look that none of it is structured."""
    text = told.decode() if isinstance(told, bytes) else json.dumps(told)
    assert not any(mark in text for mark in MARKS), text
    return text


async def talked(desk: Talker) -> tuple[Talker, Talker, str, str]:
    """A guest who has declared nothing, a seller who has, their thread, and a run of the desk's."""
    guest, seller = await desk.with_key("threads"), await desk.with_key("threads")
    thread = (await guest.open()).id
    assert seller.key is not None
    joining = {
        "id": SELLER,
        "principal": f"key:{seller.key.split('_')[1]}",
        "capabilities": [{"schema": SLUG}],
    }
    assert (await guest.send("POST", f"{THREADS}/{thread}/actors", joining)).ok
    assert (await seller.post(thread, part(request_decision=SIZE))).status == 200
    decided = part(decision={"options": [{"id": "s"}]})
    answered = await guest.post(thread, decided)
    assert answered.ok["content"] == ["Chosen: S."]
    replied = (await guest.post(thread, "And you?", wait=5)).ok
    reads_words(replied)
    assert replied["replies"][0]["content"] == [WORDS]
    return guest, seller, thread, replied["run"]["id"]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Talker]:
    agent = ScriptedAgent(structured)
    async with talking(tmp_path, "capabilities.requests={}", agent=agent) as talker:
        yield talker


async def test_not_by_threads_messages_and_runs(desk: Talker) -> None:
    guest, seller, thread, run = await talked(desk)
    at = f"{THREADS}/{thread}"
    for path in (
        at,
        f"{at}/messages",
        f"{at}/messages?order=asc&limit=2",
        f"{at}/messages?run_id={run}",
        f"{at}/runs",
        f"{at}/runs/{run}",
        f"{at}/runs/{run}/steps",
        f"{at}/requests",
    ):
        for headers in ((), (BETA,)):
            reads_words((await guest.send("GET", path, headers=headers)).ok)
        reads_words((await face(guest, "GET", path)).raw)
    steps = (await guest.send("GET", f"{at}/runs/{run}/steps")).ok["data"]
    reads_words((await guest.send("GET", f"{at}/runs/{run}/steps/{steps[0]['id']}")).ok)
    for message in (await guest.messages(thread)).ok["data"]:
        reads_words((await guest.send("GET", f"{at}/messages/{message['id']}")).ok)
    noted = (await guest.messages(thread, "?order=asc")).ok["data"][1]["id"]
    body = {"metadata": {"seen": "yes"}}
    reads_words((await guest.send("POST", f"{at}/messages/{noted}", body)).ok)
    assert (await seller.texts(thread))[0].startswith("{"), "who has declared it is given it"


async def test_not_where_a_thread_is_opened_forked_or_shared(desk: Talker) -> None:
    guest, _, thread, _ = await talked(desk)
    opened = await guest.open(part(request_decision=SIZE), wait=5)
    reads_words(opened.ok)
    forked = await guest.open(metadata={"parent_id": thread})
    reads_words(forked.ok)
    reads_words((await guest.messages(forked.id)).ok)
    sharing = {"link": True, "may": "read"}
    link = (await guest.send("POST", f"{THREADS}/{thread}/grants", sharing)).ok["secret"]
    reader = desk.with_link(link)
    reads_words((await reader.read(thread)).ok)
    reads_words((await reader.messages(thread)).ok)


@pytest.mark.parametrize("headers", [(), (BETA,)])
async def test_not_by_the_events_of_a_thread(desk: Talker, headers: Any) -> None:
    guest, seller, thread, _ = await talked(desk)
    for who, is_told_words in ((guest, True), (seller, False)):
        async with following(who, thread, headers=[("Last-Event-ID", "0"), *headers]) as listener:
            heard: list[Heard] = []
            for _ in range(4):
                heard += await listener.until_named("message.created")
        text = json.dumps([one.data for one in heard])
        assert any(mark in text for mark in MARKS) is not is_told_words


async def test_not_piece_by_piece_while_it_is_being_said(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, "capabilities.requests={}", agent=agent) as talker:
        guest = await talker.with_key("threads")
        thread = (await guest.open()).id
        async with following(guest, thread) as listener:
            await guest.post(thread, "Which?")
            await agent.asked.get()
            agent.say(Delta(STRUCTURED[:9]), Delta(STRUCTURED[9:]), Answer(STRUCTURED))
            heard = await listener.until_named("run.completed")
            text = reads_words([one.data for one in heard])
            assert json.dumps(WORDS)[1:-1] in text
            await guest.post(thread, "When?")
            await agent.asked.get()
            agent.say(Delta("At "), Delta("nine."), Answer("At nine."))
            heard = await listener.until_named("run.completed")
            assert any("delta" in one.name for one in heard), "words are told as they come"


async def test_not_by_the_stream_of_a_run(desk: Talker) -> None:
    guest, _, thread, _ = await talked(desk)
    body = json.dumps({"assistant_id": "desk", "stream": True}).encode()
    headers = [*guest.credentials, BETA, ("Content-Type", "application/json")]
    path = f"{THREADS}/{thread}/runs"
    async with guest.http.post(path, data=body, headers=headers) as response:
        assert response.status == 200
        told = reads_words(await response.read())
    assert "thread.message.completed" in told
    assert "Reply 1 or 2." in told


@pytest.mark.slow
async def test_not_in_sessions_tasks_tools_and_pushes(tmp_path: Path) -> None:
    settings = ("capabilities.requests={}", "egress.allow_loopback=true")
    agent = ScriptedAgent(structured)
    async with receiving() as receiver, talking(tmp_path, *settings, agent=agent) as desk:
        guest, _, thread, _ = await talked(desk)
        question = {"ahp": "0.1", "capability": "content_search", "query": "And now?"}
        told = await guest.send("POST", "/agent/converse", {**question, "session_id": thread})
        assert "Reply 1 or 2." in reads_words(told.ok)
        async with tool_user(desk.desk.url, "auto", guest.key) as client:
            arguments = {"query": "And now?", "session_id": thread}
            result = await client.call_tool("content_search", arguments)
            assert "Reply 1 or 2." in reads_words(result.model_dump_json().encode())
        for binding in ("JSONRPC", "HTTP+JSON"):
            async with tasking(desk.desk, binding, key=guest.key) as client:
                task = await send(client, "Now?", contextId=thread)
                assert "Reply 1 or 2." in reads_words(str(task).encode())
            async with tasking(desk.desk, binding, key=guest.key, streams=True) as client:
                sent = request("Now?", contextId=thread)
                events = [str(one) async for one in client.send_message(sent)]
                assert "Reply 1 or 2." in reads_words("".join(events).encode())
        push = {"taskPushNotificationConfig": {"url": receiver.url}, "returnImmediately": True}
        async with tasking(desk.desk, key=guest.key) as client:
            await send(client, "Now?", contextId=thread, configuration=push)
            await receiver.told(1)
        assert "Reply 1 or 2." in reads_words(receiver.got[0].body)
