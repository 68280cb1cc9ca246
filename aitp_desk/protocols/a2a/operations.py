"""Answers the operations of A2A, whichever transport brings them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.a2a import service as handling
from aitp_desk.protocols.a2a.card import AgentCards
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.requests_wire import read_push, read_send
from aitp_desk.protocols.a2a.stream_wire import Event
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply
from aitp_desk.protocols.base.sse import UNBUFFERED


class A2aRequest(msgspec.Struct, frozen=True):
    """The request for an operation.

    Parameters:
        params: its parameters, under their names in JSON-RPC; None for none.
        words: writes in the form of the request.
        reply: makes the response with a result.
        event: writes one response of a stream.
    """

    desk: Desk
    call: Call
    cards: AgentCards
    params: Any
    words: TaskWriter
    reply: Callable[[Any], Reply]
    event: Event

    @property
    def dialect(self) -> Dialect:
        """The form of the request."""
        return self.words.dialect

    @property
    def members(self) -> ObjectReader:
        """Its parameters."""
        return ObjectReader({} if self.params is None else self.params)


Operation = Callable[[A2aRequest], Awaitable[Reply]]


async def send(asked: A2aRequest) -> Reply:
    """Send a message."""
    params = read_send(asked.params, asked.dialect)
    task = await handling.send_message(asked.desk, asked.call, params)
    return asked.reply(asked.words.task_event(task, params.history_length))


async def stream(asked: A2aRequest) -> Reply:
    """Send a message, and stream its outcome."""
    params = read_send(asked.params, asked.dialect)
    stream = await handling.send_streaming(asked.desk, asked.call, params, asked.words, asked.event)
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def get_task(asked: A2aRequest) -> Reply:
    """Read a task."""
    task_id = asked.members.get_required_text("id")
    length = asked.members.get_count("historyLength")
    task = await asked.desk.tasks.get_task(asked.call.principal, task_id)
    return asked.reply(asked.words.task(task, length))


async def list_tasks(asked: A2aRequest) -> Reply:
    """List the caller's tasks."""
    tasks = await handling.list_tasks(asked.desk, asked.call, asked.members, asked.words)
    return asked.reply(tasks)


async def cancel_task(asked: A2aRequest) -> Reply:
    """Cancel a task."""
    task_id = asked.members.get_required_text("id")
    return asked.reply(
        asked.words.task(await asked.desk.tasks.cancel_task(asked.call.principal, task_id))
    )


async def subscribe(asked: A2aRequest) -> Reply:
    """Follow a task from now on."""
    task_id = asked.members.get_required_text("id")
    stream = await handling.subscribe(asked.desk, asked.call, task_id, asked.words, asked.event)
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def set_push(asked: A2aRequest) -> Reply:
    """Set an address for notifications about a task."""
    task_id = asked.members.get_required_text("taskId")
    config = asked.members
    if asked.dialect is Dialect.V03_HTTP and "config" in config:
        config = config.get_object("config").get_object("pushNotificationConfig")
    elif asked.dialect is Dialect.V03:
        config = config.get_object("pushNotificationConfig")
    push = read_push(config, asked.dialect, task_id)
    receivers = asked.desk.task_receivers
    kept = await receivers.set_receiver(asked.call.principal, push, asked.call.mark)
    return asked.reply(asked.words.push(kept))


async def get_push(asked: A2aRequest) -> Reply:
    """Read an address for notifications."""
    push = await handling.find_push(asked.desk, asked.call, *_push_of(asked))
    return asked.reply(asked.words.push(push))


async def list_pushes(asked: A2aRequest) -> Reply:
    """List the addresses for notifications about a task."""
    is_bare = asked.dialect is Dialect.V03
    task_id = asked.members.get_required_text("id" if is_bare else "taskId")
    pushes = await asked.desk.task_receivers.list_receivers(asked.call.principal, task_id)
    told = [asked.words.push(push) for push in pushes]
    return asked.reply(told if is_bare else {"configs": told})


async def delete_push(asked: A2aRequest) -> Reply:
    """Delete an address for notifications."""
    await asked.desk.task_receivers.delete_receiver(asked.call.principal, *_push_of(asked))
    return asked.reply(None if asked.dialect is Dialect.V03 else {})


async def get_extended_card(asked: A2aRequest) -> Reply:
    """Read the card for authenticated callers."""
    return asked.reply(asked.cards.get_extended(asked.desk, asked.call.principal, asked.dialect))


def _push_of(asked: A2aRequest) -> tuple[str, str]:
    """Return the ids of a task and of its notification address."""
    given = asked.members
    if asked.dialect is Dialect.V03:
        return given.get_required_text("id"), given.get_text("pushNotificationConfigId")
    return given.get_required_text("taskId"), given.get_required_text("id")
