"""In which conversation an agent calls actions, and what it has called there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.desk.calls.invocation import InvocationOutcome, WriteMessages, write_no_messages
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.store.units.calls.calls import SessionTurn


class Conversation(msgspec.Struct):
    """In which conversation an agent calls actions, and what came of it.

    Parameters:
        thread_id, session_id: of the conversation; None where there is none yet.
        run_id: the run in which it answers; None where it answers within a request.
        words: what the visitor has said last, in their own words.
        answers: id of the call that waits for these words, because the desk has asked for them
            last; None where none does.
        intent: what for, in the caller's words.
        callback_url: where the end of an ``async`` call is told; it was checked.
        say: what is said for a call; written with the first one before it is carried out.
        earlier: what was called before the agent is asked: by an attempt at the same run that was
            cut short, and what the visitor has just agreed to.
        is_counted: whether one call that may change something was counted with the request.
        invoked: what became of the calls, in order.
        made: the calls that were begun, as they stand now, by their ids.
    """

    thread_id: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    words: str = ""
    answers: str | None = None
    intent: str | None = None
    callback_url: str | None = None
    say: WriteMessages = write_no_messages
    earlier: tuple[ActionCall, ...] = ()
    is_counted: bool = False
    invoked: list[InvocationOutcome] = []
    made: dict[str, ActionCall] = {}

    def consume_count(self) -> bool:
        """Whether a call was counted with the request; of the next one that is not so."""
        was_counted, self.is_counted = self.is_counted, False
        return was_counted

    def note_begun(self, call: ActionCall) -> SessionTurn | None:
        """Take note of a call that is begun, and say what was said for it, once."""
        turn = None if self.made else self.say(call)
        self.made[call.id] = call
        return turn

    def note_ended(self, call: ActionCall) -> SessionTurn | None:
        """Take note of how a call has ended; what is said of that comes later."""
        self.made[call.id] = call
        return None

    def add_earlier_calls(self, calls: Sequence[ActionCall]) -> None:
        """Take note of calls that were made before the agent is asked."""
        self.earlier += tuple(calls)
        self.made |= {call.id: call for call in calls}

    def find_earlier_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        shown: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
    ) -> ActionCall | None:
        """The same call of an earlier attempt, which is not made again; None where none was.

        What has failed may be tried again.

        Parameters:
            shown: gives arguments of an action as they may be shown; so they are compared.
        """
        wanted = shown(name, arguments)
        return next(
            (
                call
                for call in self.earlier
                if call.action == name
                and shown(name, call.arguments) == wanted
                and call.state is not CallState.FAILED
            ),
            None,
        )
