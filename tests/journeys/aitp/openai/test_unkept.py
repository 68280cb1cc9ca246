"""``store: false``: nothing of a completion or response stays once it is answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.threads.disposal import KEPT_SECONDS
from tests.support.clients.openai import sdk
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock, ScriptedAgent, call_stock_first

COMPLETIONS, RESPONSES = "/v1/chat/completions", "/v1/responses"
PARAMETERS = {"type": "object"}
each_api = pytest.mark.parametrize("path", [COMPLETIONS, RESPONSES], ids=["chat", "responses"])


def body(path: str, *items: Any, **more: Any) -> dict[str, Any]:
    """A request that calls the caller's function, where the agent does."""
    name = {"name": "stock", "parameters": PARAMETERS}
    if path == COMPLETIONS:
        tools: Any = [{"type": "function", "function": name}]
        return {"model": SITE_AGENT, "messages": list(items), "tools": tools, **more}
    return {
        "model": SITE_AGENT,
        "input": list(items),
        "tools": [{"type": "function", **name}],
        **more,
    }


def thread_of(path: str, told: Any) -> str:
    found: str = (
        told["metadata"]["thread_id"] if path == COMPLETIONS else told["conversation"]["id"]
    )
    return found


def rows_of(talker: Talker, thread: str) -> int:
    """How many of the thread's texts and jobs are in the database."""
    texts = talker.rows(f"SELECT content FROM messages WHERE thread_id = '{thread}'")
    jobs = talker.rows(f"SELECT id FROM jobs WHERE thread_id = '{thread}'")
    return len([text for (text,) in texts if text and text not in ("[]", b"[]")]) + len(jobs)


USER = {"role": "user", "content": "Emma?"}


@each_api
@pytest.mark.parametrize("keeps", [True, False, None])
async def test_a_thread_is_kept_unless_the_caller_does_not_want_it(
    tmp_path: Path, path: str, *, keeps: bool | None
) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as desk:
        talker = await desk.with_key()
        more = {} if keeps is None else {"store": keeps}
        told = (await talker.send("POST", path, body(path, USER, **more))).ok
        assert "asked: Emma?" in str(told)
        thread = thread_of(path, told)
        status = (await talker.read(thread)).status
        assert status == (404 if keeps is False else 200)
        assert (rows_of(talker, thread) == 0) is (keeps is False)
        if path == RESPONSES:
            assert (await talker.send("GET", f"{path}/{told['id']}")).status == status


async def test_a_streamed_answer_is_not_kept_either(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            user: Any = USER
            async with client.chat.completions.stream(
                model=SITE_AGENT, messages=[user], store=False
            ) as chat:
                completion = await chat.get_final_completion()
            async with client.responses.stream(
                model=SITE_AGENT, input="Emma?", store=False
            ) as stream:
                response = await stream.get_final_response()
        assert "asked: Emma?" in str(completion.choices[0].message.content)
        assert "asked: Emma?" in response.output_text
        threads = [one for (one,) in talker.rows("SELECT id FROM threads")]
        assert len(threads) == 2
        async with asyncio.timeout(20):
            for thread in threads:
                while (await talker.read(thread)).status == 200:
                    pass
        assert [rows_of(talker, thread) for thread in threads] == [0, 0]


@each_api
async def test_a_thread_stays_while_its_caller_calls_a_function(tmp_path: Path, path: str) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(call_stock_first)) as desk:
        talker = await desk.with_key()
        first = (await talker.send("POST", path, body(path, USER, store=False))).ok
        thread = thread_of(path, first)
        assert (await talker.read(thread)).status == 200
        if path == COMPLETIONS:
            said = first["choices"][0]["message"]
            (call,) = said["tool_calls"]
            rest = [said, {"role": "tool", "tool_call_id": call["id"], "content": "three"}]
        else:
            (call,) = first["output"]
            output = {"type": "function_call_output", "call_id": call["call_id"], "output": "three"}
            rest = [call, output]
        second = (await talker.send("POST", path, body(path, USER, *rest, store=False))).ok
        assert "Of Emma there are three." in str(second)
        assert (await talker.read(thread)).status == 404


async def test_a_thread_whose_caller_does_not_come_back_is_deleted_later(tmp_path: Path) -> None:
    clock = Clock()
    agent = ScriptedAgent(call_stock_first)
    async with talking(tmp_path, agent=agent, clock=clock) as desk:
        talker = await desk.with_key()
        told = (await talker.send("POST", RESPONSES, body(RESPONSES, USER, store=False))).ok
        thread, key = thread_of(RESPONSES, told), talker.key
    clock.advance(KEPT_SECONDS - 1)
    async with talking(tmp_path, agent=agent, clock=clock) as desk:
        talker = Talker(desk.desk, tmp_path / "data", desk.http, key)
        assert (await talker.read(thread)).status == 200
    clock.advance(1)
    async with talking(tmp_path, agent=agent, clock=clock) as desk:
        talker = Talker(desk.desk, tmp_path / "data", desk.http, key)
        async with asyncio.timeout(20):
            while (await talker.read(thread)).status == 200:
                pass


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"store": "no"}, "store"),
        ({"store": False, "background": True}, "store"),
        ({"store": False, "previous_response_id": "resp_run_1"}, "store"),
        ({"store": False, "conversation": "thread_1"}, "store"),
    ],
)
async def test_what_needs_a_kept_thread_is_refused(
    tmp_path: Path, more: dict[str, Any], param: str
) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as desk:
        talker = await desk.with_key()
        refused = await talker.send("POST", RESPONSES, body(RESPONSES, USER, **more))
        assert (refused.status, refused.refusal[2]) == (400, param)
