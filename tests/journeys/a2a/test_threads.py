"""What becomes of A2A's tasks with the threads that they belong to."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils import errors as sdk_errors

from aitp_desk.agent.base import Answer
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import Unavailable
from tests.journeys.a2a.test_calls import echo
from tests.support.access.audit_log import somebody
from tests.support.clients.a2a import calling, said, send, state, tasking
from tests.support.clients.threads import talking
from tests.support.desk.terminal import command
from tests.support.doubles.agent import PacedAgent, ScriptedAgent
from tests.support.doubles.callback_receiver import receiving
from tests.support.sites.actions import offering

QUESTION = "How long do returns take?"


def get(id_: str) -> a2a_pb2.GetTaskRequest:
    return a2a_pb2.GetTaskRequest(id=id_)


async def test_a_task_goes_with_its_thread(tmp_path: Path) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with talking(tmp_path, actions=offers) as talker:
        owner = await talker.with_key()
        async with tasking(talker.desk, key=owner.key) as client:
            task = await send(client, QUESTION)
            call = await send(client, calling("say", words="x"), context_id=task.context_id)
            assert call.context_id == task.context_id
            push = a2a_pb2.TaskPushNotificationConfig(task_id=task.id, url="https://told.example")
            await client.create_task_push_notification_config(push)
            assert (await owner.send("DELETE", f"/v1/threads/{task.context_id}")).status == 200
            for id_ in (task.id, call.id):
                with pytest.raises(sdk_errors.TaskNotFoundError):
                    await client.get_task(get(id_))
            assert not (await client.list_tasks(a2a_pb2.ListTasksRequest())).tasks
        for table in ("tasks", "task_turns", "task_pushes"):
            assert talker.rows(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_a_task_of_a_thread_that_was_claimed_is_its_new_owners(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        owner = await talker.with_key()
        async with (
            tasking(talker.desk) as nobody,
            tasking(talker.desk, key=owner.key) as client,
        ):
            task = await send(nobody, QUESTION)
            claimed = await owner.send("POST", f"/v1/threads/{task.context_id}/claim", {})
            if (
                claimed.status != 200
            ):  # its session is the nobody's; the thread is claimed by its id
                ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
                claimed = await owner.send("POST", f"/v1/threads/{thread}/claim", {})
            assert claimed.status == 200
            with pytest.raises(sdk_errors.TaskNotFoundError):
                await nobody.get_task(get(task.id))
            assert said(await client.get_task(get(task.id))) == said(task)
            listed = (await client.list_tasks(a2a_pb2.ListTasksRequest())).tasks
            assert [one.id for one in listed] == [task.id]


async def test_a_person_who_has_taken_the_thread_over_answers_the_task(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker, tasking(talker.desk) as client:
        first = await send(client, QUESTION)
        ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
        steps = Takeover(talker.desk.store, time.time)
        await steps.take_thread(thread, "anna", somebody())
        task = await send(client, "Is anybody there?", context_id=first.context_id)
        assert state(task) == "working"
        await steps.say(thread, "I am here.", "anna", somebody())
        answered = await client.get_task(get(task.id))
        assert (state(answered), said(answered)) == ("completed", "I am here.")


async def test_what_an_agent_cannot_answer_fails_and_what_comes_too_often_is_rejected(
    tmp_path: Path,
) -> None:
    async def script(_turn: Any) -> Any:
        if len(agent.turns) == 1:
            raise Unavailable("The model cannot be reached now.")
        return Answer("Well.")

    agent = ScriptedAgent(script)
    async with (
        talking(tmp_path, "threads.max_auto_replies=2", agent=agent) as talker,
        tasking(talker.desk) as client,
    ):
        task = await send(client, "Please break.")
        assert (state(task), said(task)) == ("failed", "The model cannot be reached now.")
        context = task.context_id
        assert state(await send(client, "Again.", context_id=context)) == "completed"
        capped = await send(client, "And again.", context_id=context)
        assert state(capped) == "rejected"
        assert "limit of automatic replies" in said(capped)


async def test_what_is_erased_is_in_no_task_any_more(tmp_path: Path) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with (
        talking(tmp_path, actions=offers) as talker,
        tasking(talker.desk) as client,
    ):
        task = await send(client, calling("say", words="my-secret-words"))
        ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
        assert "my-secret-words" in str(talker.rows("SELECT asked FROM task_turns"))
    await asyncio.to_thread(command, "erase", "--thread", thread, "--data", tmp_path / "data")
    async with talking(tmp_path, actions=offers) as talker, tasking(talker.desk) as client:
        assert talker.rows("SELECT asked, said FROM task_turns") == [(None, None)]
        assert "my-secret-words" not in str(talker.rows("SELECT * FROM calls"))
        kept = await client.get_task(get(task.id))
        assert "my-secret-words" not in str(kept)


async def test_an_agent_that_may_call_little_says_nothing_on_threads(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "about.md").write_text("# Wrapping\n\nGift wrapping costs 3 EUR.\n", "utf-8")
    block = '[[agent_limits]]\nname = "narrow"\nactions = ["contact"]\n'
    (site / "desk.toml").write_text(block, "utf-8")
    async with talking(tmp_path, "limits.enabled=true", site=site) as talker:
        narrow = [("User-Agent", "narrow/1.0"), ("A2A-Version", "1.0")]
        plain = [*narrow, ("Accept", "application/json")]
        for part, status in (
            ({"text": "What does wrapping cost?"}, 403),
            (calling("content_search", query="What does wrapping cost?"), 403),
            (calling("contact"), 200),
        ):
            message = {"messageId": "m", "role": "ROLE_USER", "parts": [part]}
            path, body = "/a2a/message:send", {"message": message}
            told = await talker.send("POST", path, body, headers=plain)
            assert told.status == status, part


async def test_a_key_without_threads_has_its_own_tasks_alone(tmp_path: Path) -> None:
    offers = (offering(Action("say", "Says it again."), echo),)
    async with talking(tmp_path, actions=offers) as talker:
        both = await talker.with_key("threads", "actions")
        narrow = await talker.with_key("actions")
        async with (
            tasking(talker.desk, key=both.key) as client,
            tasking(talker.desk, "HTTP+JSON", key=narrow.key) as caller,
        ):
            task = await send(client, QUESTION)
            own = await send(caller, QUESTION)
            call = await send(caller, calling("say", words="x"))
            listed = (await caller.list_tasks(a2a_pb2.ListTasksRequest())).tasks
            assert {one.id for one in listed} == {call.id, own.id}
            counted = await caller.list_tasks(a2a_pb2.ListTasksRequest(page_size=1))
            assert counted.total_size == 2
            await client.create_task_push_notification_config(
                a2a_pb2.TaskPushNotificationConfig(task_id=task.id, url="https://told.example")
            )
            ((narrow_id,),) = talker.rows(f"SELECT owner FROM tasks WHERE id = '{call.id}'")
            grant = {"principal": narrow_id, "may": "write"}
            shared = await both.send("POST", f"/v1/threads/{task.context_id}/grants", grant)
            assert shared.status == 200
            with pytest.raises(Exception, match="No task with this id"):
                await caller.get_task(get(task.id))


@pytest.mark.slow
async def test_a_task_that_was_at_work_when_a_person_came_is_answered_by_that_person(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with (
        receiving() as receiver,
        talking(tmp_path, "egress.allow_loopback=true", agent=agent) as talker,
        tasking(talker.desk) as client,
    ):
        push = {"taskPushNotificationConfig": {"url": receiver.url}, "returnImmediately": True}
        task = await send(client, "A lamp.", configuration=push)
        ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
        steps = Takeover(talker.desk.store, time.time)
        await steps.take_thread(thread, "anna", somebody())
        waits = await client.get_task(get(task.id))
        assert (state(waits), said(waits)) == (
            "working",
            "A person has taken this conversation over.",
        )
        await receiver.told(1)
        await steps.say(thread, "I am here.", "anna", somebody())
        await steps.say(thread, "What is it?", "anna", somebody())
        await receiver.told(2)
        told = [json.loads(one.body)["task"]["status"]["state"] for one in receiver.got]
        assert told == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
        answered = await client.get_task(get(task.id))
        assert (state(answered), said(answered)) == ("completed", "I am here.")
        agent.say(Answer("Too late."))  # so that the desk need not wait for it when it ends


async def test_a_writer_to_a_person_is_notified_of_their_answer_once(tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, "egress.allow_loopback=true") as talker,
        tasking(talker.desk) as client,
    ):
        first = await send(client, QUESTION)
        ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
        steps = Takeover(talker.desk.store, time.time)
        await steps.take_thread(thread, "anna", somebody())
        push = {"taskPushNotificationConfig": {"url": receiver.url}}
        more: dict[str, Any] = {"context_id": first.context_id, "configuration": push}
        task = await send(client, "Is anybody there?", **more)
        assert state(task) == "working"
        await steps.say(thread, "I am here.", "anna", somebody())
        await receiver.told(1)
        told = json.loads(receiver.got[0].body)["task"]
        assert (told["id"], told["status"]["state"]) == (task.id, "TASK_STATE_COMPLETED")
        await steps.say(thread, "Are you?", "anna", somebody())
        assert talker.rows("SELECT count(*) FROM jobs WHERE kind = 'task_push'") == [(1,)]
