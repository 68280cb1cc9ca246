"""The desk's errors, shared by all protocols.

A :class:`DeskError` says in a sentence for the caller what is wrong, and has a kind from the closed
list (``error_kind.py``). It knows no protocol: each protocol's ``*_wire.py`` maps the kinds to its
own form. The table that all protocols follow is in ``docs/protocols/errors.md``.

    DeskError
    ├── InvalidRequest            the request cannot be processed as sent
    │   ├── MissingField          a required member is absent
    │   ├── UnknownVersion        a protocol version that is not served
    │   ├── PreconditionFailed    well formed, but not in this state
    │   │   ├── ConsentMissing    the call needs the caller's consent
    │   │   └── TaskIsOver        nothing can be added to the task
    │   │       └── TaskNotCancelable  the task cannot be cancelled
    │   ├── UnsupportedGrant      OAuth: a grant type that is not supported
    │   ├── InvalidScope          OAuth: a scope that does not exist, or is not the client's
    │   ├── InvalidTarget         OAuth: a token for a resource that is not this desk's
    │   └── InvalidClientMetadata OAuth: metadata with which no client can be registered
    ├── PaymentRequired           the request must be paid for first
    ├── UnknownAction             no such action (AHP: capability)
    ├── UnsupportedType           no answer type that both sides know
    ├── UnknownSession            no such conversation for this caller
    ├── SessionLimit              the conversation has used all its turns
    ├── ThreadNotFound            no such thread for this caller
    ├── MessageNotFound           no such message on this thread
    │   └── RequestNotFound       no such request waits for an answer there
    ├── RunNotFound               no such run, or step of one, on this thread
    │   └── TaskNotFound          no such task for this caller
    ├── ActorNotFound             no such actor on this thread
    ├── GrantNotFound             no such grant of this thread
    ├── CallNotFound              no such call of an action, for this caller
    ├── TicketNotFound            no such ticket
    ├── AgentNotFound             the site has no such agent (OpenAI API: assistant)
    ├── EventsGone                too many events have happened since to send them one by one
    ├── FileNotFound              no such file for this caller
    ├── ResourceNotFound          no such resource of the site, for this caller
    ├── RouteNotFound             no such address
    ├── MethodNotAllowed          the address exists, the method does not
    ├── NotAcceptable             no representation that the caller accepts
    ├── UnsupportedMedia          the body's media type is not accepted
    ├── NotAuthenticated          a credential is missing or invalid
    │   ├── TokenRefused          the bearer token is invalid
    │   └── UnknownClient         OAuth: the client authentication failed
    ├── Forbidden                 known caller, not allowed
    │   └── ScopeMissing          the credential lacks a scope
    ├── WrongHost                 the request was meant for another site
    ├── RequestTooLarge           a body, member or nesting exceeds its limit
    ├── RequestTimeout            the request did not arrive in time
    ├── IdempotencyConflict       the key was used with another request
    ├── IdempotencyInFlight       the first request with this key is still in progress
    ├── RateLimited               too many requests, or tokens
    ├── Unavailable               not now; later
    │   └── StoreBusy             the write queue is full
    └── InternalError             a fault of the desk; the details are in the log
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import msgspec

from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.error_kind import CredentialFault, ErrorKind
from aitp_desk.model.money import Money


class Recovery(msgspec.Struct, frozen=True):
    """What helps after a refusal (HAC 1.0, section 6.2).

    Parameters:
        description: what the caller should do, in a sentence.
        actions: names of the actions that do it.
    """

    description: str
    actions: tuple[str, ...] = ()


class DeskError(Exception):
    """Base of every refusal of the desk.

    Parameters:
        message: one or two sentences for the caller: what is wrong, then what to do.
        param: the member, header, path parameter or precondition at fault, if there is one.
        retry_after: whole seconds after which the same request may succeed.
        recovery: what else helps.
    """

    kind: ClassVar[ErrorKind]
    message_id: str | int | None = None
    """The id of the refused message, in protocols whose messages have one."""

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        retry_after: int | None = None,
        recovery: Recovery | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after = retry_after
        self.recovery = recovery

    def hide(self, change: Callable[[str], str]) -> None:
        """Rewrite the texts of the error, so that no secret is repeated."""
        self.message = change(self.message)
        self.args = (self.message,)
        if self.recovery is not None:
            self.recovery = Recovery(change(self.recovery.description), self.recovery.actions)


class InvalidRequest(DeskError):
    """The request cannot be processed as it was sent; nothing was changed."""

    kind = ErrorKind.INVALID_REQUEST


class MissingField(InvalidRequest):
    """A required member is absent; ``param`` names it."""

    kind = ErrorKind.MISSING_FIELD


class UnknownVersion(InvalidRequest):
    """The request names a protocol version that the desk does not serve."""

    kind = ErrorKind.UNKNOWN_VERSION


class PreconditionFailed(InvalidRequest):
    """The request is well formed but does not fit its object's state."""

    kind = ErrorKind.PRECONDITION_FAILED


class ConsentMissing(PreconditionFailed):
    """A call needs the caller's consent, which is missing.

    Parameters:
        price: what it costs; None if something else needs consent.
    """

    def __init__(self, message: str, *, param: str | None = None, price: Money | None = None):
        super().__init__(message, param=param)
        self.price = price


class PaymentRequired(DeskError):
    """The request must be paid for first.

    Parameters:
        terms: how it can be paid; None if no plugin requests the payment yet.
        call_id: of the call that waits for it.
        thread_id: where the payment is requested, and can be made.
        refused: why the payment that came with the request was rejected; empty if none came.
    """

    kind = ErrorKind.PAYMENT_REQUIRED

    def __init__(
        self,
        message: str,
        *,
        price: Money,
        terms: PaymentTerms | None = None,
        call_id: str | None = None,
        thread_id: str | None = None,
        param: str | None = None,
        refused: str = "",
    ):
        super().__init__(message, param=param)
        self.price = price
        self.terms = terms
        self.call_id = call_id
        self.thread_id = thread_id
        self.refused = refused


class TaskIsOver(PreconditionFailed):
    """The task has ended; nothing can be added to it."""


class TaskNotCancelable(TaskIsOver):
    """The task cannot be cancelled."""


class UnsupportedGrant(InvalidRequest):
    """The grant or response type is not supported (RFC 6749, sections 4.1.2.1 and 5.2)."""


class InvalidScope(InvalidRequest):
    """The scope is unknown, or not the client's (RFC 6749, section 5.2)."""


class InvalidTarget(InvalidRequest):
    """The token was requested for another resource server (RFC 8707, section 2)."""


class InvalidClientMetadata(InvalidRequest):
    """The client cannot be registered with this metadata (RFC 7591, section 3.2.2)."""


class UnknownAction(DeskError):
    """No such action; ``available`` lists the names that exist for this caller."""

    kind = ErrorKind.UNKNOWN_ACTION

    def __init__(self, message: str, *, available: Sequence[str]) -> None:
        super().__init__(message, param="capability")
        self.available = tuple(available)


class UnsupportedType(DeskError):
    """No answer type that both sides know; ``available`` lists those of the action."""

    kind = ErrorKind.UNSUPPORTED_TYPE

    def __init__(self, message: str, *, available: Sequence[str]) -> None:
        super().__init__(message, param="context.accept_types")
        self.available = tuple(available)


class UnknownSession(DeskError):
    """The session does not exist, has expired, or belongs to another caller."""

    kind = ErrorKind.UNKNOWN_SESSION


class SessionLimit(DeskError):
    """The session has used all its turns; a new session helps."""

    kind = ErrorKind.SESSION_LIMIT


class ThreadNotFound(DeskError):
    """The thread does not exist, or is hidden from this caller."""

    kind = ErrorKind.THREAD_NOT_FOUND


class MessageNotFound(DeskError):
    """The thread has no such message, or it was deleted."""

    kind = ErrorKind.MESSAGE_NOT_FOUND


class RequestNotFound(MessageNotFound):
    """No request with this name waits for an answer on this thread."""


class RunNotFound(DeskError):
    """The thread has no such run, or the run has no such step."""

    kind = ErrorKind.RUN_NOT_FOUND


class TaskNotFound(RunNotFound):
    """The task does not exist, or is hidden from this caller."""


class ActorNotFound(DeskError):
    """The thread has no such participant."""

    kind = ErrorKind.ACTOR_NOT_FOUND


class GrantNotFound(DeskError):
    """The thread has no such grant."""

    kind = ErrorKind.GRANT_NOT_FOUND


class TicketNotFound(DeskError):
    """The ticket does not exist."""

    kind = ErrorKind.TICKET_NOT_FOUND


class CallNotFound(DeskError):
    """The call does not exist, or is not this caller's."""

    kind = ErrorKind.CALL_NOT_FOUND


class AgentNotFound(DeskError):
    """The site has no agent with this id."""

    kind = ErrorKind.AGENT_NOT_FOUND


class EventsGone(DeskError):
    """More events have happened since then than are sent one by one."""

    kind = ErrorKind.EVENTS_GONE


class FileNotFound(DeskError):
    """The file does not exist, or is hidden from this caller."""

    kind = ErrorKind.FILE_NOT_FOUND


class ResourceNotFound(DeskError):
    """The site has no resource at this address, for this caller."""

    kind = ErrorKind.RESOURCE_NOT_FOUND


class RouteNotFound(DeskError):
    """Nothing is served at this address."""

    kind = ErrorKind.ROUTE_NOT_FOUND


class MethodNotAllowed(DeskError):
    """The address exists; ``allowed`` lists its methods."""

    kind = ErrorKind.METHOD_NOT_ALLOWED

    def __init__(self, message: str, *, allowed: Sequence[str]) -> None:
        super().__init__(message)
        self.allowed = tuple(allowed)


class NotAcceptable(DeskError):
    """The address has no representation that the caller accepts (RFC 9110, 15.5.7)."""

    kind = ErrorKind.NOT_ACCEPTABLE


class UnsupportedMedia(DeskError):
    """The address does not accept the body's media type."""

    kind = ErrorKind.UNSUPPORTED_MEDIA


class NotAuthenticated(DeskError):
    """A credential is missing or invalid.

    Parameters:
        reason: what is wrong with it; for the audit log, hidden from the caller.
        whose: id of the principal that it belongs to, if that is proven; also for the audit log.
    """

    kind = ErrorKind.NOT_AUTHENTICATED

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        reason: CredentialFault = "unproven",
        whose: str = "",
    ) -> None:
        super().__init__(message, param=param)
        self.reason: CredentialFault = reason
        self.whose = whose


class TokenRefused(NotAuthenticated):
    """The bearer token is invalid (RFC 6750, section 3.1: ``invalid_token``)."""


class UnknownClient(NotAuthenticated):
    """The client authentication failed (RFC 6749, section 5.2)."""


class Forbidden(DeskError):
    """The caller is known and may not do this."""

    kind = ErrorKind.FORBIDDEN


class ScopeMissing(Forbidden):
    """The credential lacks a scope; with ``scope`` it would open this."""

    def __init__(self, message: str, *, scope: str) -> None:
        super().__init__(message)
        self.scope = scope


class WrongHost(DeskError):
    """The Host header names a site that is not served (RFC 9110, 15.5.20)."""

    kind = ErrorKind.WRONG_HOST


class RequestTooLarge(DeskError):
    """A body, a member or its nesting exceeds its limit."""

    kind = ErrorKind.REQUEST_TOO_LARGE


class RequestTimeout(DeskError):
    """The request's body did not arrive in time."""

    kind = ErrorKind.REQUEST_TIMEOUT


class IdempotencyConflict(DeskError):
    """The idempotency key was used before with another method, path or body."""

    kind = ErrorKind.IDEMPOTENCY_CONFLICT


class IdempotencyInFlight(DeskError):
    """The first request with this idempotency key has not been answered yet."""

    kind = ErrorKind.IDEMPOTENCY_IN_FLIGHT


LimitScope = Literal["ip", "principal", "agent", "session", "session_tokens", "day_tokens"]


class RateLimited(DeskError):
    """Too many requests, or too many tokens; ``scope`` names the exceeded limit.

    Without ``retry_after`` waiting does not help, but a new session does.
    """

    kind = ErrorKind.RATE_LIMITED

    def __init__(self, message: str, *, scope: LimitScope, retry_after: int | None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.scope: LimitScope = scope


class Unavailable(DeskError):
    """The desk cannot do this now, but can later."""

    kind = ErrorKind.UNAVAILABLE


class StoreBusy(Unavailable):
    """The write queue is full; nothing of this request was written."""


class InternalError(DeskError):
    """A fault of the desk. ``request_id`` finds the traceback in the log."""

    kind = ErrorKind.INTERNAL

    def __init__(self, message: str, *, request_id: str) -> None:
        super().__init__(message)
        self.request_id = request_id
