"""Serves A2A over plain HTTP, with an address for each operation.

Source: A2A 1.0, section 11; A2A 0.3, section 3.5.3 (below ``/v1``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.a2a import service as handling
from aitp_desk.protocols.a2a.card import AgentCards
from aitp_desk.protocols.a2a.dialect import Dialect, check_version
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.requests_wire import read_push, read_send
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter
from aitp_desk.protocols.base.protocol import EVENT_STREAM, JSON, Call, Reply, Route
from aitp_desk.protocols.base.sse import UNBUFFERED

A2A_JSON = "application/a2a+json"
_encode = msgspec.json.encode
Operation = Callable[["RestHandlers", Desk, Call], Awaitable[Reply]]


class RestHandlers:
    """Serves the operations in one form.

    Parameters:
        below: the address of the desk, without a trailing slash.
    """

    def __init__(self, dialect: Dialect, cards: AgentCards, below: str) -> None:
        self._dialect = dialect
        self._cards = cards
        self._words = TaskWriter(dialect, below)

    async def send(self, desk: Desk, call: Call) -> Reply:
        """``POST message:send``."""
        params = read_send(self._body(call), self._dialect)
        task = await handling.send_message(desk, call, params)
        return _reply(call, self._words.task_event(task, params.history_length))

    async def stream(self, desk: Desk, call: Call) -> Reply:
        """``POST message:stream``."""
        params = read_send(self._body(call), self._dialect)
        stream = await handling.send_streaming(desk, call, params, self._words, _event)
        return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)

    async def get(self, desk: Desk, call: Call) -> Reply:
        """``GET tasks/{id}``."""
        self._check(call)
        length = ObjectReader(dict(call.query)).get_count("historyLength")
        task = await desk.tasks.get_task(call.principal, call.params["task_id"])
        return _reply(call, self._words.task(task, length))

    async def list(self, desk: Desk, call: Call) -> Reply:
        """``GET tasks``."""
        self._check(call)
        query = ObjectReader(dict(call.query))
        return _reply(call, await handling.list_tasks(desk, call, query, self._words))

    async def cancel(self, desk: Desk, call: Call) -> Reply:
        """``POST tasks/{id}:cancel``."""
        self._check(call)
        task = await desk.tasks.cancel_task(call.principal, call.params["task_id"])
        return _reply(call, self._words.task(task))

    async def subscribe(self, desk: Desk, call: Call) -> Reply:
        """``POST tasks/{id}:subscribe``, and GET."""
        self._check(call)
        task_id = call.params["task_id"]
        stream = await handling.subscribe(desk, call, task_id, self._words, _event)
        return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)

    async def set_push(self, desk: Desk, call: Call) -> Reply:
        """``POST tasks/{id}/pushNotificationConfigs``."""
        config = ObjectReader(self._body(call))
        if self._dialect is not Dialect.V1 and "config" in config:
            config = config.get_object("config").get_object("pushNotificationConfig")
        push = read_push(config, self._dialect, call.params["task_id"])
        kept = await desk.task_receivers.set_receiver(call.principal, push, call.mark)
        return _reply(call, self._words.push(kept))

    async def list_pushes(self, desk: Desk, call: Call) -> Reply:
        """``GET tasks/{id}/pushNotificationConfigs``."""
        self._check(call)
        pushes = await desk.task_receivers.list_receivers(call.principal, call.params["task_id"])
        return _reply(call, {"configs": [self._words.push(push) for push in pushes]})

    async def get_push(self, desk: Desk, call: Call) -> Reply:
        """``GET tasks/{id}/pushNotificationConfigs/{push_id}``."""
        self._check(call)
        task_id, push_id = call.params["task_id"], call.params["push_id"]
        return _reply(
            call, self._words.push(await handling.find_push(desk, call, task_id, push_id))
        )

    async def delete_push(self, desk: Desk, call: Call) -> Reply:
        """``DELETE tasks/{id}/pushNotificationConfigs/{push_id}``."""
        self._check(call)
        task_id, push_id = call.params["task_id"], call.params["push_id"]
        await desk.task_receivers.delete_receiver(call.principal, task_id, push_id)
        return _reply(call, {})

    async def card(self, desk: Desk, call: Call) -> Reply:
        """``GET extendedAgentCard``, in 0.3 ``GET card``."""
        self._check(call)
        return _reply(call, self._cards.get_extended(desk, call.principal, self._dialect))

    def routes(
        self, path: str, max_body: int, max_body_for: Callable[[Desk, Principal], int]
    ) -> tuple[Route, ...]:
        """Return the routes.

        Parameters:
            path: their base path.
            max_body: the most bytes of a message with its files.
            max_body_for: the same for one caller.
        """
        task = f"{path}/tasks/{{task_id}}"
        pushes = f"{task}/pushNotificationConfigs"
        push = f"{pushes}/{{push_id}}"
        streams = (EVENT_STREAM, JSON)
        is_newest = self._dialect is Dialect.V1
        card = "extendedAgentCard" if is_newest else "card"
        post = partial(
            Route, "POST", counted="converse", max_body=max_body, max_body_for=max_body_for
        )
        routes = [
            post(f"{path}/message:send", self.send),
            post(f"{path}/message:stream", self.stream),
            post(f"{task}:cancel", self.cancel),
            post(f"{task}:subscribe", self.subscribe),
            Route("GET", f"{task}:subscribe", self.subscribe, "static", gives=streams),
            Route("GET", task, self.get, "static"),
            post(pushes, self.set_push),
            Route("GET", pushes, self.list_pushes, "static"),
            Route("GET", push, self.get_push, "static"),
            Route("DELETE", push, self.delete_push, "converse"),
            Route("GET", f"{path}/{card}", self.card, "static"),
        ]
        if is_newest:
            routes.append(Route("GET", f"{path}/tasks", self.list, "static"))
        return tuple(routes)

    def _check(self, call: Call) -> None:
        check_version(call.headers, call.query, self._dialect.version)

    def _body(self, call: Call) -> Any:
        self._check(call)
        return decode_json(call.body)


def _reply(call: Call, body: Any) -> Reply:
    """Return a response in the named media type, else the protocol's own."""
    accepted = call.get_list_header("Accept").lower()
    is_plain = JSON in accepted and A2A_JSON not in accepted
    return Reply(200, _encode(body), JSON if is_plain else A2A_JSON)


def _event(body: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(body)
