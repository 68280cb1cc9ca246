"""Maps a refusal to its HTTP status and headers, for every protocol.

Each protocol renders the body in its own form; ``docs/protocols/errors.md`` has the whole table.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import assert_never

from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError, MethodNotAllowed, ScopeMissing, TokenRefused


def find_status(kind: ErrorKind) -> int:
    """Return the HTTP status of a kind of error."""
    match kind:
        case (
            ErrorKind.INVALID_REQUEST
            | ErrorKind.MISSING_FIELD
            | ErrorKind.UNKNOWN_VERSION
            | ErrorKind.UNKNOWN_ACTION
            | ErrorKind.UNSUPPORTED_TYPE
            | ErrorKind.UNKNOWN_SESSION
            | ErrorKind.SESSION_LIMIT
        ):
            return HTTPStatus.BAD_REQUEST
        case ErrorKind.NOT_AUTHENTICATED:
            return HTTPStatus.UNAUTHORIZED
        case ErrorKind.PAYMENT_REQUIRED:
            return HTTPStatus.PAYMENT_REQUIRED
        case ErrorKind.FORBIDDEN:
            return HTTPStatus.FORBIDDEN
        case (
            ErrorKind.THREAD_NOT_FOUND
            | ErrorKind.MESSAGE_NOT_FOUND
            | ErrorKind.RUN_NOT_FOUND
            | ErrorKind.ACTOR_NOT_FOUND
            | ErrorKind.GRANT_NOT_FOUND
            | ErrorKind.CALL_NOT_FOUND
            | ErrorKind.TICKET_NOT_FOUND
            | ErrorKind.AGENT_NOT_FOUND
            | ErrorKind.FILE_NOT_FOUND
            | ErrorKind.RESOURCE_NOT_FOUND
            | ErrorKind.ROUTE_NOT_FOUND
        ):
            return HTTPStatus.NOT_FOUND
        case ErrorKind.EVENTS_GONE:
            return HTTPStatus.GONE
        case ErrorKind.METHOD_NOT_ALLOWED:
            return HTTPStatus.METHOD_NOT_ALLOWED
        case ErrorKind.NOT_ACCEPTABLE:
            return HTTPStatus.NOT_ACCEPTABLE
        case ErrorKind.REQUEST_TIMEOUT:
            return HTTPStatus.REQUEST_TIMEOUT
        case (
            ErrorKind.PRECONDITION_FAILED
            | ErrorKind.IDEMPOTENCY_CONFLICT
            | ErrorKind.IDEMPOTENCY_IN_FLIGHT
        ):
            return HTTPStatus.CONFLICT
        case ErrorKind.REQUEST_TOO_LARGE:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        case ErrorKind.UNSUPPORTED_MEDIA:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        case ErrorKind.WRONG_HOST:
            return HTTPStatus.MISDIRECTED_REQUEST
        case ErrorKind.RATE_LIMITED:
            return HTTPStatus.TOO_MANY_REQUESTS
        case ErrorKind.UNAVAILABLE:
            return HTTPStatus.SERVICE_UNAVAILABLE
        case ErrorKind.INTERNAL:
            return HTTPStatus.INTERNAL_SERVER_ERROR
        case _:
            assert_never(kind)


def _describe_token_fault(error: DeskError) -> str:
    """Return what marks a refused token; clients renew one that has expired."""
    if not isinstance(error, TokenRefused):
        return ""
    if error.reason == "expired":
        return ', error="invalid_token", error_description="The token has expired."'
    return ', error="invalid_token"'


def make_refusal_headers(error: DeskError) -> tuple[tuple[str, str], ...]:
    """Return the headers that a refusal carries in every protocol.

    ``Retry-After`` is sent where waiting helps, and with every 429 (AHP 0.1, section 11.1); it is 0
    where the caller may continue at once in another session. ``WWW-Authenticate`` is sent with a
    401 (RFC 9110, 11.6.1), where it marks a refused token, and with a 403 for a missing scope (RFC
    6750, section 3.1). ``Allow`` is sent with a 405. ``x-should-retry: false`` stops clients of the
    OpenAI API from repeating a request that can never succeed.
    """
    headers: list[tuple[str, str]] = []
    if error.retry_after is not None:
        headers.append(("Retry-After", str(error.retry_after)))
    elif error.kind is ErrorKind.RATE_LIMITED:
        headers.append(("Retry-After", "0"))
    if error.kind is ErrorKind.NOT_AUTHENTICATED:
        wrong = _describe_token_fault(error)
        headers.append(("WWW-Authenticate", f'Bearer realm="aitp-desk"{wrong}'))
        headers.append(("WWW-Authenticate", 'AITP-HMAC-SHA256 realm="aitp-desk"'))
    if isinstance(error, ScopeMissing):
        wanted = f'error="insufficient_scope", scope="{error.scope}"'
        headers.append(("WWW-Authenticate", f'Bearer realm="aitp-desk", {wanted}'))
    if isinstance(error, MethodNotAllowed):
        headers.append(("Allow", ", ".join(error.allowed)))
    if error.kind is ErrorKind.IDEMPOTENCY_CONFLICT:
        headers.append(("x-should-retry", "false"))
    return tuple(headers)
