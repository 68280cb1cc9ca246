"""Serves the manifest and the conversation of AHP. The content documents are served as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from multidict import MultiMapping

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.invocation import PaymentNeeded
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.tools.json_arguments import parse_arguments, split_payment
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.model.calls.action import Action, Related
from aitp_desk.model.calls.call import PAYMENT
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
            self._declared, (actions, described, longest_eta) = declared, declared
            self._manifest = encode_manifest(
                desk.site,
                desk.signals,
                actions,
                desk.limits,
                described,
                desk.limiter.one_agent,
                longest_eta,
                self._links,
                self._integrations,
                self._speaks,
            )
        return self._manifest

    async def get_manifest(self, _desk: Desk, call: Call) -> Reply:
        """``GET /.well-known/agent.json`` (AHP 0.1, section 3.1)."""
        return _document(call, self.manifest(), JSON)

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
        asked = await desk.conversations.ask(call.principal, ask, call.allowance)
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


async def describe_status(desk: Desk, call: Call, reply: Reply) -> Representation:
    """Describe the status of a call."""
    stands = STANDS.get(str(msgspec.json.decode(reply.body).get("status")), "")
    session_id = call.params["session_id"]
    related = (
        Related("self", f"{STATUS_PATH}{session_id}"),
        Related("thread", f"{desk.base_path}/v1/threads/{session_id}", "The conversation."),
    )
    return Representation(f"A call within a conversation. {stands}", (), related)


def _document(call: Call, body: bytes, content_type: str) -> Reply:
    """Return a document that clients can revalidate by ETag (RFC 9110, 13.1.2)."""
    tag = make_etag(body)
    headers = (("ETag", tag), ("Cache-Control", "public, max-age=60"))
    if matches_etag(call.headers, tag):
        return Reply(304, headers=headers, content_type=content_type)
    return Reply(200, body, content_type, headers)


def is_call(ask: AskRequest) -> bool:
    """Return whether a question is a call's arguments, not text or a capability's message.

    A message answers a question of the conversation, and so is handled there.
    """
    if ask.clarification is not None:
        return False
    found = parse_arguments(ask.query)
    return found is not None and "$schema" not in found[0]


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
