"""Having an action of the site's own done in a conversation in questions and answers.

A question to such an action is a call of it: as a JSON object, which is its arguments, or in words,
which are read as arguments by a model where one answers here, and by the action's schema elsewhere.
What is missing, or must be agreed to, is asked back; the call waits, and goes on in the same
session. What was said stands on the session's thread, in the commits in which the call moves.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.agent.base import Calling
from aitp_desk.agent.filling.base import Filled
from aitp_desk.desk.consenting import agrees, answer_in
from aitp_desk.desk.exchange import ActionReply, ActionRequest, CallStatus
from aitp_desk.desk.exchanging import Exchange, Means
from aitp_desk.desk.invocation import Consent
from aitp_desk.desk.invoking import Invoking
from aitp_desk.desk.json_arguments import arguments_in
from aitp_desk.desk.offer import Offer
from aitp_desk.desk.results import choose_type
from aitp_desk.desk.sessions import Session
from aitp_desk.model.call import ActionCall, CallState
from aitp_desk.model.errors import CallNotFound, MissingField
from aitp_desk.model.principal import Principal


class Acting:
    """Has actions done, in sessions.

    Parameters:
        means: what each exchange is held with.
        requires_intent: whether it must be said what for, where something may change.
        check_callback: refuses an address that a caller may not be told at.
    """

    def __init__(
        self,
        means: Means,
        *,
        requires_intent: bool,
        check_callback: Callable[[Principal, str], None],
    ) -> None:
        self._means = means
        self._requires_intent = requires_intent
        self._check_callback = check_callback

    @property
    def invoking(self) -> Invoking:
        """What calls the actions."""
        return self._means.invoking

    async def act(
        self, principal: Principal, name: str, request: ActionRequest, session: Session
    ) -> ActionReply:
        """Have an action done, or ask back. The session's turn is the caller's.

        Raises:
            whatever :meth:`aitp_desk.desk.invoking.Invoking.invoke` raises;
            MissingField: it was not said what for.
            InvalidRequest: nobody is told at the address that was given, or nothing was asked that
                this could answer.
            UnsupportedType: the asker can handle none of the action's types.
        """
        offered = self.invoking.find(principal, name)
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
        exchange = Exchange(self._means, principal, offered, request, session, chosen)
        given = None if request.is_reply else arguments_in(request.words)
        if given is not None:
            arguments, consent = given
            return await exchange.call(arguments, request.written_by, consent)
        agent = self._means.agent
        asks_agent = isinstance(agent, Calling) and agent.calls_tools
        if waiting is not None and waiting.memory is None:
            # what is meant instead, an agent reads itself
            words, known, now = request.words, waiting.arguments, self._means.now()
            answer = agrees(words) if asks_agent else answer_in(words, action, known, now)
            if answer is True:
                consent = Consent(waiting.price)
                return await exchange.call(known, waiting.source, consent, waiting)
            if answer is False:
                return await exchange.decline(waiting)
            if not asks_agent:
                return await exchange.ask_anew(answer or Filled(known), waiting)
        if asks_agent:
            return await exchange.ask_agent()
        return await exchange.read(waiting)

    async def status(self, principal: Principal, session_id: str) -> CallStatus:
        """How the newest call stands that was accepted in a session of the caller's.

        Raises:
            CallNotFound: there is none, or it is somebody else's.
        """
        call = await self.invoking.calls.of_session(session_id, principal)
        if call is None:
            raise CallNotFound("There is no such call of yours.", param="session_id")
        if not call.is_over:
            return CallStatus(call, await self.invoking.calls.seconds_left(call))
        return CallStatus(call, offer=self.offer(call))

    async def ended(self, call_id: str) -> CallStatus | None:
        """How a call ended; None where it has not, or there is none."""
        call = await self.invoking.calls.ended(call_id)
        return None if call is None else CallStatus(call, offer=self.offer(call))

    def offer(self, call: ActionCall) -> Offer | None:
        """What came of a call, in the form that its action prefers; None where nothing did."""
        if call.state is not CallState.SUCCEEDED:
            return None
        return self.invoking.offer(call)

    async def _waiting(
        self, principal: Principal, name: str, session: Session
    ) -> ActionCall | None:
        """The call of this action that the session's last turn has asked something for."""
        pending = session.pending
        if pending is None or pending.call_id is None:
            return None
        call = await self.invoking.calls.waiting(pending.call_id, principal)
        return call if call is not None and call.action == name else None
