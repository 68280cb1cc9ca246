"""What a call that was refused is to the task that asked for it."""

from __future__ import annotations

from aitp_desk.desk.tasks.refusal import describe_error
from aitp_desk.desk.tasks.views import TaskOutcome
from aitp_desk.model.calls.task import Result, TaskState
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
"""Refusals after which no task is begun: nothing was called, and the request itself is wrong, or
comes too soon."""


def make_call_outcome(error: DeskError) -> TaskOutcome | None:
    """How a task stands whose call was made, and failed so; None where the call itself tells it."""
    try:
        return make_refusal_outcome(error)
    except DeskError:
        return None


def make_refusal_outcome(error: DeskError) -> TaskOutcome:
    """How a task stands whose call was refused: what could be set right, or what came of trying.

    Raises:
        DeskError: the same, where no task is begun.
    """
    if isinstance(error, RAISED) or type(error) is InvalidRequest:
        raise error
    data = describe_error(error)
    match error:
        case ConsentMissing():
            state = TaskState.INPUT_REQUIRED
            data |= {"code": "consent_needed", "price": error.price}
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
