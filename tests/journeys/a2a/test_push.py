"""Telling an agent's own server how its tasks go on, until it has taken note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils import errors as sdk_errors

from aitp_desk.agent.base import Answer, Clarification
from tests.journeys.a2a.test_calls import offers
from tests.support.clients.a2a import Binding, calling, send, state, tasking
from tests.support.clients.threads import talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent
from tests.support.doubles.callback_receiver import receiving

EGRESS = "egress.allow_loopback=true"
every_form = pytest.mark.parametrize(
    ("binding", "version"), [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3")]
)


def config(url: str, **members: Any) -> dict[str, Any]:
    push = {
        "url": url,
        "token": "mine",
        "authentication": {"scheme": "Bearer", "credentials": "secret-of-the-receiver"},
        **members,
    }
    return {"taskPushNotificationConfig": push, "returnImmediately": True}


@every_form
async def test_a_registered_receiver_is_notified_when_a_task_rests(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async def script(turn: Any) -> Any:
        asks = turn.pending is None
        return Clarification("Which lamp?", ("red", "blue")) if asks else Answer("Here it is.")

    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS, agent=ScriptedAgent(script)) as talker,
        tasking(talker.desk, binding, version=version) as client,
    ):
        task = await send(client, "A lamp.", configuration=config(receiver.url))
        await receiver.told(1)
        await send(client, "red", task_id=task.id)
        await receiver.told(2)
        first, second = receiver.got
        assert first.headers["x-a2a-notification-token"] == "mine"
        assert first.headers["authorization"] == "Bearer secret-of-the-receiver"
        told = [json.loads(one.body) for one in (first, second)]
        if version == "1.0":
            told = [one["task"] for one in told]
        assert [one["id"] for one in told] == [task.id, task.id]
        states = [one["status"]["state"].lower().replace("-", "_") for one in told]
        assert [one.removeprefix("task_state_") for one in states] == [
            "input_required",
            "completed",
        ]


async def test_a_receiver_that_fails_is_notified_again(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS, agent=agent) as talker,
        tasking(talker.desk) as client,
    ):
        receiver.behave(503)
        await send(client, "A lamp.", configuration=config(receiver.url))
        agent.say(Answer("Here it is."))
        await receiver.told(1)
        kinds = talker.rows("SELECT kind, state, failures FROM jobs")
        while ("task_push", "queued", 1) not in kinds:
            await talker.desk.store.settled()
            kinds = talker.rows("SELECT kind, state, failures FROM jobs")


@every_form
async def test_addresses_are_set_read_listed_and_deleted(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS) as talker,
        tasking(talker.desk, binding, version=version) as client,
    ):
        task = await send(client, "How long do returns take?")
        push = a2a_pb2.TaskPushNotificationConfig(task_id=task.id, id="one", url=receiver.url)
        made = await client.create_task_push_notification_config(push)
        assert (made.id, made.task_id, made.url) == ("one", task.id, receiver.url)
        await receiver.told(1)  # the task rests already
        one = a2a_pb2.GetTaskPushNotificationConfigRequest(task_id=task.id, id="one")
        assert (await client.get_task_push_notification_config(one)).url == receiver.url
        every = a2a_pb2.ListTaskPushNotificationConfigsRequest(task_id=task.id)
        listed = await client.list_task_push_notification_configs(every)
        assert [config.id for config in listed.configs] == ["one"]
        gone = a2a_pb2.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="one")
        await client.delete_task_push_notification_config(gone)
        assert not (await client.list_task_push_notification_configs(every)).configs
        with pytest.raises(sdk_errors.TaskNotFoundError):
            await client.get_task_push_notification_config(one)


async def test_no_notification_goes_to_an_address_that_the_desk_would_not_ask(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path) as talker, tasking(talker.desk) as client:
        for url in ("http://127.0.0.1:1/", "http://site.example/", "no address"):
            with pytest.raises(sdk_errors.InvalidParamsError, match="sends no notifications"):
                await send(client, "A lamp.", configuration=config(url))
        with pytest.raises(sdk_errors.InvalidParamsError, match="printable"):
            await send(client, "A", configuration=config("https://a.example", token="a\nb"))
        assert talker.rows("SELECT count(*) FROM threads") == [(0,)]


async def test_secrets_of_receivers_do_not_stand_in_the_database(tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS) as talker,
        tasking(talker.desk) as client,
    ):
        await send(client, "How long do returns take?", configuration=config(receiver.url))
        await receiver.told(1)
        ((sealed,),) = talker.rows("SELECT sealed FROM task_pushes")
        assert b"secret-of-the-receiver" not in sealed
        assert b"mine" not in sealed


async def test_a_call_that_waits_and_is_then_made_is_reported_twice(tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS, actions=offers()) as talker,
        tasking(talker.desk) as client,
    ):
        task = await send(client, calling("pay"), configuration=config(receiver.url))
        await receiver.told(1)
        price = {"amount": "29.99", "currency": "EUR"}
        paid = await send(client, calling("pay", _confirm=price), task_id=task.id)
        assert (paid.id, state(paid)) == (task.id, "completed")
        await receiver.told(2)
        states = [json.loads(one.body)["task"]["status"]["state"] for one in receiver.got]
        assert states == ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]


async def test_a_call_that_runs_in_the_background_is_reported_at_its_end(tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        talking(tmp_path, EGRESS, actions=offers()) as talker,
    ):
        key = (await talker.with_key("actions")).key
        async with tasking(talker.desk, key=key) as client:
            sent = calling("send", words="Hello.")
            task = await send(client, sent, configuration=config(receiver.url))
            await receiver.told(1)
            told = json.loads(receiver.got[-1].body)["task"]
            assert (told["id"], told["status"]["state"]) == (task.id, "TASK_STATE_COMPLETED")
