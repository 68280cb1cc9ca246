"""Steps of a run: its tool calls, and its messages."""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.conversation.run import Run, RunState, RunUsage

StepStatus = Literal["in_progress", "completed", "failed", "cancelled", "expired"]


class StepCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of a step.

    Parameters:
        id: names the call within its run.
        arguments: JSON text of an object, as the agent wrote it.
        is_callers: whether the caller executes it, and not the desk.
        output: its output; None while the caller owes it.
        failed: whether ``output`` says why there is no result.
    """

    id: str
    name: str
    arguments: str
    is_callers: bool = False
    output: str | None = None
    failed: bool = False


class Step(msgspec.Struct, frozen=True):
    """One step of a run.

    Parameters:
        id: ``step_…``.
        position: its place in the run, from 1.
        created_at: Unix seconds, as ``completed_at``.
        text: the agent's text before its calls.
        calls: the tool calls; empty for a step that made a message.
        message_id: the message that was made.
        usage: a model's token usage; None if it is not known for this step alone.
    """

    id: str
    run_id: str
    position: int
    created_at: int
    text: str = ""
    calls: tuple[StepCall, ...] = ()
    message_id: str | None = None
    completed_at: int | None = None
    usage: RunUsage | None = None

    def status_in(self, run: Run) -> StepStatus:
        """Return the status of the step; incomplete ones ended as their run did."""
        if self.completed_at is not None:
            return "completed"
        match run.state:
            case RunState.CANCELLED:
                return "cancelled"
            case RunState.EXPIRED:
                return "expired"
            case RunState.FAILED | RunState.INCOMPLETE:
                return "failed"
            case _:
                return "in_progress"
