"""Tracks the conversation in which an agent calls actions, and its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.desk.calls.invocation import WriteMessages, write_no_messages
from aitp_desk.desk.dialogue.statements import Statement
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.store.units.calls.calls import SessionTurn


class Conversation(msgspec.Struct):
    """The conversation in which an agent calls actions, with the outcomes.

    Parameters:
        thread_id, session_id: of the conversation; None if there is none yet.
        run_id: the run in which it answers; None if it answers within a request.
        words: the visitor's latest words.
        answers: id of the call that waits for these words, because the desk asked for them last;
            None for none.
        named: calls that the visitor's messages name, each with the words that answer its question:
            with these the rest of the words answers none.
        intent: the purpose, in the caller's words.
        callback_url: where the end of an ``async`` call is sent; already validated.
        say: builds the messages about a call, stored with the first one before it is executed.
        earlier: calls made before the agent is asked: by an interrupted attempt at the same run,
            and by the visitor's consent just given.
        is_counted: whether the request's rate limit already counts one call that changes something.
        stated: what the desk has stated about the calls, in order.
        made: the calls that have begun, in their present state, by id.
    """

    thread_id: str | None = None
    session_id: str | None = None
    run_id: str | None = None
    words: str = ""
    answers: str | None = None
    named: tuple[tuple[str, str], ...] = ()
    intent: str | None = None
    callback_url: str | None = None
    say: WriteMessages = write_no_messages
    earlier: tuple[ActionCall, ...] = ()
    is_counted: bool = False
    stated: list[Statement] = []
    made: dict[str, ActionCall] = {}

    def list_answers(self) -> tuple[tuple[str, str], ...]:
        """Return the calls whose questions are answered, each with the words."""
        if self.named or self.answers is None:
            return self.named
        return ((self.answers, self.words),)

    def consume_count(self) -> bool:
        """Return whether the next call is already counted, for one call only."""
        was_counted, self.is_counted = self.is_counted, False
        return was_counted

    def note_begun(self, call: ActionCall) -> SessionTurn | None:
        """Record a call that begins; return the visitor's message for the first one."""
        turn = None if self.made else self.say(call)
        self.made[call.id] = call
        return turn

    def note_ended(self, call: ActionCall) -> SessionTurn | None:
        """Record the end of a call; its message follows later."""
        self.made[call.id] = call
        return None

    def add_earlier_calls(self, calls: Sequence[ActionCall]) -> None:
        """Record calls that were made before the agent is asked."""
        self.earlier += tuple(calls)
        self.made |= {call.id: call for call in calls}

    def find_earlier_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        shown: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
    ) -> ActionCall | None:
        """Return the same call of an earlier attempt, which must not be repeated.

        A failed call may be tried again.

        Parameters:
            shown: redacts the arguments of an action; redacted arguments are compared.
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
