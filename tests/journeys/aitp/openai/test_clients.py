"""The OpenAI SDK as programs use it: its plain client, its iterators, raw responses and retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Answer
from aitp_desk.desk.access.site_agents import SITE_AGENT
from tests.support.clients.openai import DEPRECATED, exact, sdk
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = DEPRECATED

POLL = 5
ASKS: Any = [{"role": "user", "content": "What does gift wrapping cost?"}]


@asynccontextmanager
async def retrying(talker: Talker, sent: Callable[[Any], None]) -> AsyncIterator[AsyncOpenAI]:
    """The SDK as it comes, with its retries.

    Parameters:
        sent: told of every request.
    """
    import openai
    from openai import AsyncOpenAI

    async def tell(request: Any) -> None:
        sent(request)

    http = openai.DefaultAsyncHttpxClient(event_hooks={"request": [tell]})
    async with AsyncOpenAI(
        base_url=f"{talker.desk.url}/v1", api_key=talker.key, http_client=http
    ) as client:
        yield client


async def test_the_plain_client_drives_a_desk_from_the_thread_to_its_end(tmp_path: Path) -> None:
    import openai
    from openai import OpenAI

    def drive(talker: Talker) -> None:
        with OpenAI(
            base_url=f"{talker.desk.url}/v1",
            api_key=talker.key,
            max_retries=0,
            _strict_response_validation=True,
        ) as client:
            threads = client.beta.threads
            thread = exact(threads.create(messages=ASKS, metadata={"a": "b"}))
            from tests.support.clients.openai_handlers import EventRecorder

            heard = EventRecorder()
            with threads.runs.create_and_stream(
                thread_id=thread.id, assistant_id=SITE_AGENT, event_handler=heard
            ) as stream:
                stream.until_done()
            (told,) = stream.get_final_messages()
            assert heard.names[0] == "thread.run.created"
            assert heard.names[-2:] == ["thread.run.completed", "end"]
            # who answers by extraction is heard piece by piece as well
            parts = [part.text.value for part in told.content if part.type == "text"]
            assert "".join(heard.deltas) == "".join(parts) != ""
            run = exact(
                threads.runs.create_and_poll(
                    thread_id=thread.id, assistant_id=SITE_AGENT, poll_interval_ms=POLL
                )
            )
            assert next(iter(threads.runs.list(thread.id))) == run
            (step,) = threads.runs.steps.list(run.id, thread_id=thread.id)
            assert exact(step).type == "message_creation"
            raw = threads.runs.with_raw_response.retrieve(run.id, thread_id=thread.id)
            assert (raw.status_code, raw.parse()) == (200, run)
            with threads.messages.with_streaming_response.list(thread.id) as response:
                assert response.parse().data[0].run_id == run.id
            assert exact(threads.delete(thread.id)).deleted
            with pytest.raises(openai.NotFoundError) as gone:
                threads.retrieve(thread.id)
            assert gone.value.code == "thread_not_found"

    async with talking(tmp_path) as desk:
        await asyncio.to_thread(drive, await desk.with_key())


async def test_iterators_end_wherever_they_were_told_to_begin(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            threads = client.beta.threads
            thread = (await threads.create()).id
            said = [
                (await threads.messages.create(thread, role="user", content=f"{n}?")).id
                for n in range(5)
            ]
            ran = [
                (
                    await threads.runs.create_and_poll(
                        thread_id=thread, assistant_id=SITE_AGENT, poll_interval_ms=POLL
                    )
                ).id
                for _ in range(4)
            ]
            lists: tuple[tuple[Callable[..., Any], list[str]], ...] = (
                (lambda **part: threads.messages.list(thread, **part), said),
                (lambda **part: threads.runs.list(thread, **part), ran),
            )
            for listed, ids in lists:
                part: dict[str, Any] = {"limit": 2, "order": "asc"}
                found = [item.id async for item in listed(**part)]
                assert found[: len(ids)] == ids
                # of a page `before` something the SDK asks for what stands between it and that
                assert [item.id async for item in listed(**part, before=ids[3])] == ids[1:3]
                between = await listed(**part, after=ids[0], before=ids[3])
                assert [item.id for item in between.data] == ids[1:3]
            (only,) = [agent.id async for agent in client.beta.assistants.list(limit=1)]
            none = client.beta.assistants.list(after=only, before=only)
            assert [agent.id async for agent in none] == []


async def test_an_update_that_brings_nothing_changes_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            run = await client.beta.threads.create_and_run_poll(
                assistant_id=SITE_AGENT,
                thread={"messages": ASKS},
                metadata={"order": "A-17"},
                poll_interval_ms=POLL,
            )
            runs = client.beta.threads.runs
            assert exact(await runs.update(run.id, thread_id=run.thread_id)) == run
            assert (await talker.send("POST", f"/v1/threads/{run.thread_id}/runs/{run.id}")).ok[
                "metadata"
            ] == {"order": "A-17"}
            cleared = await runs.update(run.id, thread_id=run.thread_id, metadata={})
            assert cleared.metadata == {}


async def test_what_can_never_succeed_is_sent_once(tmp_path: Path) -> None:
    import openai

    sent: list[Any] = []
    async with (
        talking(tmp_path, agent=ScriptedAgent()) as desk,
        retrying(await desk.with_key(), sent.append) as client,
    ):
        threads = client.beta.threads
        key = {"Idempotency-Key": "once"}
        await threads.create(extra_headers=key)
        sent.clear()
        with pytest.raises(openai.ConflictError) as refused:
            await threads.create(metadata={"other": "body"}, extra_headers=key)
        assert refused.value.response.headers["x-should-retry"] == "false"
        with pytest.raises(openai.NotFoundError):
            await threads.runs.create("thread_nobody", assistant_id=SITE_AGENT)
        assert len(sent) == 2


@pytest.mark.slow
async def test_a_start_whose_answer_was_lost_is_repeated_and_starts_one_run(
    tmp_path: Path,
) -> None:
    agent, sent = PacedAgent(), list[Any]()

    def answer_the_repeat(request: Any) -> None:
        sent.append(request)
        if len(sent) == 2:
            agent.say(Answer("Here it is."))

    async with talking(tmp_path, agent=agent) as desk:
        talker = await desk.with_key()
        thread = (await talker.open("Well?", headers=[("OpenAI-Beta", "assistants=v2")])).id
        async with retrying(talker, answer_the_repeat) as client:
            runs = client.beta.threads.runs
            run = await client.with_options(timeout=0.5).beta.threads.runs.create(
                thread,
                assistant_id=SITE_AGENT,
                extra_headers={"Idempotency-Key": "once", "Prefer": "wait=20"},
            )
            assert run.status == "completed"
            assert len(sent) > 1
            assert (await runs.list(thread)).data == [run]


async def test_who_prefers_to_wait_polls_once(tmp_path: Path) -> None:
    sent: list[Any] = []
    async with (
        talking(tmp_path, agent=ScriptedAgent()) as desk,
        retrying(await desk.with_key(), sent.append) as client,
    ):
        run = await client.beta.threads.create_and_run_poll(
            assistant_id=SITE_AGENT,
            thread={"messages": ASKS},
            extra_headers={"Prefer": "wait=20"},
        )
        assert run.status == "completed"
        assert [request.method for request in sent] == ["POST", "GET"]


async def test_a_refusal_says_what_is_wrong_in_the_sdks_own_classes(tmp_path: Path) -> None:
    import openai

    async with talking(
        tmp_path, "limits.enabled=true", "limits.authenticated_per_minute=4", agent=ScriptedAgent()
    ) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            threads = client.beta.threads
            thread = (await threads.create()).id
            picture: Any = [{"type": "image_file", "image_file": {"file_id": "file_1"}}]
            with pytest.raises(openai.BadRequestError, match="Send files as `attachments`") as odd:
                await threads.messages.create(thread, role="user", content=picture)
            assert odd.value.param == "content"
            with pytest.raises(openai.RateLimitError) as limited:
                await asyncio.gather(*(threads.create() for _ in range(4)))
            assert int(limited.value.response.headers["Retry-After"]) > 0
            with pytest.raises(openai.AuthenticationError, match="The credential is not valid"):
                await client.with_options(api_key="desk_nobody").beta.threads.create()
