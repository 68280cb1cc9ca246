"""Having an action of the site's own done in a conversation in questions and answers.

A question to such an action is a call of it: as a JSON object, which is its arguments, or in words,
which are read as arguments by a model where one answers here, and by the action's schema elsewhere.
What is missing, or must be agreed to, is asked back; the call waits, and goes on in the same
session. What was said stands on the session's thread, in the commits in which the call moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from aitp_desk.agent.base import Answer, ToolCallingAgent
from aitp_desk.agent.history.offer import Offer
from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.desk.calls.invocation import AcceptedCall, Consent
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.results import PLAIN, choose_type, offer_result
from aitp_desk.desk.dialogue.action_dialogue import ActionDialogue
from aitp_desk.desk.dialogue.consent import is_low_risk, parse_answer, parse_consent
from aitp_desk.desk.dialogue.prompts import describe_accepted
from aitp_desk.desk.dialogue.statements import DialogueServices
from aitp_desk.desk.dialogue.tools.json_arguments import parse_arguments, write_arguments
from aitp_desk.desk.dialogue.turn import ActionReply, ActionRequest, CallStatus
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.errors import (
    CallNotFound,
    MissingField,
    PreconditionFailed,
    UnsupportedType,
)

_Came = TypeVar("_Came", bound=Answer)


class ActionTurns:
    """Has actions done, in sessions.

    Parameters:
        means: what each exchange is held with.
        requires_intent: whether it must be said what for, where something may change.
        check_callback: refuses an address that a caller may not be told at.
    """

    def __init__(
        self,
        means: DialogueServices,
        *,
        requires_intent: bool,
        check_callback: Callable[[Principal, str], None],
    ) -> None:
        self._means = means
        self._requires_intent = requires_intent
        self._check_callback = check_callback

    @property
    def invoker(self) -> ActionInvoker:
        """What calls the actions."""
        return self._means.invoking

    async def run_action(
        self, principal: Principal, name: str, request: ActionRequest, session: Session
    ) -> ActionReply:
        """Have an action done, or ask back. The session's turn is the caller's.

        Raises:
            whatever :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke` raises;
            MissingField: it was not said what for.
            InvalidRequest: nobody is told at the address that was given, or nothing was asked that
                this could answer.
            UnsupportedType: the asker can handle none of the action's types.
        """
        offered = self.invoker.find(principal, name)
        action = offered.action
        if self._requires_intent and action.kind != "query" and not (request.intent or "").strip():
            raise MissingField(
                f"Say in context.user_intent what {name} is called for.",
                param="context.user_intent",
            )
        if request.callback_url is not None:
            if action.kind == "async":
                self._check_callback(principal, request.callback_url)
            else:
                request = msgspec.structs.replace(request, callback_url=None)
        chosen = choose_type(action, request.accepts)
        waiting = await self._waiting(principal, name, session)
        if request.is_reply:
            session.check_pending()
        given = None if request.is_reply else parse_arguments(request.words)
        if given is not None:
            request = self._to_be_written(name, request, *given)
        exchange = ActionDialogue(self._means, principal, offered, request, session, chosen)
        if given is not None:
            return await exchange.call(given[0], request.written_by, given[1])
        if waiting is not None and waiting.memory is None:
            reply = await self._take_answer(exchange, offered.action, request.words, waiting)
            if reply is not None:
                return reply
            waiting = None  # what is meant instead is a call of its own
        if self.asks_agent:
            return await exchange.ask_agent()
        return await exchange.read(waiting)

    async def _take_answer(
        self, exchange: ActionDialogue, action: Action, words: str, waiting: ActionCall
    ) -> ActionReply | None:
        """Go on with a call that was to be agreed to, or paid, by what is said to that.

        Returns:
            None where something else is meant by it.
        """
        known, asks_agent = waiting.arguments, self.asks_agent
        if waiting.state is CallState.WAITING_PAYMENT:
            match parse_consent(words):
                case True:
                    return await exchange.remind(waiting)
                case False:
                    return await exchange.decline(waiting)
                case None:
                    return None
        # what is meant instead, an agent reads itself
        mild = is_low_risk(action, waiting.price)
        answer = (
            parse_consent(words, is_mild=mild)
            if asks_agent
            else parse_answer(words, action, known, self._means.now(), is_mild=mild)
        )
        if answer is True:
            return await exchange.call(known, waiting.source, Consent(waiting.price), waiting)
        if answer is False:
            return await exchange.decline(waiting)
        return (
            None
            if asks_agent
            else await exchange.ask_again(answer or FilledArguments(known), waiting)
        )

    @property
    def asks_agent(self) -> bool:
        """Whether an agent answers here that calls actions itself."""
        agent = self._means.agent
        return isinstance(agent, ToolCallingAgent) and agent.calls_tools

    def _to_be_written(
        self,
        name: str,
        request: ActionRequest,
        arguments: Mapping[str, Any],
        consent: Consent | None,
    ) -> ActionRequest:
        """A request whose words are these arguments, as the words may stand on the thread."""
        shown = self.invoker.secrets.redact_arguments(name, arguments)
        if shown == arguments:
            return request
        return msgspec.structs.replace(request, words=write_arguments(shown, consent))

    async def find_answered_call(self, principal: Principal, session: Session) -> tuple[str, ...]:
        """The call that a session's last turn has asked for, where it was answered already.

        That is so where the desk was stopped before the call went on.
        """
        pending = session.pending
        if pending is None or pending.call_id is None:
            return ()
        call = await self.invoker.calls.find_pending(pending.call_id, principal)
        return () if call is None or call.answer is None else (call.id,)

    async def continue_call(
        self, principal: Principal, call_id: str, request: ActionRequest, session: Session
    ) -> tuple[Action, ActionReply]:
        """Have a call go on that was answered, or ask for what is missing yet.

        Returns:
            The action, and what became of it.

        Raises:
            PreconditionFailed: it has gone on already.
            whatever :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke` raises.
        """
        call = await self.invoker.calls.find(call_id)
        if call is None or call.answer is None or not call.waits_for_asker:
            raise PreconditionFailed("This was settled meanwhile.")
        offered = self.invoker.find(principal, call.action)
        action = offered.action
        try:
            chosen = choose_type(action, request.accepts)
        except UnsupportedType:  # what was asked for was another action's
            chosen = choose_type(action, None)
        exchange = ActionDialogue(self._means, principal, offered, request, session, chosen)
        return action, await exchange.continue_call(call, call.answer.value)

    async def report_payment(
        self, call: ActionCall, request: ActionRequest, session: Session, receipt: Answer
    ) -> ActionReply:
        """What came of a call that was paid in a turn, after what was said of the payment.

        Parameters:
            call: as it stands; what came of it is on the thread already.
        """
        if call.state is CallState.WAITING_PAYMENT:  # what was paid is looked at
            return ActionReply(receipt)
        if not call.is_over:
            accepted = AcceptedCall(call, await self.invoker.calls.seconds_left(call))
            is_asked_after = call.session_id == session.id
            said = _told_with(receipt, describe_accepted(call))
            return ActionReply(said, accepted if is_asked_after else None)
        action = self.invoker.get_action(call.action)
        try:
            chosen = choose_type(action, request.accepts)
        except UnsupportedType:  # it was chosen for another question
            chosen = PLAIN
        came = offer_result(action, call, chosen, max_tokens=request.max_tokens)
        return ActionReply(_told_with(receipt, came), ended=call)

    async def get_call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """How the newest call stands that was accepted in a session of the caller's.

        Raises:
            CallNotFound: there is none, or it is somebody else's.
        """
        call = await self.invoker.calls.find_in_session(session_id, principal)
        if call is None:
            raise CallNotFound("There is no such call of yours.", param="session_id")
        if not call.is_over:
            return CallStatus(call, await self.invoker.calls.seconds_left(call))
        return CallStatus(call, offer=self.offer_result(call))

    async def describe_end(self, call_id: str) -> CallStatus | None:
        """How a call ended, for its caller's own server.

        None where it has not, there is none, or its caller may not be told any more.
        """
        call = await self.invoker.calls.find_ended(call_id)
        if call is None or not await self.invoker.calls.may_notify(call):
            return None
        return CallStatus(call, offer=self.offer_result(call))

    def offer_result(self, call: ActionCall) -> Offer | None:
        """What came of a call, in the form that its action prefers; None where nothing did."""
        if call.state is not CallState.SUCCEEDED:
            return None
        return self.invoker.offer_result(call)

    async def find_asked_action(self, principal: Principal, session: Session) -> Action | None:
        """The action whose call waits for the answer to what the session's last turn asked."""
        pending = session.pending
        if pending is None or pending.call_id is None:
            return None
        call = await self.invoker.calls.find_pending(pending.call_id, principal)
        if call is None or call.action not in self.invoker.names:
            return None
        return self.invoker.get_action(call.action)

    async def _waiting(
        self, principal: Principal, name: str, session: Session
    ) -> ActionCall | None:
        """The call of this action that the session's last turn has asked something for."""
        pending = session.pending
        if pending is None or pending.call_id is None:
            return None
        call = await self.invoker.calls.find_pending(pending.call_id, principal)
        return call if call is not None and call.action == name else None


def _told_with(receipt: Answer, came: _Came) -> _Came:
    """What came of a call, after what was said of its payment."""
    return msgspec.structs.replace(
        came,
        text=f"{receipt.text}\n\n{came.text}",
        tokens_used=receipt.tokens_used + came.tokens_used,
        spoken=(*receipt.spoken, Spoken(came.text)) if receipt.spoken else (),
    )
