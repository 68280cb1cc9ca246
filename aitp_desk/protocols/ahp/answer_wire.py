"""Encodes the responses of AHP 0.1's conversational endpoint as JSON.

Source: AHP 0.1, sections 6.2, 6.3 and 6.6. Pure: no I/O, no clock.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from aitp_desk.agent.base import Answer, Clarification, Said
from aitp_desk.agent.history.offer import Offer
from aitp_desk.config import Signals
from aitp_desk.desk.calls.invocation import AcceptedCall, ConsentRequired
from aitp_desk.desk.dialogue.turn import ActionReply, AskReply, CallStatus
from aitp_desk.model.calls.action import TEXT_ANSWER
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import join_messages
from aitp_desk.model.errors import PaymentRequired
from aitp_desk.protocols.ahp.objects import (
    AHPAnswer,
    AHPCacheFigures,
    AHPCallback,
    AHPClarification,
    AHPFollowUp,
    AHPMeta,
    AHPPerson,
    AHPResponse,
    AHPSource,
)
from aitp_desk.protocols.ahp.wire import ACTS, ANSWERS
from aitp_desk.protocols.base.call_members import STATUS
from aitp_desk.protocols.base.payments.wire import write_required_payment
from aitp_desk.protocols.base.payments.x402_wire import make_response_headers
from aitp_desk.protocols.base.protocol import Reply


def add_messages(
    to: AHPAnswer | AHPClarification,
    said: Said,
    declared: frozenset[str],
    understood: tuple[Spoken, ...] = (),
) -> None:
    """Add the capability messages that accompany a text, and the text that none expresses.

    Without a message for the caller nothing is added, as the text is then complete.

    Parameters:
        declared: slugs of the capabilities whose messages the caller reads in their own form.
        understood: messages that the caller's own text was understood as.
    """
    if not declared:
        return
    shaped = [
        msgspec.Raw(one.message.encode())
        for one in (
            *understood,
            *(one for by in said.operator_messages for one in by.spoken),
            *said.spoken,
        )
        if one.capability in declared
    ]
    if not shaped:
        return
    operator_messages = [
        msgspec.structs.replace(one, text=_besides(one.text, one.spoken, declared))
        for one in said.operator_messages
    ]
    text = said.text if isinstance(said, Answer) else said.question
    rest = _besides(text, said.spoken, declared)
    to.messages = shaped
    to.besides = join_messages([one for one in operator_messages if one.text], rest)


def _besides(text: str, spoken: tuple[Spoken, ...], declared: frozenset[str]) -> str:
    """Return the text that no declared message expresses."""
    if not spoken:
        return text
    return "\n\n".join(one.text for one in spoken if one.capability not in declared)


_encode = msgspec.json.Encoder().encode
_APPLIED = (("Preference-Applied", "respond-async"),)

STATUS_PATH = "/agent/converse/status/"
"""The path of an accepted call's status; its session's id follows (section 9.1)."""


class AnswerEncoder:
    """Encodes outcomes with the site's address and its content signals.

    An answer from the cache is encoded once and its bytes are cached with it. The session id and
    ``meta.cache`` differ each time and are written before and after these bytes.
    """

    def __init__(self, site_url: str, signals: Signals) -> None:
        self._url = site_url
        self._signals = msgspec.Raw(_encode(signals))

    def encode(
        self,
        asked: AskReply,
        declared: frozenset[str] = frozenset(),
        unpaid: PaymentRequired | None = None,
        *,
        respond_async: bool = False,
    ) -> Reply:
        """Encode an outcome as the response that its kind selects (sections 6.2, 6.3).

        Parameters:
            declared: slugs of the capabilities whose messages the caller reads in their own form.
            unpaid: a payment that is required first; None without one.
            respond_async: whether an accepted call is answered with 202 instead of 200.
        """
        if isinstance(asked.outcome, Clarification):
            meta = self._meta(asked)
            if unpaid is not None:
                told = write_required_payment(unpaid)
                meta.price, meta.payment = told["price"], told.get("payment", UNSET)
            elif asked.reply is not None and isinstance(asked.reply.needed, ConsentRequired):
                meta.price = asked.reply.needed.price or UNSET
            return Reply(200, _encode(self._clarification(asked, asked.outcome, meta, declared)))
        if asked.reply is not None and asked.reply.accepted is not None:
            body = _encode(_accepted(asked.session_id, asked.reply.accepted))
            return Reply(202, body, headers=_APPLIED) if respond_async else Reply(200, body)
        if asked.kept is None:
            return Reply(200, _encode(self._success(asked, asked.outcome, declared)))
        middle = asked.kept.encoded
        if middle is None:
            response, meta = self._answer(asked, asked.outcome)
            encoded = _encode({"response": response, "meta": meta})
            middle = asked.kept.encoded = encoded[1:-2]
        head = b'{"status":"success","session_id":' + _encode(asked.session_id) + b","
        cache = b',"cache":{"hit_rate":%.2f,"age_seconds":%d}}}'
        return Reply(200, head + middle + cache % (asked.hit_rate or 0.0, asked.age_seconds))

    def encode_paid(self, status: CallStatus, session_id: str) -> Reply:
        """Encode the outcome of a paid call, or its status while it continues.

        Parameters:
            session_id: the id for later status requests.
        """
        call = status.call
        headers = make_response_headers(call.receipt)
        if status.offer is None:
            told = self._status(status)
            told.session_id = session_id
            return Reply(200, _encode(told), headers=headers)
        reply = ActionReply(status.offer, ended=call)
        asked = AskReply(session_id, call.action, status.offer, reply=reply)
        return Reply(200, _encode(self._success(asked, status.offer, frozenset())), headers=headers)

    def encode_status(self, status: CallStatus) -> Reply:
        """Encode the status of an accepted call (section 9.2)."""
        return Reply(200, self.status_body(status))

    def status_body(self, status: CallStatus) -> bytes:
        """Return the same as bytes, for status requests and for callbacks."""
        return _encode(self._status(status))

    def _status(self, status: CallStatus) -> AHPResponse:
        call = status.call
        told = AHPResponse(status=STATUS[call.state], session_id=call.session_id)
        if told.status == "pending":
            told.progress = call.how_far
            told.eta_seconds = status.eta_seconds
        elif status.offer is not None:
            asked = AskReply(
                call.session_id or "", call.action, status.offer, reply=ActionReply(status.offer)
            )
            told.response, told.meta = self._answer(asked, status.offer)
        else:
            told.progress = "" if call.error is None else call.error.in_words
            told.error = call.error
        return told

    def _success(self, asked: AskReply, answer: Answer, declared: frozenset[str]) -> AHPResponse:
        response, meta = self._answer(asked, answer)
        add_messages(response, answer, declared, asked.understood)
        if asked.hit_rate is not None:
            meta.cache = AHPCacheFigures(round(asked.hit_rate, 2))
        return AHPResponse(
            status="success", session_id=asked.session_id, response=response, meta=meta
        )

    def _answer(self, asked: AskReply, answer: Answer) -> tuple[AHPAnswer, AHPMeta]:
        """Return the members ``response`` and ``meta`` of an answer."""
        response = AHPAnswer(
            content_type=TEXT_ANSWER,
            answer=join_messages(answer.operator_messages, answer.text),
            sources=[
                AHPSource(source.title, source.absolute_url(self._url), source.relevance)
                for source in answer.sources
            ],
            follow_up=AHPFollowUp(answer.follow_ups),
        )
        meta = self._meta(asked)
        meta.content_type = TEXT_ANSWER
        if isinstance(answer, Offer):
            response.content_type = meta.content_type = answer.content_type
            if answer.payload is not None:
                response.payload = answer.payload
            if answer.fallback_from is not None:
                meta.fallback_from = answer.fallback_from
        return response, meta

    def _clarification(
        self, asked: AskReply, asks: Clarification, meta: AHPMeta, declared: frozenset[str]
    ) -> AHPResponse:
        question = join_messages(asks.operator_messages, asks.question)
        clarification = AHPClarification(
            question=question, options=asks.options or None, free_form=asks.free_form
        )
        add_messages(clarification, asks, declared, asked.understood)
        return AHPResponse(
            status="clarification_needed",
            session_id=asked.session_id,
            clarification=clarification,
            # later test suites of the protocol look for these at the top level
            clarification_question=question,
            suggested_queries=asks.options,
            meta=meta,
        )

    def _meta(self, asked: AskReply) -> AHPMeta:
        outcome = asked.outcome
        meta = AHPMeta(
            tokens_used=outcome.tokens_used,
            capability_used=asked.action,
            mode=ANSWERS if asked.reply is None else ACTS,
            cached=asked.cached,
            tools_used=outcome.tools_used,
            content_signals=self._signals,
        )
        # extensions of this desk; the schema leaves meta open
        if outcome.locale:
            meta.locale = outcome.locale
        if outcome.model:
            meta.model = outcome.model
        if outcome.fallback:
            meta.fallback = outcome.fallback
        if asked.last_event is not None:
            meta.last_event = asked.last_event
        if isinstance(outcome, Answer) and outcome.asked_person:
            meta.asked_person = outcome.asked_person
        if outcome.operator_messages:
            meta.people = [AHPPerson(one.actor, one.text) for one in outcome.operator_messages]
        return meta


def _accepted(session_id: str, accepted: AcceptedCall) -> AHPResponse:
    """Return the response to a call that continues in the background (section 6.4)."""
    url = accepted.call.callback_url
    return AHPResponse(
        status="accepted",
        session_id=session_id,
        eta_seconds=accepted.eta_seconds,
        poll=f"{STATUS_PATH}{session_id}",
        callback=UNSET if url is None else AHPCallback("POST", url),
    )
