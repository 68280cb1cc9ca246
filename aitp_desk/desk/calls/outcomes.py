"""How calls end: with a result, an error that may be told, or without anybody knowing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from aitp_desk.actions.base import Done
from aitp_desk.model.calls.call import ActionCall, CallError, CallState
from aitp_desk.model.errors import DeskError, InternalError
from aitp_desk.model.redaction import hide

NOBODY_KNOWS = "It is not known what became of it."

_log = structlog.get_logger()


@contextmanager
def faults(name: str, id_: str) -> Iterator[None]:
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
        error.hide(hide)
        raise
    except TimeoutError:
        raise
    except Exception as fault:
        _log.exception("action_failed", action=name, call=id_)
        raise InternalError(
            f"{name} failed on our side. Tell us the id {id_} and we can find out why.",
            request_id=id_,
        ) from fault


def succeeded(call: ActionCall, done: Done, now: int) -> ActionCall:
    """A call that has given something."""
    return call.move(
        CallState.SUCCEEDED,
        result=done.result,
        text=done.text,
        effects=done.side_effects,
        progress="",
        ended_at=now,
    )


def failed(call: ActionCall, error: DeskError, now: int) -> ActionCall:
    """A call that was refused, or that failed."""
    told = CallError(error.kind.value, error.message, error.param, error.recovery)
    return call.move(CallState.FAILED, error=told, progress="", ended_at=now)


def unknown(call: ActionCall, now: int) -> ActionCall:
    """A call that was cut short, and that cannot be made again."""
    told = CallError("unknown", f"It was begun. {NOBODY_KNOWS}")
    return call.move(CallState.UNKNOWN, error=told, progress="", ended_at=now)


def expired(call: ActionCall, now: int) -> ActionCall:
    """A call that was not over in its time."""
    told = CallError("expired", "It was not done in its time.")
    return call.move(CallState.EXPIRED, error=told, progress="", ended_at=now)


def always(ended: ActionCall) -> Callable[[ActionCall], ActionCall]:
    """What ends a call of which it is known already how it ended."""
    return lambda _call: ended
