"""Stores tasks that are calls, with the beginning and the end of the call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.tasks.outcomes import make_call_outcome
from aitp_desk.desk.tasks.turns import TurnDraft
from aitp_desk.desk.tasks.views import TaskOutcome
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.errors import DeskError
from aitp_desk.store.records.tasks import NewTurn
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.runs.tasks import end_turn_of_call


class CallTurn:
    """A turn of a task that calls an action.

    Parameters:
        asked: JSON of the call as its caller wrote it.
        clock: Unix seconds.

    Attributes:
        is_begun: whether it was passed on with the call's beginning.
        is_ended: whether it was passed on with the call's end: then both are on disk.
    """

    def __init__(self, draft: TurnDraft, asked: str, clock: Callable[[], float]) -> None:
        self._draft = draft
        self._asked = asked
        self._clock = clock
        self._call_id: str | None = None
        self.is_begun = False
        self.is_ended = False

    def make_writes(self, call: ActionCall, error: DeskError | None) -> ExtraStatements:
        """Return the statements to write with the call's beginning, or with its end."""
        if call.is_over:
            self.is_ended = True
            told = None if error is None else make_call_outcome(error)
            said = None if told is None else to_json(told)
            now = int(self._clock())
            return partial(end_turn_of_call, call_id=call.id, state=call.state, said=said, now=now)
        self.is_begun, self._call_id = True, call.id
        return partial(self._draft.write, self.make_turn(None))

    def make_turn(self, came: CallStatus | TaskOutcome | None) -> NewTurn:
        """Return the turn in its stored form.

        Parameters:
            came: the outcome; None if there is none yet.
        """
        call_id = came.call.id if isinstance(came, CallStatus) else self._call_id
        said = to_json(came) if isinstance(came, TaskOutcome) else None
        return NewTurn(call_id=call_id, asked=self._asked, said=said)
