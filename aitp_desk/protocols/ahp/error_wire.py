"""Encodes AHP 0.1's errors as JSON.

Source: AHP 0.1, sections 10 and 11. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    DeskError,
    PaymentRequired,
    RateLimited,
    UnknownAction,
    UnknownVersion,
    UnsupportedType,
)
from aitp_desk.protocols.ahp.objects import AHPError
from aitp_desk.protocols.ahp.wire import VERSION
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.payments.wire import write_required_payment
from aitp_desk.protocols.base.protocol import Reply

_NEAREST = "invalid_request"
"""The code of an error that section 10 does not list; ``detail`` names it."""
_SCOPES = frozenset({"ip", "agent", "session", "session_tokens"})
"""The schema's list; it lacks the limits of a credential and of a day."""
_encode = msgspec.json.Encoder().encode


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal in AHP's form (section 10).

    ``code`` is one of a closed list; ``detail`` is more specific.
    """
    body = AHPError(code=_code_of(error.kind), message=error.message)
    if body.code == _NEAREST and error.kind is not ErrorKind.INVALID_REQUEST:
        body.detail = error.kind.value
    if error.param is not None:
        body.param = error.param
    match error:
        case UnknownAction():
            body.available_capabilities = error.available
        case UnsupportedType():
            body.available_types = error.available
        case RateLimited():
            if error.scope in _SCOPES:
                body.scope = error.scope
            body.retry_after = error.retry_after  # null where only a new session helps
        case PaymentRequired():
            body.detail = error.kind.value
            told = write_required_payment(error)
            body.price, body.payment = told["price"], told.get("payment", UNSET)
        case UnknownVersion():
            body.detail = "unsupported_version"
            body.supported = [VERSION]
            body.manifest = "/.well-known/agent.json"
        case _:
            pass
    if error.retry_after is not None:
        body.retry_after = error.retry_after
    if error.recovery is not None:
        body.recovery = error.recovery
    return Reply(find_status(error.kind), _encode(body), headers=make_refusal_headers(error))


def _code_of(kind: ErrorKind) -> str:
    match kind:
        case (
            ErrorKind.INVALID_REQUEST
            | ErrorKind.UNKNOWN_VERSION
            | ErrorKind.PRECONDITION_FAILED
            | ErrorKind.UNKNOWN_SESSION
            | ErrorKind.SESSION_LIMIT
            | ErrorKind.THREAD_NOT_FOUND
            | ErrorKind.MESSAGE_NOT_FOUND
            | ErrorKind.RUN_NOT_FOUND
            | ErrorKind.ACTOR_NOT_FOUND
            | ErrorKind.GRANT_NOT_FOUND
            | ErrorKind.CALL_NOT_FOUND
            | ErrorKind.TICKET_NOT_FOUND
            | ErrorKind.AGENT_NOT_FOUND
            | ErrorKind.FILE_NOT_FOUND
            | ErrorKind.EVENTS_GONE
            | ErrorKind.RESOURCE_NOT_FOUND
            | ErrorKind.ROUTE_NOT_FOUND
            | ErrorKind.METHOD_NOT_ALLOWED
            | ErrorKind.NOT_ACCEPTABLE
            | ErrorKind.UNSUPPORTED_MEDIA
            | ErrorKind.WRONG_HOST
            | ErrorKind.REQUEST_TIMEOUT
            | ErrorKind.IDEMPOTENCY_CONFLICT
            | ErrorKind.IDEMPOTENCY_IN_FLIGHT
        ):
            return _NEAREST
        case ErrorKind.MISSING_FIELD:
            return "missing_field"
        case ErrorKind.UNKNOWN_ACTION:
            return "unknown_capability"
        case ErrorKind.UNSUPPORTED_TYPE:
            return "unsupported_type"
        case ErrorKind.NOT_AUTHENTICATED:
            return "auth_required"
        case ErrorKind.FORBIDDEN | ErrorKind.PAYMENT_REQUIRED:
            return "forbidden"
        case ErrorKind.REQUEST_TOO_LARGE:
            return "request_too_large"
        case ErrorKind.RATE_LIMITED:
            return "rate_limited"
        case ErrorKind.UNAVAILABLE:
            return "unavailable"
        case ErrorKind.INTERNAL:
            return "concierge_error"
