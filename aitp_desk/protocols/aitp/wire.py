"""Handles what AITP's Threads API shares: list pages, request headers, refusals.

The shapes are those of the AITP Thread Specification, with the members that clients of the OpenAI
Threads API expect (``object``, ``status``, list pages). Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum

import msgspec
from msgspec import UNSET

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError, InvalidRequest, PaymentRequired
from aitp_desk.protocols.aitp.objects import Deleted, Error, ErrorDetail, ListPage
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.payments.wire import write_required_payment
from aitp_desk.protocols.base.protocol import Call, Reply
from aitp_desk.store.records.pages import Identified, PageRequest

DEFAULT_PAGE = 20
MAX_PAGE = 100
encode = msgspec.json.Encoder().encode
_DIGITS = re.compile(r"\d{1,5}", re.ASCII)


class Dialect(Enum):
    """The dialect of a request, decided by its own headers.

    The addresses and what they serve are the same: two callers may share a thread, each in its own
    dialect. ``AITP`` is AITP 0.1's; ``OPENAI`` is that of the OpenAI API's Assistants (v2), whose
    clients start their runs themselves.
    """

    AITP = "aitp"
    OPENAI = "openai"


def read_dialect(headers: Mapping[str, str]) -> Dialect:
    """Return a request's dialect: clients of the OpenAI API's threads send ``OpenAI-Beta``."""
    return Dialect.OPENAI if "OpenAI-Beta" in headers else Dialect.AITP


def decode_page(
    query: Mapping[str, str], usual: int = DEFAULT_PAGE, most: int = MAX_PAGE
) -> PageRequest:
    """Decode ``limit, order, after, before`` from a query string.

    Parameters:
        usual, most: the number of items without a limit, and the largest limit.

    Raises:
        InvalidRequest: a value is out of range.
    """
    limit = query.get("limit", str(usual))
    if not (_DIGITS.fullmatch(limit) and 1 <= int(limit) <= most):
        raise InvalidRequest(f"`limit` must be a whole number from 1 to {most}.", param="limit")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidRequest("`order` must be asc or desc.", param="order")
    return PageRequest(
        int(limit),
        "asc" if order == "asc" else "desc",
        query.get("after") or None,
        query.get("before") or None,
    )


def encode_list(bodies: Sequence[Identified], has_more: bool) -> Reply:
    """Encode one page of a list in the OpenAI API's form, for both dialects.

    Parameters:
        has_more: whether there are further ones in the direction of reading.
    """
    page = ListPage(
        data=bodies,
        first_id=bodies[0].id if bodies else None,
        last_id=bodies[-1].id if bodies else None,
        has_more=has_more,
    )
    return Reply(200, encode(page))


def encode_deleted(id_: str, kind: str) -> Reply:
    """Encode the response to a deletion in the OpenAI API's form.

    Parameters:
        kind: that API's name of the deleted object, such as ``thread.deleted``.
    """
    return Reply(200, encode(Deleted(id_, kind, True)))


def decode_hops(header: str) -> int:
    """Return the number of desks that a message has passed, from ``Desk-Hops``.

    Raises:
        InvalidRequest: the header is not a small whole number.
    """
    if not _DIGITS.fullmatch(header):
        raise InvalidRequest("Desk-Hops must be a whole number.", param="Desk-Hops")
    return int(header)


def read_request(call: Call) -> RequestInfo:
    """Return the request's members that govern idempotency, runs and loops.

    A client of the OpenAI API starts its runs itself.
    """
    hops = call.headers.get("Desk-Hops")
    return RequestInfo(
        method=call.method,
        path=call.path,
        body=call.body,
        key=call.headers.get("Idempotency-Key"),
        manual=read_dialect(call.headers) is Dialect.OPENAI,
        hops=0 if hops is None else decode_hops(hops),
    )


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal in the OpenAI API's form.

    The body is ``{"error": {"message", "type", "param", "code"}}``.
    """
    detail = ErrorDetail(
        message=error.message,
        type=_error_type(error.kind),
        param=error.param,
        code=error.kind.value,
        recovery=UNSET if error.recovery is None else error.recovery,
        **(write_required_payment(error) if isinstance(error, PaymentRequired) else {}),
    )
    return Reply(
        find_status(error.kind), encode(Error(detail)), headers=make_refusal_headers(error)
    )


def _error_type(kind: ErrorKind) -> str:
    match kind:
        case ErrorKind.NOT_AUTHENTICATED:
            return "authentication_error"
        case ErrorKind.FORBIDDEN:
            return "permission_error"
        case ErrorKind.RATE_LIMITED:
            return "rate_limit_error"
        case ErrorKind.UNAVAILABLE | ErrorKind.INTERNAL:
            return "server_error"
        case _:
            return "invalid_request_error"
