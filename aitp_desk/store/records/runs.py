"""Defines runs as units of work take and return them."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run, RunOptions
from aitp_desk.model.conversation.thread import Message


class NewRun(msgspec.Struct, frozen=True):
    """A run to be queued.

    Parameters:
        id: ``run_…``, new.
        asked_by: its principal; the address is not stored.
        agent: id of the site's agent; None for an automatic run, as is ``options``.
    """

    id: str
    asked_by: Principal
    agent: str | None = None
    options: RunOptions | None = None
    metadata: dict[str, str] = {}


class ClaimedRun(msgspec.Struct, frozen=True):
    """A run that a worker holds.

    It is the proof that ``finish_run`` and others require.

    Parameters:
        id: ``run_…``.
        thread_id: where it answers.
        worker: who holds it.
        attempt: which attempt this is, from 1; with ``worker`` it identifies this claim.
        created_at: when the run was queued, Unix seconds.
        upto_seq: the newest message when it was first claimed. It answers messages up to there;
            later ones have another run.
        last_event: number of the thread's newest event after the claim.
        answered_seq: the newest message that an earlier run has answered.
        asked_by: its principal; the address is not known.
        options: its caller's options; None for an automatic run.
        is_resumed: whether it has waited for its caller before.
        is_again: whether it was claimed before, and perhaps announced.
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
    """The result of claiming runs.

    Parameters:
        taken: the runs that the worker now holds, oldest first.
        ended: runs that ended: failed after their last attempt, cancelled, expired.
    """

    taken: tuple[ClaimedRun, ...]
    ended: tuple[Run, ...]


class RunEnd(msgspec.Struct, frozen=True):
    """How a run ended.

    Parameters:
        run: the run, ended or waiting for its caller.
        messages: its replies as stored.
        last_event: number of the thread's newest event after this.
    """

    run: Run
    messages: tuple[Message, ...]
    last_event: int


class RunChange(msgspec.Struct, frozen=True):
    """A caller's change of a run.

    Parameters:
        run: the run after the change.
        last_event: number of the thread's newest event after this.
    """

    run: Run
    last_event: int
