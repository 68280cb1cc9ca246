"""Serves the OpenAPI document, calls of actions, and the status of calls."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskReply
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.protocols.base.accept import choose_coding
from aitp_desk.protocols.base.call_members import CAPABILITIES_PATH
from aitp_desk.protocols.base.protocol import (
    Call,
    Describe,
    Handler,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
    with_description,
)
from aitp_desk.protocols.openapi import wire
from aitp_desk.protocols.openapi.affordances import (
    describe_actions,
    describe_call,
    describe_one_action,
    write_declaration,
)
from aitp_desk.protocols.openapi.document import describe
from aitp_desk.protocols.openapi.objects import OBJECTS

DOCUMENT_PATH = "/openapi.json"
Served = Callable[[], Sequence[tuple[ProtocolRoutes, Route]]]
"""Returns every served address with its protocol."""


class _Version(NamedTuple):
    body: bytes
    tag: str


class OpenApiHandlers:
    """Serves the OpenAPI document and calls of one desk.

    The document is written at the first request, and again when the desk's actions change.

    Parameters:
        served: all addresses of the process.
        encode_answer: encodes an answer from content in AHP's form.
        answer: that form.
    """

    def __init__(
        self,
        desk: Desk,
        served: Served,
        encode_answer: Callable[[AskReply], Reply],
        answer: type[msgspec.Struct],
    ) -> None:
        self._desk = desk
        self._served = served
        self._encode_answer = encode_answer
        self._objects = (*OBJECTS, answer)
        self._below = desk.base_path
        self._declared: tuple[Action, ...] | None = None
        self._document = self._zipped = _Version(b"", "")

    def document(self) -> bytes:
        """Return the present document: the same object until the desk's actions change."""
        actions = self._desk.registry.actions
        if actions != self._declared:
            own = self._desk if self._desk.name else None
            routes = [
                (protocol, route) for protocol, route in self._served() if protocol.desk is own
            ]
            listed = [one for one in self._desk.resources.all_types if one.open_to != "operators"]
            document = describe(self._desk.site, routes, actions, listed, self._below)
            body = msgspec.json.encode(document)
            self._document = _Version(body, make_etag(body))
            zipped = gzip.compress(body, mtime=0)
            self._zipped = _Version(zipped, make_etag(zipped))
            self._declared = actions
        return self._document.body

    async def get_document(self, _desk: Desk, call: Call) -> Reply:
        """``GET /openapi.json``."""
        self.document()
        version, coding = choose_coding(self._document, self._zipped, call.headers)
        headers = (("ETag", version.tag), ("Cache-Control", "public, max-age=60"), *coding)
        if matches_etag(call.headers, version.tag):
            return Reply(304, headers=headers)
        return Reply(200, version.body, headers=headers)

    async def post_call(self, desk: Desk, call: Call) -> Reply:
        """``POST /capabilities/{name}``."""
        action = desk.registry.get_action(call.params["name"])
        name = action.name
        if name in OWN_NAMES:
            ask = wire.decode_question(name, call.body)
            return self._encode_answer(
                await desk.conversations.ask(call.principal, ask, call.allowance)
            )
        asked = wire.decode_call(name, call.body, call.headers)
        if asked.payment is not None:
            call.release_slot()
        request = RequestInfo(
            call.method, call.path, call.body, call.headers.get("Idempotency-Key")
        )
        status = await desk.direct_calls.call(call.principal, asked, request, call.allowance)
        goes_on = action.may_continue
        return wire.encode_called(status, desk.site.url, self._below, goes_on=goes_on)

    async def list_actions(self, desk: Desk, call: Call) -> Reply:
        """``GET /capabilities``: all except those of the operators, as they are declared."""
        return _reply(
            call, {"object": "list", "data": list(map(write_declaration, desk.registry.actions))}
        )

    async def get_action(self, desk: Desk, call: Call) -> Reply:
        """``GET /capabilities/{name}``.

        Raises:
            UnknownAction: no action of this name exists for this caller.
        """
        action = desk.registry.get_action(call.params["name"])
        if action.open_to == "operators" and not may_invoke(call.principal.scopes, action):
            raise desk.registry.make_unknown_error(action.name)
        return _reply(call, write_declaration(action))

    async def get_call(self, desk: Desk, call: Call) -> Reply:
        """``GET /capabilities/{name}/calls/{call_id}``."""
        name, call_id = call.params["name"], call.params["call_id"]
        status = await desk.direct_calls.get_own_call(call.principal, name, call_id)
        return wire.encode_status(status, desk.site.url)

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with its table of routes."""
        below, calls = self._below, f"{self._below}{CAPABILITIES_PATH}{{name}}"
        routes = (
            Route("GET", below + DOCUMENT_PATH, self.get_document, "static", is_open=True),
            _seen(below + CAPABILITIES_PATH.rstrip("/"), self.list_actions, describe_actions),
            _seen(calls, self.get_action, describe_one_action),
            Route(
                "POST",
                calls,
                self.post_call,
                "converse",
                wire.MAX_BODY,
                second=with_description(self.post_call, describe_call),
            ),
            _seen(f"{calls}/calls/{{call_id}}", self.get_call, describe_call),
        )
        name = self._desk.name
        owns = (below + CAPABILITIES_PATH.rstrip("/"), below + DOCUMENT_PATH)
        if not name:
            return ProtocolRoutes("openapi", routes, owns, wire.render_error, objects=self._objects)
        render_error = partial(wire.render_error, below=below)
        return ProtocolRoutes(
            f"openapi of {name}", routes, owns, render_error, self._desk, objects=self._objects
        )


def _seen(path: str, handler: Handler, describe: Describe) -> Route:
    """Return a GET route whose reply can be described."""
    return Route("GET", path, handler, "static", second=with_description(handler, describe))


def _reply(call: Call, told: object) -> Reply:
    body = msgspec.json.encode(told)
    headers = (("ETag", make_etag(body)), ("Cache-Control", "no-cache"))
    if matches_etag(call.headers, headers[0][1]):
        return Reply(304, headers=headers)
    return Reply(200, body, headers=headers)
