"""Maps a refused call to the state of its task."""

from __future__ import annotations

from aitp_desk.desk.tasks.refusal import describe_error
from aitp_desk.desk.tasks.views import TaskOutcome
from aitp_desk.model.calls.task import Result, TaskState
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    Forbidden,
    IdempotencyConflict,
    IdempotencyInFlight,
    InternalError,
    InvalidRequest,
    NotAuthenticated,
    PreconditionFailed,
    RateLimited,
    ScopeMissing,
    StoreBusy,
    UnknownAction,
)

RAISED = (
    UnknownAction,
    RateLimited,
    StoreBusy,
    IdempotencyConflict,
    IdempotencyInFlight,
)
"""Refusals after which no task is created: nothing was called, and the request itself is wrong, or
comes too soon.
"""


def make_call_outcome(error: DeskError) -> TaskOutcome | None:
    """Return the outcome of a task whose call failed, or None.

    It is None if the call itself reports it.
    """
    try:
        return make_refusal_outcome(error)
    except DeskError:
        return None


def make_refusal_outcome(error: DeskError) -> TaskOutcome:
    """Return the outcome of a task whose call was refused.

    Raises:
        DeskError: the same error, if no task is created for it.
    """
    if isinstance(error, RAISED) or type(error) is InvalidRequest:
        raise error
    data = describe_error(error)
    match error:
        case ConsentMissing():
            state = TaskState.INPUT_REQUIRED
            data |= {"code": FailureCode.CONSENT_NEEDED.value, "price": error.price}
        case ScopeMissing():
            state = TaskState.AUTH_REQUIRED
            data["scope"] = error.scope
        case NotAuthenticated() | Forbidden():
            state = TaskState.AUTH_REQUIRED
        case InvalidRequest() if not isinstance(error, PreconditionFailed):
            state = TaskState.INPUT_REQUIRED
        case InternalError():
            state = TaskState.FAILED
            data["request_id"] = error.request_id
        case _:
            state = TaskState.FAILED
    return TaskOutcome(state, Result((error.message,), data))
