"""The kinds of errors.

Each protocol maps them to its own form by an exhaustive match.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

CredentialFault = Literal[
    "conflicting", "expired", "malformed", "replayed", "revoked", "unknown", "unproven"
]
"""What may be wrong with a credential."""


class ErrorKind(Enum):
    """The closed list of errors that a protocol must be able to report."""

    INVALID_REQUEST = "invalid_request"
    MISSING_FIELD = "missing_field"
    UNKNOWN_VERSION = "unknown_version"
    PRECONDITION_FAILED = "precondition_failed"
    PAYMENT_REQUIRED = "payment_required"
    UNKNOWN_ACTION = "unknown_action"
    UNSUPPORTED_TYPE = "unsupported_type"
    UNKNOWN_SESSION = "unknown_session"
    SESSION_LIMIT = "session_limit"
    THREAD_NOT_FOUND = "thread_not_found"
    MESSAGE_NOT_FOUND = "message_not_found"
    RUN_NOT_FOUND = "run_not_found"
    ACTOR_NOT_FOUND = "actor_not_found"
    GRANT_NOT_FOUND = "grant_not_found"
    CALL_NOT_FOUND = "call_not_found"
    TICKET_NOT_FOUND = "ticket_not_found"
    AGENT_NOT_FOUND = "agent_not_found"
    EVENTS_GONE = "events_gone"
    FILE_NOT_FOUND = "file_not_found"
    RESOURCE_NOT_FOUND = "resource_not_found"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    UNSUPPORTED_MEDIA = "unsupported_media"
    NOT_AUTHENTICATED = "not_authenticated"
    FORBIDDEN = "forbidden"
    WRONG_HOST = "wrong_host"
    REQUEST_TOO_LARGE = "request_too_large"
    REQUEST_TIMEOUT = "request_timeout"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    IDEMPOTENCY_IN_FLIGHT = "idempotency_in_flight"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
