"""Serves the manifest and the conversation of AHP. The content documents are served as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from multidict import MultiMapping

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.invocation import PaymentNeeded
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.calls.results import choose_type, offer_result
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.tools.json_arguments import parse_arguments, split_payment
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest, CallStatus
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.calls.action import Action, Related
from aitp_desk.model.calls.call import PAYMENT, CallState
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.ahp.answer_wire import STATUS_PATH, AnswerEncoder
from aitp_desk.protocols.ahp.error_wire import render_error
from aitp_desk.protocols.ahp.manifest import CONVERSE_PATH, NO_SPEECH, encode_manifest
from aitp_desk.protocols.ahp.objects import OBJECTS
from aitp_desk.protocols.ahp.wire import MAX_BODY, decode_converse
from aitp_desk.protocols.base.affordances import Representation
from aitp_desk.protocols.base.call_members import STANDS
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH, MANIFEST_TYPE
from aitp_desk.protocols.base.payments import x402_wire
from aitp_desk.protocols.base.preferences import prefers_async
from aitp_desk.protocols.base.protocol import (
    JSON,
    Call,
    ProtocolRoutes,
    Reply,
    Route,
    make_etag,
    matches_etag,
    with_description,
)

_PUBLIC = ("Cache-Control", "public, max-age=60")
_PRIVATE = ("Cache-Control", "private, no-cache")
_KEY = "Idempotency-Key"


class AhpHandlers:
    """Serves AHP for one desk. Encodes the manifest again when the desk's actions change.

    Parameters:
        links: the paths of the other protocols, by the names that the manifest gives them.
        integrations: how later drafts describe these protocols in the manifest; empty for nothing.
        speaks: slugs of the capabilities whose messages an answer may contain.
    """

    def __init__(
        self,
        desk: Desk,
        links: Mapping[str, str] = NO_SPEECH,
        integrations: Mapping[str, Any] = NO_SPEECH,
        speaks: Sequence[str] = (),
    ) -> None:
        self._desk = desk
        self._links, self._integrations, self._speaks = links, integrations, speaks
        self._declared: (
            tuple[tuple[Action, ...], Mapping[str, ContentTypeText], int | None] | None
        ) = None
        self._manifest = b""
        self._encoder = AnswerEncoder(desk.site.url, desk.signals)

    def manifest(self) -> bytes:
        """Return the manifest of the present content: the same object until that changes."""
        desk = self._desk
        declared = (
            desk.registry.actions,
            desk.knowledge.editions.described,
            desk.conversations.longest_eta,
        )
        if declared != self._declared:
            self._declared, self._manifest = declared, self._encode(desk.registry.actions)
        return self._manifest

    def _encode(self, actions: Sequence[Action]) -> bytes:
        desk = self._desk
        return encode_manifest(
            desk.site,
            desk.signals,
            actions,
            desk.limits,
            desk.knowledge.editions.described,
            desk.limiter.one_agent,
            desk.conversations.longest_eta,
            self._links,
            self._integrations,
            self._speaks,
        )

    async def get_manifest(self, desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/agent.json`` (AHP 0.1, section 3.1); operators see their actions."""
        scopes = call.principal.scopes
        if is_operator_scope(scopes) and (hidden := desk.registry.operators_actions):
            return _document(call, self._encode((*desk.registry.actions, *hidden)), _PRIVATE)
        return _document(call, self.manifest(), _PUBLIC)

    async def post_converse(self, desk: Desk, call: Call) -> Reply:
        """``POST /agent/converse`` (AHP 0.1, section 6).

        Raises:
            PaymentRequired: a call by its arguments has to be paid first. A question in text is
                answered with the terms instead.
        """
        ask = decode_converse(call.body)
        paid = read_paid_call(ask, call.headers)
        if paid is not None:
            call.release_slot()
            request = RequestInfo(call.method, call.path, call.body)
            status = await desk.direct_calls.call(call.principal, paid, request, call.allowance)
            # a caller that pays by a quote's id alone does not learn the id of its conversation
            named = (
                status.call.session_id
                or status.call.thread_id
                or desk.sessions.open_session(call.principal).id
            )
            return self._encoder.encode_paid(status, named)
        ask = msgspec.structs.replace(ask, step_aside=call.release_slot)
        wanted = read_keyed_call(ask) if _KEY in call.headers else None
        if wanted is None:
            asked = await desk.conversations.ask(call.principal, ask, call.allowance)
        else:
            found = await _call_once(desk, call, ask, wanted)
            if isinstance(found, CallStatus):
                return self._encoder.encode_paid(found, found.call.session_id or "")
            asked = found
        unpaid = None
        if asked.reply is not None and isinstance(asked.reply.needed, PaymentNeeded):
            unpaid = await desk.open_requests.find_unpaid(call.principal, asked.session_id)
            if unpaid is not None and is_call(ask):
                raise unpaid
        respond_async = "Prefer" in call.headers and prefers_async(call.get_list_header("Prefer"))
        return self._encoder.encode(asked, ask.declared, unpaid, respond_async=respond_async)

    async def get_status(self, desk: Desk, call: Call) -> Reply:
        """``GET /agent/converse/status/{session_id}`` (AHP 0.1, section 9)."""
        status = await desk.conversations.call_status(call.principal, call.params["session_id"])
        return self._encoder.encode_status(status)

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with its table of routes."""
        routes = (
            Route(
                "GET",
                MANIFEST_PATH,
                self.get_manifest,
                counted="static",
                is_hot=True,
                gives=(JSON, MANIFEST_TYPE),
                is_open=True,
            ),
            Route(
                "POST",
                CONVERSE_PATH,
                self.post_converse,
                counted="converse",
                max_body=MAX_BODY,
                is_hot=True,
            ),
            Route(
                "GET",
                f"{STATUS_PATH}{{session_id}}",
                self.get_status,
                counted="static",
                second=with_description(self.get_status, describe_status),
            ),
        )
        return ProtocolRoutes(
            "ahp",
            routes,
            owns=("/agent/", "/.well-known/"),
            render_error=render_error,
            objects=OBJECTS,
        )


async def _call_once(
    desk: Desk, call: Call, ask: AskRequest, wanted: DirectCall
) -> AskReply | CallStatus:
    """Call an action with an ``Idempotency-Key``; return the status of a call that it repeats."""
    key = call.headers[_KEY]
    if wanted.consent is not None:
        key = f"{key} agreed"  # the call that only asked for consent is another one
    request = RequestInfo(call.method, call.path, call.body, key)
    async with desk.direct_calls.hold_key(call.principal, wanted, request) as begun:
        before = begun.before
        if before is None or before.call.state is CallState.WAITING_INPUT:
            if before is None:
                ask = msgspec.structs.replace(ask, call_id=begun.id)
            return await desk.conversations.ask(call.principal, ask, call.allowance)
    status = await desk.direct_calls.call(call.principal, wanted, request, call.allowance)
    if status.offer is None:
        return status
    action = desk.registry.get_action(status.call.action)
    offer = offer_result(action, status.call, choose_type(action, ask.accepts))
    return msgspec.structs.replace(status, offer=offer)


async def describe_status(desk: Desk, call: Call, reply: Reply) -> Representation:
    """Describe the status of a call."""
    stands = STANDS.get(str(msgspec.json.decode(reply.body).get("status")), "")
    session_id = call.params["session_id"]
    related = (
        Related("self", f"{STATUS_PATH}{session_id}"),
        Related("thread", f"{desk.base_path}/v1/threads/{session_id}", "The conversation."),
    )
    return Representation(f"A call within a conversation. {stands}", (), related)


def _document(call: Call, body: bytes, cached: tuple[str, str]) -> Reply:
    """Return a document that clients can revalidate by ETag (RFC 9110, 13.1.2)."""
    tag = make_etag(body)
    headers = (("ETag", tag), cached)
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers, content_type=JSON)
    return Reply(200, body, JSON, headers)


def is_call(ask: AskRequest) -> bool:
    """Return whether a question is a call's arguments, not text or a capability's message.

    A message answers a question of the conversation, and so is handled there.
    """
    if ask.clarification is not None:
        return False
    found = parse_arguments(ask.query)
    return found is not None and "$schema" not in found[0]


def read_keyed_call(ask: AskRequest) -> DirectCall | None:
    """Return the call that a key makes one: of a question that is its arguments; else None."""
    if ask.action in OWN_NAMES or not is_call(ask):
        return None
    found = parse_arguments(ask.query)
    if found is None:
        return None
    # the conversation asks for a missing intent in this protocol's words
    return DirectCall(ask.action, found[0], found[1], ask.intent or ask.action)


def read_paid_call(ask: AskRequest, headers: MultiMapping[str]) -> DirectCall | None:
    """Return the call that a question pays for; None where it does not pay.

    Parameters:
        headers: the request's; x402 pays by them.

    Raises:
        InvalidRequest: the payment is invalid, repeated, or sent with a question in text.
    """
    header = x402_wire.read_headers(headers)
    found = None
    if (header is not None or PAYMENT in ask.query) and is_call(ask):
        found = parse_arguments(ask.query)
    if found is None:
        if header is not None:
            raise InvalidRequest(
                "A payment header pays only for a query that is a JSON object of"
                " arguments. Pay for a question in text at the address in its answer.",
                param="query",
            )
        return None
    given, consent = found
    arguments, member = split_payment(given)
    payment = x402_wire.read_payment(member, header)
    if payment is None:
        return None
    return DirectCall(ask.action, arguments, consent, ask.intent, ask.callback_url, payment=payment)
