"""What can go wrong, once for all doors.

A :class:`DeskError` says what went wrong in words that a caller may read, and carries a kind of the
closed list (``error_kind.py``). It knows no protocol: each door's ``wire.py`` maps the kinds to its
own form. The table that all doors follow stands in ``docs/errors.md``.

    DeskError
    ├── InvalidRequest            the request cannot be understood
    │   ├── MissingField          a required member is absent
    │   ├── UnknownVersion        a protocol version that is not served
    │   ├── PreconditionFailed    understood, but not in this state
    │   │   ├── ConsentMissing    it costs, and that was not agreed to
    │   │   └── TaskIsOver        nothing can be added to the task
    │   │       └── TaskNotCancelable  nor can it be cancelled
    │   ├── UnsupportedGrant      OAuth: a way to a token that is not offered
    │   ├── InvalidScope          OAuth: a scope that does not exist, or is not the client's
    │   ├── InvalidTarget         OAuth: a token for what is not this desk's
    │   └── InvalidClientMetadata OAuth: a client that cannot be registered like this
    ├── PaymentRequired           it has to be paid for before it is done
    ├── UnknownAction             no such action (AHP: capability)
    ├── UnsupportedType           no answer type that both sides know
    ├── UnknownSession            no such conversation for this caller
    ├── SessionLimit              the conversation has had its turns
    ├── ThreadNotFound            no such thread for this caller
    ├── MessageNotFound           no such message on this thread
    │   └── RequestNotFound       nothing of this name waits for an answer there
    ├── RunNotFound               no such run, or step of one, on this thread
    │   └── TaskNotFound          no such task for this caller
    ├── ActorNotFound             no such actor on this thread
    ├── GrantNotFound             no such grant of this thread
    ├── CallNotFound              no such call of an action, for this caller
    ├── TicketNotFound            no such ticket
    ├── AgentNotFound             the site has no such agent (OpenAI API: assistant)
    ├── EventsGone                too much has happened since to be told one by one
    ├── FileNotFound              no such file for this caller
    ├── ResourceNotFound          no such resource of the site, for this caller
    ├── RouteNotFound             no such address
    ├── MethodNotAllowed          the address exists, the method does not
    ├── NotAcceptable             the address gives nothing of the media types that are accepted
    ├── UnsupportedMedia          the body's media type is not served
    ├── NotAuthenticated          a credential is needed, or the one sent proves nothing
    │   ├── TokenRefused          a token was sent, and proves nothing
    │   └── UnknownClient         OAuth: the client's id and secret prove nothing
    ├── Forbidden                 known caller, not allowed
    │   └── ScopeMissing          the credential does not open this
    ├── WrongHost                 the request was meant for another site
    ├── RequestTooLarge           a body, member or nesting past its limit
    ├── RequestTimeout            the request did not arrive in time
    ├── IdempotencyConflict       the key was used with another request
    ├── IdempotencyInFlight       the first request with this key is still at work
    ├── RateLimited               too many requests, or tokens
    ├── Unavailable               not now; later
    │   └── StoreBusy             too many writes are waiting
    └── InternalError             our fault; the details are in the log
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import msgspec

from aitp_desk.model.calls.payment import PaymentTerms
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.money import Money

Refusal = Literal[
    "conflicting", "expired", "malformed", "replayed", "revoked", "unknown", "unproven"
]
"""What may be wrong with a credential."""


class Recovery(msgspec.Struct, frozen=True):
    """What helps after a refusal (HAC 1.0, section 6.2).

    Parameters:
        description: what the caller should do, in a sentence.
        actions: names of the actions that do it.
    """

    description: str
    actions: tuple[str, ...] = ()


class DeskError(Exception):
    """Base of everything the desk refuses.

    Parameters:
        message: one or two sentences for the caller: what is wrong, what would be right.
        param: the member, header, path parameter or precondition at fault, where there is one.
        retry_after: whole seconds after which the same request may succeed.
        recovery: what else helps.
    """

    kind: ClassVar[ErrorKind]

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
        """Change what it tells, so that a secret is not repeated."""
        self.message = change(self.message)
        self.args = (self.message,)
        if self.recovery is not None:
            self.recovery = Recovery(change(self.recovery.description), self.recovery.actions)


class InvalidRequest(DeskError):
    """The request cannot be understood; nothing was changed."""

    kind = ErrorKind.INVALID_REQUEST


class MissingField(InvalidRequest):
    """A required member is absent; ``param`` names it."""

    kind = ErrorKind.MISSING_FIELD


class UnknownVersion(InvalidRequest):
    """The request names a protocol version that the desk does not serve."""

    kind = ErrorKind.UNKNOWN_VERSION


class PreconditionFailed(InvalidRequest):
    """The request is well formed but does not fit the present state of its object."""

    kind = ErrorKind.PRECONDITION_FAILED


class ConsentMissing(PreconditionFailed):
    """A call costs something, and its caller has not agreed to that.

    Parameters:
        price: what it costs; None where it is something else that must be agreed to.
    """

    def __init__(self, message: str, *, param: str | None = None, price: Money | None = None):
        super().__init__(message, param=param)
        self.price = price


class PaymentRequired(DeskError):
    """What is asked for has to be paid before it is done.

    Parameters:
        terms: how it can be paid; None where nothing asks for that yet.
        call_id: of the action's call that waits for it.
        thread_id: where it is asked for, and can be paid.
        refused: why a payment that came with it does not pay; empty where none came.
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
    """Nothing can be added to a task, and nothing more will happen to it."""


class TaskNotCancelable(TaskIsOver):
    """It cannot be cancelled either."""


class UnsupportedGrant(InvalidRequest):
    """A token is asked for in a way that is not offered (RFC 6749, sections 4.1.2.1 and 5.2)."""


class InvalidScope(InvalidRequest):
    """A scope that does not exist, or none that the client may have (RFC 6749, section 5.2)."""


class InvalidTarget(InvalidRequest):
    """A token is asked for what is not this desk's (RFC 8707, section 2)."""


class InvalidClientMetadata(InvalidRequest):
    """A client cannot be registered like this (RFC 7591, section 3.2.2)."""


class UnknownAction(DeskError):
    """No such action; ``available`` lists the names that exist for this caller."""

    kind = ErrorKind.UNKNOWN_ACTION

    def __init__(self, message: str, *, available: Sequence[str]) -> None:
        super().__init__(message, param="capability")
        self.available = tuple(available)


class UnsupportedType(DeskError):
    """No answer type that both sides know; ``available`` lists what the action can give."""

    kind = ErrorKind.UNSUPPORTED_TYPE

    def __init__(self, message: str, *, available: Sequence[str]) -> None:
        super().__init__(message, param="context.accept_types")
        self.available = tuple(available)


class UnknownSession(DeskError):
    """The session does not exist, has expired, or belongs to somebody else."""

    kind = ErrorKind.UNKNOWN_SESSION


class SessionLimit(DeskError):
    """The session has had all its turns; a new one helps."""

    kind = ErrorKind.SESSION_LIMIT


class ThreadNotFound(DeskError):
    """The thread does not exist, or this caller may not know that it does."""

    kind = ErrorKind.THREAD_NOT_FOUND


class MessageNotFound(DeskError):
    """There is no such message on this thread, or it was deleted."""

    kind = ErrorKind.MESSAGE_NOT_FOUND


class RequestNotFound(MessageNotFound):
    """Nothing of this name waits for an answer on this thread, or not any more."""


class RunNotFound(DeskError):
    """There is no such run on this thread, or the run has no such step."""

    kind = ErrorKind.RUN_NOT_FOUND


class TaskNotFound(RunNotFound):
    """There is no such task, for this caller at least."""


class ActorNotFound(DeskError):
    """No such actor takes part in this thread."""

    kind = ErrorKind.ACTOR_NOT_FOUND


class GrantNotFound(DeskError):
    """The thread is not shared by such a grant."""

    kind = ErrorKind.GRANT_NOT_FOUND


class TicketNotFound(DeskError):
    """There is no such ticket."""

    kind = ErrorKind.TICKET_NOT_FOUND


class CallNotFound(DeskError):
    """There is no such call of an action, or it is not this caller's."""

    kind = ErrorKind.CALL_NOT_FOUND


class AgentNotFound(DeskError):
    """The site has no agent of this id."""

    kind = ErrorKind.AGENT_NOT_FOUND


class EventsGone(DeskError):
    """More has happened on the thread since then than is told one by one."""

    kind = ErrorKind.EVENTS_GONE


class FileNotFound(DeskError):
    """The file does not exist, or this caller may not know that it does."""

    kind = ErrorKind.FILE_NOT_FOUND


class ResourceNotFound(DeskError):
    """The site has nothing at this address, or nothing that this caller may know of."""

    kind = ErrorKind.RESOURCE_NOT_FOUND


class RouteNotFound(DeskError):
    """Nothing is served at this address."""

    kind = ErrorKind.ROUTE_NOT_FOUND


class MethodNotAllowed(DeskError):
    """The address exists; ``allowed`` lists the methods that it takes."""

    kind = ErrorKind.METHOD_NOT_ALLOWED

    def __init__(self, message: str, *, allowed: Sequence[str]) -> None:
        super().__init__(message)
        self.allowed = tuple(allowed)


class NotAcceptable(DeskError):
    """The address gives nothing of the media types that the caller accepts (RFC 9110, 15.5.7)."""

    kind = ErrorKind.NOT_ACCEPTABLE


class UnsupportedMedia(DeskError):
    """The body's media type is not one that this address reads."""

    kind = ErrorKind.UNSUPPORTED_MEDIA


class NotAuthenticated(DeskError):
    """A credential is needed, or the one that was sent proves nothing.

    Parameters:
        reason: what is wrong with it, for the audit log and for no caller.
        whose: id of the principal whose it was, where that is proven, for the audit log too.
    """

    kind = ErrorKind.NOT_AUTHENTICATED

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        reason: Refusal = "unproven",
        whose: str = "",
    ) -> None:
        super().__init__(message, param=param)
        self.reason: Refusal = reason
        self.whose = whose


class TokenRefused(NotAuthenticated):
    """A bearer token was sent that proves nothing (RFC 6750, section 3.1: ``invalid_token``)."""


class UnknownClient(NotAuthenticated):
    """The client's id and secret prove nothing (RFC 6749, section 5.2)."""


class Forbidden(DeskError):
    """The caller is known and may not do this."""

    kind = ErrorKind.FORBIDDEN


class ScopeMissing(Forbidden):
    """The credential was made for something else; with ``scope`` it would open this."""

    def __init__(self, message: str, *, scope: str) -> None:
        super().__init__(message)
        self.scope = scope


class WrongHost(DeskError):
    """The Host header names a site that this desk does not serve (RFC 9110, 15.5.20)."""

    kind = ErrorKind.WRONG_HOST


class RequestTooLarge(DeskError):
    """A body, a member or its nesting is past its limit."""

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
    """Too many requests, or too many tokens; ``scope`` says whose allowance is spent.

    Without ``retry_after`` waiting does not help, but a new session does.
    """

    kind = ErrorKind.RATE_LIMITED

    def __init__(self, message: str, *, scope: LimitScope, retry_after: int | None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.scope: LimitScope = scope


class Unavailable(DeskError):
    """The desk cannot do this now; later it can."""

    kind = ErrorKind.UNAVAILABLE


class StoreBusy(Unavailable):
    """More writes are waiting than the queue holds; nothing of this one was written."""


class InternalError(DeskError):
    """A fault of the desk. ``request_id`` finds the traceback in the log."""

    kind = ErrorKind.INTERNAL

    def __init__(self, message: str, *, request_id: str) -> None:
        super().__init__(message)
        self.request_id = request_id
