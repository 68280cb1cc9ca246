"""Serves A2A over plain HTTP, with an address for each operation.

Source: A2A 1.0, section 11; A2A 0.3, section 3.5.3 (below ``/v1``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.a2a import operations
from aitp_desk.protocols.a2a.card import AgentCards
from aitp_desk.protocols.a2a.dialect import Dialect, check_version
from aitp_desk.protocols.a2a.operations import A2aRequest, Operation
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter
from aitp_desk.protocols.base.protocol import EVENT_STREAM, JSON, Call, Handler, Reply, Route

A2A_JSON = "application/a2a+json"
_encode = msgspec.json.encode


def make_rest_routes(
    dialect: Dialect,
    cards: AgentCards,
    below: str,
    path: str,
    max_body: int,
    max_body_for: Callable[[Desk, Principal], int],
) -> tuple[Route, ...]:
    """Return the routes of the operations in one form.

    Parameters:
        below: the address of the desk, without a trailing slash.
        path: their base path.
        max_body: the most bytes of a message with its files.
        max_body_for: the same for one caller.
    """
    words = TaskWriter(dialect, below)

    def serve(operation: Operation, *, reads_body: bool = False, **named: str) -> Handler:
        """Return a handler.

        Parameters:
            reads_body: whether the body has the parameters; else the query has.
            named: parameters by the names that the path has for them.
        """

        async def handle(desk: Desk, call: Call) -> Reply:
            check_version(call.headers, call.query, dialect.version)
            given: Any = decode_json(call.body) if reads_body else dict(call.query)
            if isinstance(given, dict):
                given |= {name: call.params[place] for name, place in named.items()}
            reply = partial(_reply, call)
            return await operation(A2aRequest(desk, call, cards, given, words, reply, _event))

        return handle

    task = f"{path}/tasks/{{task_id}}"
    pushes = f"{task}/pushNotificationConfigs"
    push = f"{pushes}/{{push_id}}"
    is_newest = dialect is Dialect.V1
    card = "extendedAgentCard" if is_newest else "card"
    post = partial(Route, "POST", counted="converse", max_body=max_body, max_body_for=max_body_for)
    get = partial(Route, "GET", counted="static")
    of_task = partial(serve, id="task_id")
    of_pushes = partial(serve, taskId="task_id")
    of_push = partial(of_pushes, id="push_id")
    follow = of_task(operations.subscribe)
    routes = [
        post(f"{path}/message:send", serve(operations.send, reads_body=True)),
        post(f"{path}/message:stream", serve(operations.stream, reads_body=True)),
        post(f"{task}:cancel", of_task(operations.cancel_task)),
        post(f"{task}:subscribe", follow),
        get(f"{task}:subscribe", follow, gives=(EVENT_STREAM, JSON)),
        get(task, of_task(operations.get_task)),
        post(pushes, of_pushes(operations.set_push, reads_body=True)),
        get(pushes, of_pushes(operations.list_pushes)),
        get(push, of_push(operations.get_push)),
        Route("DELETE", push, of_push(operations.delete_push), "converse"),
        get(f"{path}/{card}", serve(operations.get_extended_card)),
    ]
    if is_newest:
        routes.append(get(f"{path}/tasks", serve(operations.list_tasks)))
    return tuple(routes)


def _reply(call: Call, body: Any) -> Reply:
    """Return a response in the named media type, else the protocol's own."""
    accepted = call.get_list_header("Accept").lower()
    is_plain = JSON in accepted and A2A_JSON not in accepted
    return Reply(200, _encode(body), JSON if is_plain else A2A_JSON)


def _event(body: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(body)
