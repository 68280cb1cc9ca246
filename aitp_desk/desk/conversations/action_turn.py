"""Runs an action of the site's own as turns of a session.

A question to such an action is a call of it. A JSON object gives the arguments; text is read as
arguments by a model if one answers, else by the action's schema. The desk asks back for missing
arguments and for consent; the call waits and resumes in the same session. Messages are stored on
the session's thread, in the commits that change the call's state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from aitp_desk.agent.base import Answer, find_tool_caller
from aitp_desk.desk.calls.invocation import AcceptedCall, Consent
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.results import PLAIN, choose_type, offer_result
from aitp_desk.desk.conversations.driver import DialogueServices, SessionDriver
from aitp_desk.desk.dialogue.prompts import describe_accepted
from aitp_desk.desk.dialogue.tools.json_arguments import parse_arguments, write_arguments
from aitp_desk.desk.dialogue.turn import ActionReply, ActionRequest
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.errors import (
    Forbidden,
    MissingField,
    NotAuthenticated,
    PreconditionFailed,
    UnknownAction,
    UnsupportedType,
)

_Came = TypeVar("_Came", bound=Answer)


class ActionTurns:
    """Runs actions in sessions.

    Parameters:
        means: services of the dialogue.
        requires_intent: whether a call that may change something must state its purpose.
        check_callback: raises if a caller may not be notified at an address.
    """

    def __init__(
        self,
        means: DialogueServices,
        *,
        requires_intent: bool,
        check_callback: Callable[[Principal, str], None],
    ) -> None:
        self._means = means
        self._tool_caller = find_tool_caller(means.agent)
        self._requires_intent = requires_intent
        self._check_callback = check_callback

    @property
    def invoker(self) -> ActionInvoker:
        """The invoker of the actions."""
        return self._means.invoker

    async def run_action(
        self, principal: Principal, name: str, request: ActionRequest, session: Session
    ) -> ActionReply:
        """Run an action, or ask back; the caller holds the session's turn.

        Raises:
            as :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke`;
            MissingField: the required purpose is missing.
            InvalidRequest: the callback address is not allowed, or the reply answers no question.
            UnsupportedType: the caller accepts none of the action's types.
        """
        offered = self.invoker.find(principal, name)
        action = offered.action
        if self._requires_intent and action.kind != "query" and not (request.intent or "").strip():
            raise MissingField(
                f"`context.user_intent` must state the purpose of calling {name}.",
                param="context.user_intent",
            )
        request = self._with_callback(principal, action, request)
        chosen = choose_type(action, request.accepts)
        waiting = await self._find_pending(principal, session)
        if waiting is not None and waiting.action != name:
            waiting = None
        if request.is_reply:
            session.check_pending()
        given = None if request.is_reply else parse_arguments(request.words)
        if given is not None:
            request = self._to_be_written(name, request, *given)
        driver = SessionDriver(
            self._means, principal, offered, request, session, chosen, is_limited=True
        )
        if given is not None:
            return await driver.call(given[0], request.written_by, given[1])
        asks_agent = self.asks_agent
        if waiting is not None and waiting.memory is None:
            reply = await driver.answer(waiting, may_change=not asks_agent)
            if reply is not None:
                return reply
            waiting = None  # the words mean another call
        return await (driver.ask_agent() if asks_agent else driver.read(waiting))

    def _with_callback(
        self, principal: Principal, action: Action, request: ActionRequest
    ) -> ActionRequest:
        """Return a request with its address for the outcome checked, or left out."""
        if request.callback_url is None:
            return request
        if not action.may_continue:
            return msgspec.structs.replace(request, callback_url=None)
        self._check_callback(principal, request.callback_url)
        return request

    @property
    def asks_agent(self) -> bool:
        """Whether an agent answers that calls actions itself."""
        return self._tool_caller is not None and self._tool_caller.calls_tools

    def _to_be_written(
        self,
        name: str,
        request: ActionRequest,
        arguments: Mapping[str, Any],
        consent: Consent | None,
    ) -> ActionRequest:
        """Return a request with redacted arguments as its words, for the thread."""
        shown = self.invoker.secrets.redact_arguments(name, arguments)
        if shown == arguments:
            return request
        return msgspec.structs.replace(request, words=write_arguments(shown, consent))

    async def find_answered_call(self, principal: Principal, session: Session) -> tuple[str, ...]:
        """Return the call that the session waits for, if it was answered already.

        That is so if the desk stopped before the call resumed.
        """
        call = await self._find_pending(principal, session)
        return () if call is None or call.answer is None else (call.id,)

    async def continue_call(
        self, principal: Principal, call_id: str, request: ActionRequest, session: Session
    ) -> tuple[Action, ActionReply]:
        """Resume an answered call, or ask for what is still missing.

        Returns:
            The action, and the reply.

        Raises:
            PreconditionFailed: the call has resumed already.
            as :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke`.
        """
        call = await self.invoker.calls.find(call_id)
        if call is None or call.answer is None or not call.waits_for_asker:
            raise PreconditionFailed("The state of this call has changed in the meantime.")
        driver = self._drive(principal, call, request, session, is_limited=False)
        action = self.invoker.get_action(call.action)
        return action, await driver.resume(call, call.answer.value)

    async def amend_call(
        self,
        principal: Principal,
        waiting: ActionCall,
        request: ActionRequest,
        session: Session,
        count: Callable[[], None],
    ) -> tuple[Action, ActionReply] | None:
        """Read words as the answer to what a call has asked last.

        Parameters:
            waiting: as :meth:`find_asked_call` returns it.
            count: called before a call that may change something; raises if there were too many.

        Returns:
            The action, and the reply; None if the words mean something else, if an agent reads
            them itself, or if the caller may not call the action any more.

        Raises:
            as :meth:`aitp_desk.desk.calls.invoker.ActionInvoker.invoke`.
        """
        if self.asks_agent:
            return None
        try:
            driver = self._drive(principal, waiting, request, session, is_limited=True)
        except (UnknownAction, Forbidden, NotAuthenticated):
            return None
        action = self.invoker.get_action(waiting.action)
        reply = await driver.amend(waiting, (lambda: None) if action.kind == "query" else count)
        return None if reply is None else (action, reply)

    def _drive(
        self,
        principal: Principal,
        call: ActionCall,
        request: ActionRequest,
        session: Session,
        *,
        is_limited: bool,
    ) -> SessionDriver:
        """Return what drives the dialogue about a pending call."""
        offered = self.invoker.find(principal, call.action)
        request = self._with_callback(principal, offered.action, request)
        try:
            chosen = choose_type(offered.action, request.accepts)
        except UnsupportedType:  # the accepted types were those for another action
            chosen = choose_type(offered.action, None)
        return SessionDriver(
            self._means, principal, offered, request, session, chosen, is_limited=is_limited
        )

    async def report_payment(
        self, call: ActionCall, request: ActionRequest, session: Session, receipt: Answer
    ) -> ActionReply:
        """Return the outcome of a call paid in this turn, after the receipt.

        Parameters:
            call: in its present state; its outcome is on the thread already.
        """
        if call.state is CallState.WAITING_PAYMENT:  # the payment is being verified
            return ActionReply(receipt)
        if not call.is_over:
            accepted = AcceptedCall(call, await self.invoker.calls.seconds_left(call))
            is_asked_after = call.session_id == session.id
            said = _told_with(receipt, describe_accepted(call))
            return ActionReply(said, accepted if is_asked_after else None)
        action = self.invoker.get_action(call.action)
        try:
            chosen = choose_type(action, request.accepts)
        except UnsupportedType:  # the accepted types were those for another question
            chosen = PLAIN
        came = offer_result(action, call, chosen, max_tokens=request.max_tokens)
        return ActionReply(_told_with(receipt, came), ended=call)

    async def find_asked_action(self, principal: Principal, session: Session) -> Action | None:
        """Return the action whose call waits for the answer to the session's last question."""
        call = await self.find_asked_call(principal, session)
        return None if call is None else self.invoker.get_action(call.action)

    async def find_asked_call(self, principal: Principal, session: Session) -> ActionCall | None:
        """Return the call that waits for the answer to the session's last question."""
        call = await self._find_pending(principal, session)
        return None if call is None or call.action not in self.invoker.names else call

    async def _find_pending(self, principal: Principal, session: Session) -> ActionCall | None:
        """Return the pending call that the session's last turn asked about."""
        pending = session.pending
        if pending is None or pending.call_id is None:
            return None
        return await self.invoker.calls.find_pending(pending.call_id, principal)


def _told_with(receipt: Answer, came: _Came) -> _Came:
    """Return an answer about a call with the receipt of its payment before it."""
    return msgspec.structs.replace(
        came,
        text=f"{receipt.text}\n\n{came.text}",
        tokens_used=receipt.tokens_used + came.tokens_used,
        spoken=(*receipt.spoken, Spoken(came.text)) if receipt.spoken else (),
    )
