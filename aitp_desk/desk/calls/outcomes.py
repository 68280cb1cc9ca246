"""How calls end: with a result, an error that may be told, or without anybody knowing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from aitp_desk.actions.base import ActionResult
from aitp_desk.model.calls.call import ActionCall, CallError, CallState
from aitp_desk.model.errors import DeskError, InternalError
from aitp_desk.model.redaction import redact_text

OUTCOME_UNKNOWN = "It is not known what became of it."

_log = structlog.get_logger()


@contextmanager
def hide_faults(name: str, id_: str) -> Iterator[None]:
    """Make of what escapes the site's own code an error that says nothing of it.

    Parameters:
        name: of what is carried out.
        id_: of the call, which the log and the caller are told.

    Raises:
        TimeoutError: unchanged.
        DeskError: without what was secret among the arguments.
        InternalError: anything else; it is in the log, with the id.
    """
    try:
        yield
    except DeskError as error:
        error.hide(redact_text)
        raise
    except TimeoutError:
        raise
    except Exception as fault:
        _log.exception("action_failed", action=name, call=id_)
        raise InternalError(
            f"{name} failed on our side. Tell us the id {id_} and we can find out why.",
            request_id=id_,
        ) from fault


def mark_succeeded(call: ActionCall, done: ActionResult, now: int) -> ActionCall:
    """A call that has given something."""
    return call.move(
        CallState.SUCCEEDED,
        result=done.result,
        text=done.text,
        effects=done.side_effects,
        progress="",
        ended_at=now,
    )


def mark_failed(call: ActionCall, error: DeskError, now: int) -> ActionCall:
    """A call that was refused, or that failed."""
    told = CallError(error.kind.value, error.message, error.param, error.recovery)
    return call.move(CallState.FAILED, error=told, progress="", ended_at=now)


def mark_unknown(call: ActionCall, now: int) -> ActionCall:
    """A call that was cut short, and that cannot be made again."""
    told = CallError("unknown", f"It was begun. {OUTCOME_UNKNOWN}")
    return call.move(CallState.UNKNOWN, error=told, progress="", ended_at=now)


def mark_expired(call: ActionCall, now: int) -> ActionCall:
    """A call that was not over in its time."""
    told = CallError("expired", "It was not done in its time.")
    return call.move(CallState.EXPIRED, error=told, progress="", ended_at=now)


def make_fixed_end(ended: ActionCall) -> Callable[[ActionCall], ActionCall]:
    """What ends a call of which it is known already how it ended."""
    return lambda _call: ended
