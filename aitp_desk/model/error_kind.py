"""The catalogue of errors: every code, with its cause and its cure.

Each protocol maps the kinds to its own form by an exhaustive match. ``docs/protocols/errors.md``
is written from here.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, Self

CredentialFault = Literal[
    "conflicting", "expired", "malformed", "replayed", "revoked", "unknown", "unproven"
]
"""What may be wrong with a credential."""


class CataloguedCode(Enum):
    """A code that callers get, by its value.

    Attributes:
        meaning: what it says, as the end of a sentence.
        cause: the likely one, in a sentence.
        cure: what the caller should do, in a sentence.
        is_passing: whether the same request may succeed later.
    """

    _value_: str
    meaning: str
    cause: str
    cure: str
    is_passing: bool

    def __new__(
        cls, code: str, meaning: str, cause: str, cure: str, is_passing: bool = False
    ) -> Self:
        """Create a member whose value is its code."""
        member = object.__new__(cls)
        member._value_ = code
        member.meaning, member.cause, member.cure = meaning, cause, cure
        member.is_passing = is_passing
        return member

    @classmethod
    def find(cls, code: str) -> Self | None:
        """Return the member of a code; None for an unknown one."""
        return next((member for member in cls if member.value == code), None)


class ErrorKind(CataloguedCode):
    """The closed list of errors that a protocol must be able to report."""

    INVALID_REQUEST = (
        "invalid_request",
        "the request cannot be understood",
        "A member, a header or a value has the wrong form, or the body is no valid JSON.",
        "Correct what the message and `param` name.",
    )
    MISSING_FIELD = (
        "missing_field",
        "a required member is absent",
        "The member was left out, or its name is misspelt.",
        "Add the member that `param` names.",
    )
    UNKNOWN_VERSION = (
        "unknown_version",
        "a version of the protocol that is not served",
        "The client was written for another version.",
        "Use a version that the message names.",
    )
    PRECONDITION_FAILED = (
        "precondition_failed",
        "understood, but not in this state",
        "The site's data refuse it, the object has moved on, or the cost was not agreed to.",
        "Do what the message or `recovery` says, and send it again.",
    )
    PAYMENT_REQUIRED = (
        "payment_required",
        "what is asked for has to be paid before it is done",
        "The action has a price, and no valid payment came with the call.",
        "Pay by one of the ways in `payment`, and send the call again with the proof.",
    )
    UNKNOWN_ACTION = (
        "unknown_action",
        "the site has no such capability",
        "The name is misspelt, the action was removed, or the caller may not know of it.",
        "Choose one of `available_capabilities`.",
    )
    UNSUPPORTED_TYPE = (
        "unsupported_type",
        "no type of answer that both sides know",
        "`accept_types` lists only types that the action does not give.",
        "Accept one of `available_types`.",
    )
    UNKNOWN_SESSION = (
        "unknown_session",
        "the session does not exist, has expired, or belongs to another caller",
        "Too much time has passed since the last turn, or another credential began the session.",
        "Start a new session: leave out its id.",
    )
    SESSION_LIMIT = (
        "session_limit",
        "the session has had all its turns",
        "The conversation is longer than the site permits.",
        "Start a new session: leave out its id.",
    )
    THREAD_NOT_FOUND = (
        "thread_not_found",
        "the thread does not exist, is closed, or belongs to another caller",
        "The id is wrong, or another credential opened the thread.",
        "Use the id from the response that opened it, with the same credential.",
    )
    MESSAGE_NOT_FOUND = (
        "message_not_found",
        "the thread has no such message, or it was deleted; no request of this id is open there",
        "The id is of another thread, or the request was already answered.",
        "Find the id in the list of messages.",
    )
    RUN_NOT_FOUND = (
        "run_not_found",
        "the thread has no such run, or the run no such step",
        "The id is of another thread, or belongs to another caller.",
        "Find the id in the list of runs.",
    )
    ACTOR_NOT_FOUND = (
        "actor_not_found",
        "the thread has no actor of this name",
        "The name is misspelt, or the actor has left.",
        "Find the name in the list of participants.",
    )
    GRANT_NOT_FOUND = (
        "grant_not_found",
        "the thread is not shared by this grant",
        "The grant was revoked, or is of another thread.",
        "Find the grant in the list of grants, or share the thread again.",
    )
    CALL_NOT_FOUND = (
        "call_not_found",
        "there is no such call of an action, or it belongs to another caller",
        "The id is wrong, the call was removed after its time, or another credential made it.",
        "Use the id from the response to the call, with the same credential.",
    )
    TICKET_NOT_FOUND = (
        "ticket_not_found",
        "there is no such ticket",
        "The id is wrong, or the ticket was removed after its time.",
        "Use the id from the list of tickets.",
    )
    AGENT_NOT_FOUND = (
        "agent_not_found",
        "the site has no such agent (`assistant_id`)",
        "The id is misspelt, or the agent was removed.",
        "Choose one from the list of agents.",
    )
    EVENTS_GONE = (
        "events_gone",
        "too many events on the thread since then",
        "The client was away for too long to be sent each event.",
        "Read the list of messages, and follow the events from now.",
    )
    FILE_NOT_FOUND = (
        "file_not_found",
        "the file does not exist, has expired, or belongs to another caller",
        "Its time has passed, or another credential uploaded it.",
        "Upload the file again, and use the new id.",
    )
    RESOURCE_NOT_FOUND = (
        "resource_not_found",
        "the site has nothing at this address, or nothing that the caller may know of",
        "The key in the address is wrong, or needs a credential.",
        "Find the address in the list of resources, or send a credential.",
    )
    ROUTE_NOT_FOUND = (
        "route_not_found",
        "nothing is served at this address",
        "The path is misspelt, or the owner has switched its protocol off.",
        "Find the address in the manifest.",
    )
    METHOD_NOT_ALLOWED = (
        "method_not_allowed",
        "the address exists, the method does not",
        "The client uses another method, such as GET for a call.",
        "Use a method of the header `Allow`.",
    )
    NOT_ACCEPTABLE = (
        "not_acceptable",
        "the address gives none of the types in `Accept`",
        "`Accept` names one type only.",
        "Leave the header out, or add `application/json;q=0.5` to it.",
    )
    UNSUPPORTED_MEDIA = (
        "unsupported_media",
        "the body is not plain JSON",
        "`Content-Type` is absent or another, or the body is compressed.",
        "Send JSON with `Content-Type: application/json`.",
    )
    NOT_AUTHENTICATED = (
        "not_authenticated",
        "the credential is not valid",
        "None was sent where one is needed, or it is malformed, unknown, expired or revoked.",
        "Send a valid credential, by a way that `WWW-Authenticate` names.",
    )
    FORBIDDEN = (
        "forbidden",
        "known caller, not allowed",
        "The credential lacks a scope, or only the owner may do this.",
        "Get a credential with the scope that `WWW-Authenticate` names.",
    )
    WRONG_HOST = (
        "wrong_host",
        "the `Host` header names another site",
        "`site.url` is not the address that clients use, or a proxy changes `Host`.",
        "Use the host that the message names.",
    )
    REQUEST_TOO_LARGE = (
        "request_too_large",
        "a body or a message is past its limit",
        "The text, a file or the nesting is larger than the site permits.",
        "Send a smaller request.",
    )
    REQUEST_TIMEOUT = (
        "request_timeout",
        "the body did not arrive in time",
        "The connection is slow, or the body shorter than announced.",
        "Send it again.",
        True,
    )
    IDEMPOTENCY_CONFLICT = (
        "idempotency_conflict",
        "the key was used with another request",
        "The client uses one `Idempotency-Key` for several requests.",
        "Send it with a new Idempotency-Key.",
    )
    IDEMPOTENCY_IN_FLIGHT = (
        "idempotency_in_flight",
        "the first request with this key is still at work",
        "The client has repeated a request before its answer.",
        "Wait as long as `Retry-After` says, and send it again with the same key.",
        True,
    )
    RATE_LIMITED = (
        "rate_limited",
        "too many requests, or tokens",
        "The caller, its address or its session has used up a limit.",
        "Wait as long as `Retry-After` says; if that is 0, start a new session.",
        True,
    )
    UNAVAILABLE = (
        "unavailable",
        "not now; later",
        "The desk is starting, stopping or busy, or its database or model fails.",
        "Wait as long as `Retry-After` says, and send it again.",
        True,
    )
    INTERNAL = (
        "internal",
        "a fault of the desk",
        "A defect in the desk or in an action of the site.",
        "Report the id in the message to the site's operator.",
    )


class FailureCode(CataloguedCode):
    """Why an accepted call or run has failed, where no refusal is the reason."""

    DECLINED = (
        "declined",
        "the call was declined; nothing was done",
        "The person who was asked said no.",
        "Ask the person; call again only if they change their mind.",
    )
    EXPIRED = (
        "expired",
        "the call waited too long; nothing was done",
        "Nobody answered its question, or approved it, in time.",
        "Call again, and answer sooner.",
    )
    CLOSED = (
        "closed",
        "the ticket of the call was closed; nothing was done",
        "An operator closed it without a decision.",
        "Ask the site's operators, or call again.",
    )
    UNKNOWN = (
        "unknown",
        "the call has started, and its outcome is not known",
        "The desk stopped, or the other side did not answer, while the call was under way.",
        "Find out at the site whether it was done before you call again.",
    )
    CONSENT_NEEDED = (
        "consent_needed",
        "the caller has to agree to the call first",
        "The action costs something, or cannot be undone.",
        "Send the call again with what the message asks for.",
    )
    SERVER_ERROR = (
        "server_error",
        "the run ended in a fault",
        "The agent or its model failed, or the outputs of tools came too late.",
        "Start another run.",
    )
    RATE_LIMIT_EXCEEDED = (
        "rate_limit_exceeded",
        "the run was stopped at a limit",
        "The thread has reached its limit of automatic replies, as when two agents talk.",
        "Continue on a new thread, or later.",
    )
