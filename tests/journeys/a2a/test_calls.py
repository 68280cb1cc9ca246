"""Actions called over A2A by a data part, and the state of the task for each outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2
from a2a.utils import errors as sdk_errors
from google.protobuf.json_format import MessageToDict

from aitp_desk.actions.base import OfferedAction
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.errors import PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from tests.support.clients.a2a import Binding, calling, request, said, send, state, tasking
from tests.support.clients.threads import talking
from tests.support.sites.actions import offering

every_form = pytest.mark.parametrize(
    ("binding", "version"),
    [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")],
)


async def echo(caller: str, arguments: Mapping[str, Any]) -> str:
    return f"{caller} said {arguments.get('words')}"


async def sold_out(_caller: str, _arguments: Mapping[str, Any]) -> str:
    raise PreconditionFailed("It is sold out.", param="in_stock")


async def late(_caller: str, _arguments: Mapping[str, Any]) -> str:
    raise Unavailable("It did not end in time.", retry_after=3)


def offers() -> tuple[OfferedAction, ...]:
    changing = Safety(mutability="reversible")
    return (
        offering(Action("say", "Says it again."), echo),
        offering(Action("order", "Orders.", "action", open_to="actions", safety=changing), echo),
        offering(Action("lamp", "Sells a lamp.", "action"), sold_out),
        offering(Action("slow", "Takes long."), late),
        offering(
            Action("pay", "Costs something.", "action", cost=Money(Decimal("29.99"), "EUR")), echo
        ),
        offering(Action("send", "Goes on by itself.", "async", open_to="actions"), echo),
    )


def data(task: a2a_pb2.Task) -> Any:
    """The data that a task has given, or that comes with what it asks."""
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    found = [MessageToDict(part) for part in [*parts, *task.status.message.parts]]
    return next(part["data"] for part in found if "data" in part)


@every_form
async def test_each_outcome_of_a_call_is_a_state(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        buyer = await talker.with_key("actions")
        async with (
            tasking(talker.desk, binding, version=version) as nobody,
            tasking(talker.desk, binding, version=version, key=buyer.key) as client,
        ):
            done = await send(nobody, calling("say", words="Hello."))
            assert (state(done), said(done)) == ("completed", "anonymous said Hello.")
            asked = MessageToDict(done.history[0].parts[0])["data"]
            assert asked == {"action": "say", "arguments": {"words": "Hello."}}
            assert (await nobody.get_task(a2a_pb2.GetTaskRequest(id=done.id))) == done

            refused = await send(nobody, calling("order", words="One."))
            assert state(refused) == "auth_required"
            assert "actions:order" in said(refused)
            assert state(await send(client, calling("order", words="One."))) == "completed"

            failed = await send(client, calling("lamp"))
            assert (state(failed), said(failed)) == ("failed", "It is sold out.")
            assert data(failed)["code"] == "precondition_failed"
            assert await client.get_task(a2a_pb2.GetTaskRequest(id=failed.id)) == failed
            cut = await send(client, calling("slow"))
            assert (state(cut), said(cut)) == ("failed", "It did not end in time.")

            asks = await send(client, calling("pay"))
            assert (state(asks), data(asks)["code"]) == ("input_required", "consent_needed")
            price = data(asks)["price"]
            assert price == {"amount": "29.99", "currency": "EUR"}
            paid = await send(client, calling("pay", _confirm=price), task_id=asks.id)
            assert (paid.id, state(paid)) == (asks.id, "completed")

            with pytest.raises(sdk_errors.A2AError, match="no action named"):
                await send(client, calling("fly"))
            with pytest.raises(sdk_errors.A2AError, match="`action` is required next to"):
                await send(client, {"data": {"name": "say", "arguments": {"words": "Hello."}}})
            with pytest.raises(sdk_errors.A2AError, match="_confirm"):
                await send(client, calling("pay", _confirm="yes"))


@every_form
async def test_what_goes_on_by_itself_is_waited_for_and_followed(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async with talking(tmp_path, actions=offers()) as talker:
        key = (await talker.with_key("actions")).key
        async with tasking(talker.desk, binding, version=version, key=key) as client:
            task = await send(client, calling("send", words="Hello."))
            assert state(task) == "completed"
            assert "said Hello." in said(task)
        async with tasking(talker.desk, binding, version=version, key=key, streams=True) as client:
            async with asyncio.timeout(60):
                sent = request(calling("send", words="Hello."))
                told = [event async for event in client.send_message(sent)]
            assert told[0].HasField("task")
            last = told[-1].status_update if len(told) > 1 else told[-1].task
            assert last.status.state == a2a_pb2.TASK_STATE_COMPLETED


async def test_a_task_is_there_before_what_it_calls_is_carried_out(tmp_path: Path) -> None:
    running, may_end = asyncio.Event(), asyncio.Event()

    async def bake(_caller: str, _arguments: Mapping[str, Any]) -> str:
        running.set()
        await may_end.wait()
        return "Baked."

    offers = (offering(Action("bake", "Bakes.", "action", open_to="actions"), bake),)
    async with talking(tmp_path, actions=offers) as talker:
        baker = await talker.with_key("actions")
        async with tasking(talker.desk, key=baker.key) as client:
            sending = asyncio.create_task(send(client, calling("bake")))
            await running.wait()
            (task,) = (await client.list_tasks(a2a_pb2.ListTasksRequest())).tasks
            assert (state(task), bool(task.context_id)) == ("working", True)
            may_end.set()
            done = await sending
            assert (done.id, done.context_id) == (task.id, task.context_id)
            assert (state(done), said(done)) == ("completed", "Baked.")


@every_form
async def test_the_desks_own_capabilities_are_asked_and_their_context_goes_on(
    tmp_path: Path, binding: Binding, version: str
) -> None:
    async with (
        talking(tmp_path) as talker,
        tasking(talker.desk, binding, version=version) as client,
    ):
        task = await send(client, calling("content_search", query="How long do returns take?"))
        assert state(task) == "completed"
        assert "within 14 days" in said(task)
        more = await send(client, "And shipping?", context_id=task.context_id)
        assert (state(more), more.context_id) == ("completed", task.context_id)
        assert state(await send(client, calling("site_info"))) == "completed"
