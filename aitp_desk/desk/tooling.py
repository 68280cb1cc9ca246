"""The site's actions as an agent's tools: it is given those that whoever asks may call.

An agent never holds an action. It has a callable that calls one as whoever asks, and as nobody
else. What must be agreed to first is not carried out: the call waits, and is made once the visitor
themselves have said yes to it, on the same thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.filling.confirming import consequences
from aitp_desk.agent.tools import Asks, Called, Invoke, Round, Tool, ToolResult
from aitp_desk.desk.consenting import agrees, consent_question
from aitp_desk.desk.conversation import Conversation
from aitp_desk.desk.invocation import (
    Accepted,
    Consent,
    ConsentNeeded,
    Ended,
    Invocation,
    Invoked,
    say_nothing,
)
from aitp_desk.desk.invoking import Invoking
from aitp_desk.desk.limits import Limiter
from aitp_desk.model.action import Action, may_invoke
from aitp_desk.model.call import ActionCall, CallState
from aitp_desk.model.errors import DeskError, NotAuthenticated, ScopeMissing, UnknownAction
from aitp_desk.model.principal import Principal
from aitp_desk.model.run import ToolCall

MAX_RESULT = 16_000
"""How much of a result an agent is given, in characters."""
_SCOPES_KEPT = 256
"""For how many sets of scopes it is remembered which tools they open."""
CUT_SHORT = (
    "It was begun and cut short. It is not known whether it was done: do not call it again, and"
    " tell the visitor so."
)


class Tooling:
    """Hands actions to agents.

    Attributes:
        invoking: what calls them.
        limiter: how often that may be.
        now: the present moment in the site's time zone, from which ``tomorrow`` is counted.
    """

    def __init__(
        self, invoking: Invoking, *, limiter: Limiter, now: Callable[[], datetime]
    ) -> None:
        self.invoking = invoking
        self.limiter = limiter
        self.now = now
        self._tools = tuple((action, tool_of(action)) for action in invoking.actions)
        self._open = lru_cache(_SCOPES_KEPT)(self._find_open)

    def tools(self, principal: Principal) -> tuple[Tool, ...]:
        """What an agent may call while it answers this caller."""
        return self._open(principal.scopes)

    def _find_open(self, scopes: frozenset[str]) -> tuple[Tool, ...]:
        return tuple([tool for action, tool in self._tools if may_invoke(scopes, action)])

    def invoker(self, principal: Principal, conversation: Conversation) -> Invoke:
        """The callable that calls actions as this caller, and as nobody else."""
        return partial(self._call, principal, conversation)

    async def _call(
        self, principal: Principal, conversation: Conversation, call: ToolCall
    ) -> ToolResult:
        """Call an action. It raises nothing: a result that failed says why.

        An action that exists and is not the caller's to call is answered like one that does not.
        """
        try:
            arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, object])
        except msgspec.DecodeError:
            return ToolResult("The arguments are not a JSON object.", failed=True)
        made = conversation.made_before(call.name, arguments)
        if made is not None:
            return tell_call(made)
        invocation = Invocation(
            call.name,
            arguments,
            "model",
            intent=conversation.intent,
            callback_url=conversation.callback_url,
            thread_id=conversation.thread_id,
            session_id=conversation.session_id,
            run_id=conversation.run_id,
            tool_call_id=call.id,
        )
        try:
            invoked = await self._invoke(principal, conversation, invocation)
        except (UnknownAction, NotAuthenticated, ScopeMissing):
            return ToolResult(f"There is no action named {call.name[:64]!r}.", failed=True)
        except DeskError as error:
            where = f" ({error.param})" if error.param else ""
            return ToolResult(f"{error.message}{where}", failed=True)
        conversation.invoked.append(invoked)
        return self._tell(invoked)

    async def _invoke(
        self, principal: Principal, conversation: Conversation, invocation: Invocation
    ) -> Invoked:
        """Call an action, or have it wait until the visitor has agreed to it."""
        action = self.invoking.find(principal, invocation.name).action
        if action.kind != "query" and not conversation.take_counted():
            self.limiter.count_call(principal)
        invoked = await self.invoking.invoke(
            principal, invocation, conversation.begun, conversation.ended
        )
        if not isinstance(invoked, ConsentNeeded):
            return invoked
        call = await self.invoking.wait_for(principal, invoked, None, say_nothing)
        return ConsentNeeded(msgspec.structs.replace(invocation, waiting=call), invoked.price)

    async def take_answer(self, principal: Principal, conversation: Conversation) -> None:
        """Carry out what the desk has asked about last, where the visitor's words agree to it.

        An agent is told of it, and has no part in it. Where it cannot be done any more as it was
        asked, nothing is done; where the words refuse it, it waits no longer.
        """
        agreed = None if conversation.answers is None else agrees(conversation.words)
        if conversation.answers is None or agreed is None:
            return
        waiting = await self.invoking.calls.waiting(conversation.answers, principal)
        if (
            waiting is None
            or waiting.memory is not None
            or waiting.thread_id != conversation.thread_id
        ):
            return
        if not agreed:
            with suppress(DeskError):  # it is over already
                await self.invoking.decline(waiting, say_nothing)
            return
        invocation = Invocation(
            waiting.action,
            waiting.arguments,
            waiting.source,
            Consent(waiting.price),
            thread_id=waiting.thread_id,
            session_id=waiting.session_id,
            waiting=waiting,
            run_id=conversation.run_id,
            tool_call_id=waiting.tool_call_id,
        )
        with suppress(DeskError):  # the agent meets the same when it calls
            await self.invoking.invoke(
                principal, invocation, conversation.begun, conversation.ended
            )
        conversation.precede(tuple(conversation.made.values()))

    async def earlier(self, run_id: str) -> tuple[ActionCall, ...]:
        """What earlier attempts at a run have called, once none of it is at work any more."""
        calls = await self.invoking.calls.of_run(run_id)
        await self.invoking.settle(calls)
        return await self.invoking.calls.of_run(run_id) if calls else ()

    def _tell(self, invoked: Invoked) -> ToolResult:
        match invoked:
            case Ended(call):
                return tell_call(call)
            case Accepted(call, eta_seconds):
                if call.state is CallState.WAITING_APPROVAL:
                    return tell_call(call)
                return _taken_on(call, eta_seconds)
            case ConsentNeeded(invocation, price):
                action = self.invoking.action(invocation.name)
                asks = consent_question(action, invocation, price)
                waiting = invocation.waiting
                return ToolResult(
                    "Nothing was done: the visitor has to agree first, and is asked.",
                    failed=True,
                    asks=None if waiting is None else Asks(asks.question, asks.options, waiting.id),
                )


def tell_call(call: ActionCall) -> ToolResult:
    """What an agent is told of a call as it stands."""
    match call.state:
        case CallState.SUCCEEDED:
            effects = [effect.description for effect in call.effects]
            given = {"result": call.result, "in_words": call.text, "effects": effects}
            told = msgspec.json.encode({name: value for name, value in given.items() if value})
            return ToolResult(told.decode()[:MAX_RESULT])
        case CallState.FAILED | CallState.EXPIRED:
            return ToolResult(call.error.in_words if call.error else "It failed.", failed=True)
        case CallState.WAITING_APPROVAL:
            return ToolResult(
                f"It was taken on ({call.id}), and a person of the site has to approve it first:"
                " nothing was done yet. What comes of it is told on this thread."
            )
        case _ if call.accepted_at is not None and not call.is_over:
            return _taken_on(call, None)
        case _:
            return ToolResult(CUT_SHORT, failed=True)


def in_words(outcome: Said, conversation: Conversation, tooling: Tooling) -> Said:
    """What is said where an agent had called something and could not say what came of it."""
    if outcome.fallback is None or not conversation.made:
        return outcome
    said = (
        tooling.invoking.in_words(call) if call.is_over else tell_call(call).output
        for call in conversation.made.values()
    )
    return Answer(
        "\n".join(said),
        usage=outcome.usage,
        fallback=outcome.fallback,
        tokens_used=outcome.tokens_used,
        tools_used=outcome.tools_used,
    )


def round_of(calls: Sequence[ActionCall], told: Collection[str]) -> tuple[Round, ...]:
    """The calls of an earlier attempt at a run, as a step of this one; none where there are none.

    Parameters:
        told: ids by which the agent has named those that it is told of already.
    """
    made = tuple(
        Called(
            ToolCall(
                call.tool_call_id or call.id,
                call.action,
                msgspec.json.encode(call.arguments).decode(),
            ),
            tell_call(call),
        )
        for call in calls
        if call.tool_call_id not in told
    )
    return (Round("", made),) if made else ()


def _taken_on(call: ActionCall, eta_seconds: int | None) -> ToolResult:
    about = "" if eta_seconds is None else f", for about {eta_seconds} seconds"
    return ToolResult(f"It was taken on ({call.id}) and goes on by itself{about}.")


def tool_of(action: Action) -> Tool:
    """An action as an agent is told of it."""
    told = (action.summary, action.description, " ".join(consequences(action)))
    description = "\n".join(filter(None, told))
    return Tool(action.name, description, action.input_schema)
