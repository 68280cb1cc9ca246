"""Reads and writes calls of actions as plain JSON over HTTP.

The arguments are the request; the response is a result or a problem. ``result`` has the form of the
action's schema. The members of an AHP answer (AHP 0.1, section 6.2) are next to it, so that readers
of AHP can read the response too. Refusals are problem details (RFC 9457). Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import UNSET
from multidict import MultiMapping

from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.dialogue.tools.json_arguments import split_consent, split_payment
from aitp_desk.desk.dialogue.turn import AskRequest, CallStatus
from aitp_desk.desk.direct.calls import CALLBACK, INTENT, DirectCall
from aitp_desk.model.calls.action import TEXT_ANSWER
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    InvalidRequest,
    MissingField,
    PaymentRequired,
    Recovery,
    UnknownAction,
    UnsupportedType,
)
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.call_members import (
    CAPABILITIES_PATH,
    MAX_CALLBACK,
    MAX_CLARIFICATION,
    MAX_INTENT,
    MAX_LOCALE,
    MAX_QUESTION,
    MAX_SESSION,
    STATUS,
)
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.open_requests_wire import write_terms
from aitp_desk.protocols.base.payments import x402_wire
from aitp_desk.protocols.base.payments.wire import write_required_payment
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.protocols.base.question_members import check_members, read_text, read_tokens
from aitp_desk.protocols.openapi import objects

PROBLEM = "application/problem+json"
MAX_BODY = 64 * 1024
_RESERVED = frozenset({INTENT, CALLBACK})
_QUESTION = frozenset(objects.Question.__struct_fields__)
_encode = msgspec.json.Encoder().encode


def decode_call(name: str, body: bytes, headers: MultiMapping[str]) -> DirectCall:
    """Decode the arguments and the payment of a call; an empty body has none.

    Parameters:
        headers: the request's; x402 pays by them.

    Raises:
        InvalidRequest: the body is not a JSON object, a reserved member is invalid, or the call is
            paid twice.
    """
    arguments, consent = split_consent(_object(body))
    arguments, payment = split_payment(arguments)
    payment = x402_wire.read_payment(payment, x402_wire.read_headers(headers))
    intent = arguments.get(INTENT)
    if intent is not None and not (isinstance(intent, str) and len(intent) <= MAX_INTENT):
        raise InvalidRequest(
            f"`{INTENT}` must be the purpose of the call in at most {MAX_INTENT} characters.",
            param=INTENT,
        )
    callback_url = arguments.get(CALLBACK)
    if callback_url is not None and not (
        isinstance(callback_url, str) and len(callback_url) <= MAX_CALLBACK
    ):
        raise InvalidRequest(
            f"`{CALLBACK}` must be an address of at most {MAX_CALLBACK} characters.", param=CALLBACK
        )
    arguments = {member: it for member, it in arguments.items() if member not in _RESERVED}
    return DirectCall(name, arguments, consent, intent or None, callback_url, payment=payment)


def decode_question(name: str, body: bytes) -> AskRequest:
    """Decode a question to an action that answers from the site's content.

    Raises:
        MissingField: there is no question.
        InvalidRequest: a member is unknown or invalid; ``param`` names it.
    """
    given = _object(body)
    check_members(name, given, _QUESTION)
    query, locale = given.get("query"), given.get("locale")
    if query is None:
        raise MissingField("The member 'query' is required: the question.", param="query")
    if not isinstance(query, str) or not query.strip() or len(query) > MAX_QUESTION:
        raise InvalidRequest(f"`query` must have 1 to {MAX_QUESTION} characters.", param="query")
    if locale is not None and not (isinstance(locale, str) and 1 <= len(locale) <= MAX_LOCALE):
        raise InvalidRequest("`locale` must be a language tag such as en or fr-CA.", param="locale")
    accepts = given.get("accept_types")
    is_list = isinstance(accepts, list) and all(isinstance(one, str) for one in accepts)
    if accepts is not None and not is_list:
        raise InvalidRequest(
            "`accept_types` must be a list of types such as text/answer.", param="accept_types"
        )
    return AskRequest(
        action=name,
        query=query,
        locale=locale,
        max_tokens=read_tokens(given),
        accepts=None if accepts is None else tuple(accepts),
        session_id=read_text(given, "session_id", MAX_SESSION),
        clarification=read_text(given, "clarification", MAX_CLARIFICATION),
    )


def encode_called(status: CallStatus, site_url: str, below: str, *, goes_on: bool) -> Reply:
    """Encode the response to a call: its result, its acceptance (202), or its error.

    Parameters:
        site_url: the site's address, without a trailing slash.
        below: the base path of the desk's addresses; empty for the site's own.
        goes_on: whether such calls continue in the background; others wait only for a payment.
    """
    call = status.call
    if call.is_over:
        is_refused = status.offer is None and (call.accepted_at is None or not goes_on)
        reply = _refusal_of(call) if is_refused else encode_status(status, site_url)
        return with_receipt(reply, call)
    where = f"{below}{CAPABILITIES_PATH}{call.action}/calls/{call.id}"
    told = objects.CallStatus(
        id=call.id,
        capability=call.action,
        status="accepted",
        eta_seconds=status.eta_seconds,
        poll=where,
        callback=(
            UNSET if call.callback_url is None else objects.Callback("POST", call.callback_url)
        ),
    )
    _add_terms(told, status)
    return Reply(202, _encode(told), headers=(("Location", where),))


def encode_status(status: CallStatus, site_url: str) -> Reply:
    """Encode the status of a call; a failed call is also answered with 200."""
    return Reply(200, write_status(status, site_url))


def write_status(status: CallStatus, site_url: str) -> bytes:
    """Return the status of a call, for status requests and for callbacks."""
    call = status.call
    if call.is_over:
        return _encode(_ended(status, site_url))
    told = objects.CallStatus(
        id=call.id,
        capability=call.action,
        status="pending",
        progress=call.how_far,
        eta_seconds=status.eta_seconds,
    )
    _add_terms(told, status)
    return _encode(told)


def render_error(error: DeskError, _headers: Mapping[str, str], below: str = "") -> Reply:
    """Render a refusal as problem details (RFC 9457); ``code`` is its kind.

    An unknown action is an unknown address (404), so that agents read the list of actions again
    (agents.txt 1.0, section 9.2).

    Parameters:
        below: the base path of the desk's addresses; empty for the site's own.
    """
    status = HTTPStatus.NOT_FOUND if isinstance(error, UnknownAction) else find_status(error.kind)
    body = _problem(error.kind, error.message, status)
    _add_hints(body, error.param, error.recovery)
    if error.retry_after is not None:
        body.retry_after = error.retry_after
    match error:
        case ConsentMissing():
            body.price = error.price
        case PaymentRequired():
            told = write_required_payment(error, below)
            body.price, body.payment = told["price"], told.get("payment", UNSET)
        case UnknownAction():
            body.available_capabilities = error.available
        case UnsupportedType():
            body.available_types = error.available
        case _:
            pass
    return Reply(body.status, _encode(body), PROBLEM, make_refusal_headers(error))


def _object(body: bytes) -> dict[str, Any]:
    given = decode_json(body) if body.strip() else {}
    if not isinstance(given, dict):
        raise InvalidRequest("The body must be a JSON object: the arguments.")
    return given


def with_receipt(reply: Reply, call: ActionCall) -> Reply:
    """Add the settlement response of an x402 payment for the call to a reply."""
    headers = (*reply.headers, *x402_wire.make_response_headers(call.receipt))
    return msgspec.structs.replace(reply, headers=headers)


def _add_terms(told: objects.CallStatus, status: CallStatus) -> None:
    """Add how to pay for a call that waits for its payment."""
    if status.terms is not None:
        told.price, told.payment = status.terms.price, write_terms(status.terms)


def _ended(status: CallStatus, site_url: str) -> objects.CallStatus:
    call, offer = status.call, status.offer
    told = objects.CallStatus(id=call.id, capability=call.action, status=STATUS[call.state])
    if offer is None:
        told.error = call.error
        return told
    told.result = call.result
    told.response = _in_words(offer, site_url)
    told.effects = call.effects
    return told


def _in_words(offer: Offer, site_url: str) -> objects.CallAnswer:
    sources = [
        objects.CallSource(source.title, source.absolute_url(site_url), source.relevance)
        for source in offer.sources
    ]
    return objects.CallAnswer(TEXT_ANSWER, offer.text, sources)


def _refusal_of(call: ActionCall) -> Reply:
    """Return the error of a failed call, as its first caller received it."""
    name, message = ("", "") if call.error is None else (call.error.kind, call.error.message)
    kind = ErrorKind.find(name) or ErrorKind.PRECONDITION_FAILED
    body = _problem(kind, message, find_status(kind))
    body.id = call.id
    if call.error is not None:
        _add_hints(body, call.error.param, call.error.recovery)
    return Reply(body.status, _encode(body), PROBLEM)


def _add_hints(body: objects.Problem, param: str | None, recovery: Recovery | None) -> None:
    body.param = UNSET if param is None else param
    body.recovery = UNSET if recovery is None else recovery


def _problem(kind: ErrorKind, message: str, status: int) -> objects.Problem:
    return objects.Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=int(status),
        detail=message,
        code=kind.value,
    )
