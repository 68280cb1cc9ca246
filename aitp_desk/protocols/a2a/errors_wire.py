"""Renders refusals as JSON-RPC errors and as ``google.rpc.Status`` over plain HTTP.

Source: A2A 1.0, sections 3.3.2 and 5.4 (codes, reasons), 11.6 (errors over HTTP). Pure: no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    PaymentRequired,
    TaskIsOver,
    TaskNotCancelable,
    UnknownAction,
)
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    make_error,
)
from aitp_desk.protocols.base.protocol import JSON, Reply

DOMAIN = "a2a-protocol.org"
_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_encode = msgspec.json.encode


class Refusal(NamedTuple):
    """The protocol's names of an error.

    Parameters:
        code: of JSON-RPC.
        reason: of ``ErrorInfo``.
        status: of ``google.rpc.Status``.
        http: the status over plain HTTP; 0 for that of the kind.
        is_transport: whether the HTTP status reports the error also over JSON-RPC.
    """

    code: int
    reason: str
    status: str
    http: int = 0
    is_transport: bool = False


def _in_transport(code: int, reason: str, status: str) -> Refusal:
    """Return a refusal whose HTTP status reports it also over JSON-RPC."""
    return Refusal(code, reason, status, is_transport=True)


_WRONG = Refusal(INVALID_PARAMS, "INVALID_PARAMS", "INVALID_ARGUMENT", 400)
_UNKNOWN = Refusal(-32001, "TASK_NOT_FOUND", "NOT_FOUND")
_NO_METHOD = _in_transport(METHOD_NOT_FOUND, "METHOD_NOT_FOUND", "NOT_FOUND")
_REFUSALS: Mapping[ErrorKind, Refusal] = MappingProxyType(
    {
        **dict.fromkeys(ErrorKind, _WRONG),
        **dict.fromkeys((kind for kind in ErrorKind if kind.value.endswith("_found")), _UNKNOWN),
        ErrorKind.UNSUPPORTED_MEDIA: Refusal(
            -32005, "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT"
        ),
        ErrorKind.UNKNOWN_VERSION: Refusal(-32009, "VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION"),
        ErrorKind.ROUTE_NOT_FOUND: _NO_METHOD,
        ErrorKind.METHOD_NOT_ALLOWED: _NO_METHOD,
        ErrorKind.NOT_AUTHENTICATED: _in_transport(
            INVALID_REQUEST, "UNAUTHENTICATED", "UNAUTHENTICATED"
        ),
        ErrorKind.FORBIDDEN: _in_transport(
            INVALID_REQUEST, "PERMISSION_DENIED", "PERMISSION_DENIED"
        ),
        ErrorKind.WRONG_HOST: _in_transport(INVALID_REQUEST, "WRONG_HOST", "INVALID_ARGUMENT"),
        ErrorKind.REQUEST_TOO_LARGE: _in_transport(INVALID_REQUEST, "TOO_LARGE", "OUT_OF_RANGE"),
        ErrorKind.REQUEST_TIMEOUT: _in_transport(INVALID_REQUEST, "TIMEOUT", "DEADLINE_EXCEEDED"),
        ErrorKind.RATE_LIMITED: _in_transport(INTERNAL_ERROR, "RATE_LIMITED", "RESOURCE_EXHAUSTED"),
        ErrorKind.UNAVAILABLE: _in_transport(INTERNAL_ERROR, "UNAVAILABLE", "UNAVAILABLE"),
        ErrorKind.INTERNAL: _in_transport(INTERNAL_ERROR, "INTERNAL_ERROR", "INTERNAL"),
    }
)
"""The names of each kind; every other fault is one of the parameters."""


def find_refusal(error: DeskError) -> Refusal:
    """Return the protocol's names of an error."""
    match error:
        case TaskNotCancelable():
            return Refusal(-32002, "TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", 400)
        case TaskIsOver():
            return Refusal(-32004, "UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", 400)
        case _:
            return _REFUSALS[error.kind]


def render_call_error(error: DeskError, request_id: Any) -> Reply:
    """Render a refusal over JSON-RPC."""
    refusal = find_refusal(error)
    body = make_error(request_id, refusal.code, error.message, make_details(error, refusal))
    status = find_status(error.kind) if refusal.is_transport else 200
    return Reply(status, _encode(body), headers=make_refusal_headers(error))


def render_rpc_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render the refusal of a JSON-RPC request that was not read."""
    return render_call_error(error, None)


def render_http_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal over plain HTTP."""
    return _refuse_over_http(error, {})


def render_http_error_03(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render the same for callers of 0.3.

    They read the error's name at the top level.
    """
    words = find_refusal(error).reason.removesuffix("_ERROR").split("_")
    name = "".join(word.capitalize() for word in words)
    return _refuse_over_http(error, {"type": f"{name}Error", "message": error.message})


def _refuse_over_http(error: DeskError, more: dict[str, Any]) -> Reply:
    refusal = find_refusal(error)
    status = refusal.http or find_status(error.kind)
    told = {
        "code": status,
        "status": refusal.status,
        "message": error.message,
        "details": make_details(error, refusal),
    }
    return Reply(status, _encode({"error": told, **more}), JSON, make_refusal_headers(error))


def make_error_info(reason: str, said: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a ``google.rpc.ErrorInfo``, by which clients tell errors apart."""
    return {"@type": _INFO, "reason": reason, "domain": DOMAIN, "metadata": said or {}}


def make_details(error: DeskError, refusal: Refusal) -> list[dict[str, Any]]:
    """Return the details of a refusal for programs."""
    said: dict[str, str] = {}
    if error.retry_after is not None:
        said["retryAfter"] = str(error.retry_after)
    if isinstance(error, ConsentMissing | PaymentRequired) and error.price is not None:
        said["price"] = str(error.price)
    info = make_error_info(refusal.reason, said)
    if error.param is None:
        return [info]
    field = "action" if isinstance(error, UnknownAction) else error.param
    violation = {"field": field, "description": error.message}
    return [info, {"@type": _BAD_REQUEST, "fieldViolations": [violation]}]
