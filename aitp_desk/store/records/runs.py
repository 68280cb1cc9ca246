"""What units of work take and give of runs: plain frozen values, as those in ``records.py``."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run, RunOptions
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.conversation.thread import Message


class NewRun(msgspec.Struct, frozen=True):
    """A run that is to be queued.

    Parameters:
        id: ``run_…``, new.
        asked_by: for whom it works; the address is not kept.
        agent: id of the site's agent; None for a run that starts by itself, as is ``options``.
    """

    id: str
    asked_by: Principal
    agent: str | None = None
    options: RunOptions | None = None
    metadata: dict[str, str] = {}


class ClaimedRun(msgspec.Struct, frozen=True):
    """A run that a worker holds. It is the proof that ``finish_run`` and its like ask for.

    Parameters:
        id: ``run_…``.
        thread_id: where it answers.
        worker: who holds it.
        attempt: which attempt this is, from 1; with ``worker`` it tells this holding from others.
        created_at: when the run was queued, Unix seconds.
        upto_seq: the newest message when it was first taken up. It answers what was said up to
            there; later messages have a run of their own.
        last_event: number of the thread's newest event after the claim.
        answered_seq: the newest message that an earlier run has answered.
        asked_by: for whom it works; the address is not known.
        options: what its caller asks of it; None for a run that started by itself.
        is_resumed: whether it has waited for its caller before.
        is_again: whether it was taken up before, and perhaps told of.
        desk: name of the further site agent that answers; empty for the site's own.
    """

    id: str
    thread_id: str
    worker: str
    attempt: int
    created_at: int
    upto_seq: int
    last_event: int
    answered_seq: int
    asked_by: Principal
    options: RunOptions | None = None
    is_resumed: bool = False
    is_again: bool = False
    desk: str = ""


class Claims(msgspec.Struct, frozen=True):
    """What a look for work found.

    Parameters:
        taken: the runs that the worker now holds, oldest first.
        ended: runs that were over: given up after their last attempt, cancelled, expired.
    """

    taken: tuple[ClaimedRun, ...]
    ended: tuple[Run, ...]


class RunEnd(msgspec.Struct, frozen=True):
    """How a run ended.

    Parameters:
        run: the run, over now or waiting for its caller.
        messages: its replies as they are kept.
        last_event: number of the thread's newest event after this.
    """

    run: Run
    messages: tuple[Message, ...]
    last_event: int


class RunChange(msgspec.Struct, frozen=True):
    """What a caller has done to a run.

    Parameters:
        run: the run as it stands now.
        last_event: number of the thread's newest event after this.
    """

    run: Run
    last_event: int


class RunPage(msgspec.Struct, frozen=True):
    """A part of a thread's list of runs, in the order asked for; else as ``Page``."""

    runs: tuple[Run, ...]
    has_more: bool


class StepPage(msgspec.Struct, frozen=True):
    """A part of a run's list of steps, in the order asked for; else as ``Page``."""

    steps: tuple[Step, ...]
    has_more: bool
