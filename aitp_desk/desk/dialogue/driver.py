"""Holds the dialogues about calls, for session turns, runs and an agent's tool calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from aitp_desk.actions.base import OfferedAction
from aitp_desk.desk.calls.invocation import Invocation, WriteMessages
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.action_dialogue import ActionDialogue, Dialogue
from aitp_desk.desk.dialogue.next_question import next_question
from aitp_desk.desk.dialogue.statements import Call
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.errors import DeskError

S = TypeVar("S")


class DialogueDriver:
    """Makes the calls of dialogues, and has the site's own code ask.

    Parameters:
        desk_messages: asks questions through plugins.
        now: returns the present time in the site's time zone, for words such as ``tomorrow``.
    """

    def __init__(
        self, invoker: ActionInvoker, desk_messages: DeskMessages, now: Callable[[], datetime]
    ) -> None:
        self._invoker = invoker
        self._can_ask = desk_messages.can_ask if desk_messages.may_ask else None
        self._now = now

    def begin(self, offered: OfferedAction, base: Invocation) -> ActionDialogue:
        """Return the dialogue about a call.

        Parameters:
            base: the call without its arguments.
        """
        return ActionDialogue(offered, base, can_ask=self._can_ask, now=self._now())

    def continue_waiting(
        self, offered: OfferedAction, waiting: ActionCall, run_id: str | None
    ) -> ActionDialogue:
        """Return the dialogue about a pending call, as its run continues it."""
        base = Invocation(
            waiting.action,
            waiting.arguments,
            waiting.source,
            thread_id=waiting.thread_id,
            session_id=waiting.session_id,
            run_id=run_id,
            tool_call_id=waiting.tool_call_id,
        )
        return self.begin(offered, base)

    async def hold(
        self,
        principal: Principal,
        offered: OfferedAction,
        dialogue: Dialogue[S],
        say: WriteMessages,
        say_end: WriteMessages,
        count: Callable[[], None] = lambda: None,
    ) -> S:
        """Hold a dialogue up to the desk's statement.

        Parameters:
            say, say_end: as of :meth:`.ActionInvoker.invoke`.
            count: called before each call; raises if there were too many.

        Raises:
            DeskError: a call was refused, and the dialogue has no question about that.
        """
        try:
            step = next(dialogue)
            while True:
                try:
                    if isinstance(step, Call):
                        count()
                        came: object = await self._invoker.invoke(
                            principal, step.invocation, say, say_end
                        )
                    else:
                        context = self._invoker.make_context(principal, step.waiting)
                        came = await next_question(offered, step.arguments, context, step.missing)
                except DeskError as error:
                    step = dialogue.throw(error)
                else:
                    step = dialogue.send(came)
        except StopIteration as ended:
            stated: S = ended.value
            return stated
