"""Agents that speak A2A, by the SDK's own client: sending, following, cancelling, coming back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils import errors as sdk_errors

from aitp_desk.agent.base import Answer, Clarification, Delta
from tests.journeys.a2a.test_calls import offers
from tests.support.clients.a2a import Binding, calling, request, said, send, state, tasking
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent

if TYPE_CHECKING:
    from a2a.client import Client

SHOP = "How long do returns take?"
pytestmark = pytest.mark.asyncio(loop_scope="module")
every_form = pytest.mark.parametrize(
    ("binding", "version"),
    [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")],
)
every_binding = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])


async def events(client: Client, *parts: str, **members: Any) -> list[a2a_pb2.StreamResponse]:
    return [event async for event in client.send_message(request(*parts, **members))]


def kinds(told: list[a2a_pb2.StreamResponse]) -> list[str]:
    return [str(event.WhichOneof("payload")) for event in told]


@every_form
async def test_a_question_is_a_task_that_is_answered(
    talker: Talker, binding: Binding, version: str
) -> None:
    async with tasking(talker.desk, binding, version=version) as client:
        task = await send(client, SHOP)
        assert (state(task), task.id[:5], task.context_id[:8]) == ("completed", "task_", "session_")
        assert "within 14 days" in said(task)
        (asked,) = task.history
        assert (asked.role, asked.parts[0].text) == (a2a_pb2.ROLE_USER, SHOP)
        kept = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id, history_length=0))
        assert said(kept) == said(task)
        assert not kept.history


@every_form
async def test_a_stream_begins_with_the_task_and_ends_where_it_rests(
    talker: Talker, binding: Binding, version: str
) -> None:
    async with tasking(talker.desk, binding, version=version, streams=True) as client:
        told = await events(client, SHOP)
    assert kinds(told) == ["task", "status_update", "artifact_update", "status_update"]
    begun, moved, given, ended = told
    assert state(begun.task) == "submitted"
    assert moved.status_update.status.state == a2a_pb2.TASK_STATE_WORKING
    assert "within 14 days" in given.artifact_update.artifact.parts[0].text
    assert given.artifact_update.last_chunk
    assert ended.status_update.status.state == a2a_pb2.TASK_STATE_COMPLETED
    assert ended.status_update.task_id == begun.task.id


async def test_a_conversation_continues_in_its_context_and_over_other_protocols(
    talker: Talker,
) -> None:
    async with tasking(talker.desk) as client:
        first = await send(client, SHOP)
        second = await send(client, "And shipping?", context_id=first.context_id)
        assert second.context_id == first.context_id
        assert second.id != first.id
    view = await talker.read(first.context_id)
    assert [one["content"][0] for one in view.ok["messages"]][::2] == [SHOP, "And shipping?"]
    posted = await talker.post(first.context_id, "Thank you.", wait=5)
    assert posted.status == 200


@pytest.mark.asyncio(loop_scope="function")
@every_form
async def test_what_the_agent_asks_back_is_answered_in_the_same_task(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async def script(turn: Any) -> Any:
        if turn.pending is None:
            return Clarification("Which lamp?", ("red", "blue"))
        return Answer(f"You said {turn.question} to: {turn.pending.question}")

    async with (
        talking(tmp_path, agent=ScriptedAgent(script)) as talker,
        tasking(talker.desk, binding, version=version) as client,
    ):
        task = await send(client, "A lamp, please.")
        assert state(task) == "input_required"
        assert said(task) == "Which lamp?\n1. red\n2. blue"
        goes_on = await send(client, "red", task_id=task.id)
        assert (goes_on.id, goes_on.context_id) == (task.id, task.context_id)
        assert state(goes_on) == "completed"
        assert said(goes_on) == "You said red to: Which lamp?"
        words = [part.text for message in goes_on.history for part in message.parts]
        assert words == ["A lamp, please.", "Which lamp?\n1. red\n2. blue", "red"]
        with pytest.raises(sdk_errors.UnsupportedOperationError, match="completed"):
            await send(client, "blue", task_id=task.id)


@pytest.mark.asyncio(loop_scope="function")
@every_form
async def test_a_task_is_followed_cancelled_and_not_cancelled_again(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    agent = PacedAgent()
    async with (
        talking(tmp_path, agent=agent) as talker,
        tasking(talker.desk, binding, version=version, polling=True) as client,
        tasking(talker.desk, binding, version=version, streams=True) as follower,
    ):
        task = await send(client, "Something long.")
        assert state(task) in {"submitted", "working"}
        await agent.asked.get()
        told = follower.subscribe(a2a_pb2.SubscribeToTaskRequest(id=task.id))
        begun = await anext(told)
        assert begun.task.id == task.id
        agent.say(Delta("It is "))
        piece = await anext(told)
        while not piece.HasField("artifact_update"):
            piece = await anext(told)
        assert piece.artifact_update.artifact.parts[0].text == "It is "
        ended = await client.cancel_task(a2a_pb2.CancelTaskRequest(id=task.id))
        assert state(ended) == "canceled"
        rest = [event async for event in told]
        assert rest[-1].status_update.status.state == a2a_pb2.TASK_STATE_CANCELED
        with pytest.raises(sdk_errors.TaskNotCancelableError):
            await client.cancel_task(a2a_pb2.CancelTaskRequest(id=task.id))
        with pytest.raises(sdk_errors.UnsupportedOperationError):
            _ = [
                one async for one in follower.subscribe(a2a_pb2.SubscribeToTaskRequest(id=task.id))
            ]


@pytest.mark.asyncio(loop_scope="function")
@every_form
async def test_a_task_that_asks_something_is_cancelled(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async def script(_turn: Any) -> Any:
        return Clarification("Which lamp?", ("red", "blue"))

    async with (
        talking(tmp_path, agent=ScriptedAgent(script), actions=offers()) as talker,
        tasking(talker.desk, binding, version=version) as client,
    ):
        for asks, wants in (("A lamp, please.", "input_required"), *REFUSED_CALLS):
            task = await send(client, asks)
            assert state(task) == wants
            cancel = a2a_pb2.CancelTaskRequest(id=task.id)
            assert state(await client.cancel_task(cancel)) == "canceled"
            kept = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id))
            assert state(kept) == "canceled"
            with pytest.raises(sdk_errors.TaskNotCancelableError):
                await client.cancel_task(cancel)
            with pytest.raises(sdk_errors.UnsupportedOperationError):
                await send(client, "red", task_id=task.id)


REFUSED_CALLS = (
    (calling("pay"), "input_required"),
    (calling("order", words="One."), "auth_required"),
)
"""Calls that are not made as they are, and the state of their tasks."""


@every_form
async def test_anothers_task_is_not_found(talker: Talker, binding: Binding, version: str) -> None:
    aya, ben = await talker.with_key(), await talker.with_key()
    async with (
        tasking(talker.desk, binding, version=version, key=aya.key) as own,
        tasking(talker.desk, binding, version=version, key=ben.key) as other,
    ):
        task = await send(own, SHOP)
        push = a2a_pb2.GetTaskPushNotificationConfigRequest(task_id=task.id, id="none")
        with pytest.raises(sdk_errors.TaskNotFoundError, match="No push notification config"):
            await own.get_task_push_notification_config(push)
        for id_ in (task.id, "task_nobody"):
            with pytest.raises(sdk_errors.TaskNotFoundError):
                await other.get_task(a2a_pb2.GetTaskRequest(id=id_))
            with pytest.raises(sdk_errors.TaskNotFoundError):
                await other.cancel_task(a2a_pb2.CancelTaskRequest(id=id_))
            with pytest.raises(sdk_errors.TaskNotFoundError):
                await send(other, "Go on.", task_id=id_)
        with pytest.raises(sdk_errors.A2AError):
            await send(other, "Go on.", context_id=task.context_id)
        assert (await own.get_task(a2a_pb2.GetTaskRequest(id=task.id))).id == task.id


@every_binding
async def test_tasks_are_listed_a_page_at_a_time_the_newest_first(
    talker: Talker, binding: Binding
) -> None:
    someone = await talker.with_key()
    async with tasking(talker.desk, binding, key=someone.key) as client:
        made = [await send(client, f"{SHOP} {n}") for n in range(3)]
        first = await client.list_tasks(a2a_pb2.ListTasksRequest(page_size=2))
        assert (first.page_size, first.total_size, len(first.tasks)) == (2, 3, 2)
        assert not first.tasks[0].artifacts
        rest = await client.list_tasks(
            a2a_pb2.ListTasksRequest(
                page_size=2, page_token=first.next_page_token, include_artifacts=True
            )
        )
        assert not rest.next_page_token
        assert [*first.tasks, *rest.tasks][-1].artifacts
        listed = {task.id for task in [*first.tasks, *rest.tasks]}
        assert listed == {task.id for task in made}
        of_one = await client.list_tasks(
            a2a_pb2.ListTasksRequest(
                context_id=made[0].context_id, status=a2a_pb2.TASK_STATE_COMPLETED
            )
        )
        assert [task.id for task in of_one.tasks] == [made[0].id]
        none = await client.list_tasks(a2a_pb2.ListTasksRequest(status=a2a_pb2.TASK_STATE_FAILED))
        assert not none.tasks
    async with tasking(talker.desk, binding) as nobody:
        assert not (await nobody.list_tasks(a2a_pb2.ListTasksRequest())).tasks


@pytest.mark.asyncio(loop_scope="function")
async def test_tasks_survive_a_restart(tmp_path: Path) -> None:
    async def script(_turn: Any) -> Any:
        return Clarification("Which lamp?", ("red", "blue"))

    async with (
        talking(tmp_path, agent=ScriptedAgent(script)) as talker,
        tasking(talker.desk) as client,
    ):
        task = await send(client, "A lamp, please.")
    async with talking(tmp_path) as talker, tasking(talker.desk) as client:
        kept = await client.get_task(a2a_pb2.GetTaskRequest(id=task.id))
        assert (state(kept), said(kept)) == ("input_required", said(task))
        assert state(await send(client, SHOP, task_id=task.id)) == "completed"


@every_form
async def test_the_extended_card_is_for_who_is_known(
    talker: Talker, binding: Binding, version: str
) -> None:
    someone = await talker.with_key("actions")
    async with tasking(talker.desk, binding, version=version, key=someone.key) as client:
        card = await client.get_extended_agent_card(a2a_pb2.GetExtendedAgentCardRequest())
        assert {skill.id for skill in card.skills} >= {"site_info", "content_search"}
    async with tasking(talker.desk, binding, version=version) as nobody:
        with pytest.raises(Exception, match=r"401|credential"):
            await nobody.get_extended_agent_card(a2a_pb2.GetExtendedAgentCardRequest())


async def test_the_card_says_where_and_is_asked_for_once(talker: Talker) -> None:
    path = "/.well-known/agent-card.json"
    async with talker.http.get(path) as response:
        card = await response.json()
        headers = response.headers
    assert headers["Cache-Control"] == "public, max-age=300"
    assert headers["Last-Modified"].endswith("GMT")
    spoken = [
        (one["protocolBinding"], one["protocolVersion"]) for one in card["supportedInterfaces"]
    ]
    assert spoken[:2] == [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0")]
    assert card["url"] == card["supportedInterfaces"][0]["url"] == f"{talker.desk.url}/a2a"
    assert all(skill["tags"] and skill["description"] for skill in card["skills"])
    async with talker.http.get(path, headers={"If-None-Match": headers["ETag"]}) as response:
        assert response.status == 304
    assert json.dumps(card).isascii()
