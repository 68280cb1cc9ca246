"""Ends calls: with a result, an error safe to show, or an unknown outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from aitp_desk.actions.base import ActionResult, CallContinues, OutcomeUnknown
from aitp_desk.model.calls.call import ActionCall, CallError, CallState
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.model.errors import DeskError, InternalError
from aitp_desk.model.redaction import redact_text

OUTCOME_UNKNOWN = "The outcome is unknown."

_log = structlog.get_logger()


@contextmanager
def hide_faults(name: str, id_: str) -> Iterator[None]:
    """Convert exceptions of the site's own code to errors that reveal nothing of it.

    Parameters:
        name: of the action or resource.
        id_: of the call; it appears in the log and in the error.

    Raises:
        TimeoutError, OutcomeUnknown, CallContinues: unchanged.
        DeskError: with the call's secret arguments redacted.
        InternalError: for any other exception; it is logged with the id.
    """
    try:
        yield
    except DeskError as error:
        error.hide(redact_text)
        raise
    except (TimeoutError, OutcomeUnknown, CallContinues):
        raise
    except Exception as fault:
        _log.exception("action_failed", action=name, call=id_)
        raise InternalError(
            f"{name} failed because of a fault on our side. Send us the id {id_}, and we"
            " can find the cause.",
            request_id=id_,
        ) from fault


def mark_succeeded(call: ActionCall, done: ActionResult, now: int) -> ActionCall:
    """Return a call as succeeded, with its result."""
    return call.move(
        CallState.SUCCEEDED,
        result=done.result,
        text=done.text,
        effects=done.side_effects,
        progress="",
        ended_at=now,
    )


def mark_failed(call: ActionCall, error: DeskError, now: int) -> ActionCall:
    """Return a call as refused or failed."""
    told = CallError(error.kind.value, error.message, error.param, error.recovery)
    return call.move(CallState.FAILED, error=told, progress="", ended_at=now)


def mark_unknown(call: ActionCall, now: int) -> ActionCall:
    """Return an interrupted call that cannot be repeated, with an unknown outcome."""
    told = CallError(FailureCode.UNKNOWN.value, f"The call has started. {OUTCOME_UNKNOWN}")
    return call.move(CallState.UNKNOWN, error=told, progress="", ended_at=now)


def mark_expired(call: ActionCall, now: int) -> ActionCall:
    """Return a call that did not end in time, as expired."""
    told = CallError(FailureCode.EXPIRED.value, "It was not done in time.")
    return call.move(CallState.EXPIRED, error=told, progress="", ended_at=now)


def make_fixed_end(ended: ActionCall) -> Callable[[ActionCall], ActionCall]:
    """Return a function that ends a call in this known way."""
    return lambda _call: ended
