"""The site's actions as an agent's tools: it is given those that whoever asks may call.

An agent never holds an action. It has a callable that calls one as whoever asks, and as nobody
else. What must be agreed to first is not carried out: the call waits, and is made once the visitor
themselves have said yes to it, on the same thread.
"""

from __future__ import annotations

from functools import partial

import msgspec

from aitp_desk.agent.choice import choose
from aitp_desk.agent.filling.confirming import confirm
from aitp_desk.agent.speech import ENGLISH, speech_of
from aitp_desk.agent.tools import Invoke, Tool, ToolResult
from aitp_desk.desk.consenting import YES_OR_NO
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
from aitp_desk.model.action import Action
from aitp_desk.model.call import ActionCall
from aitp_desk.model.errors import DeskError, NotAuthenticated, ScopeMissing, UnknownAction
from aitp_desk.model.principal import Principal
from aitp_desk.model.run import ToolCall

MAX_RESULT = 16_000
"""How much of a result an agent is given, in characters."""


class Called(msgspec.Struct):
    """In which conversation an agent calls tools, and what came of it.

    Parameters:
        thread_id, session_id: of the conversation; None where there is none yet.
        words: what the visitor has said last, in their own words.
        intent: what for, in the caller's words.
        invoked: what became of the calls, in order.
    """

    thread_id: str | None = None
    session_id: str | None = None
    words: str = ""
    intent: str | None = None
    invoked: list[Invoked] = []


class Tooling:
    """Hands actions to agents.

    Attributes:
        invoking: what calls them.
    """

    def __init__(self, invoking: Invoking) -> None:
        self.invoking = invoking
        self._tools = {action.name: tool_of(action) for action in invoking.actions}

    def tools(self, principal: Principal) -> tuple[Tool, ...]:
        """What an agent may call while it answers this caller."""
        if not self._tools:
            return ()
        return tuple(self._tools[action.name] for action in self.invoking.open_to(principal))

    def invoker(self, principal: Principal, asked: Called) -> Invoke:
        """The callable that calls actions as this caller, and as nobody else."""
        return partial(self._call, principal, asked)

    async def _call(self, principal: Principal, asked: Called, call: ToolCall) -> ToolResult:
        """Call an action. It raises nothing: a result that failed says why.

        An action that exists and is not the caller's to call is answered like one that does not.
        """
        try:
            arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, object])
        except msgspec.DecodeError:
            return ToolResult("The arguments are not a JSON object.", failed=True)
        invocation = Invocation(
            call.name,
            arguments,
            "model",
            intent=asked.intent,
            thread_id=asked.thread_id,
            session_id=asked.session_id,
        )
        try:
            invoked = await self._invoke(principal, asked, invocation)
        except (UnknownAction, NotAuthenticated, ScopeMissing):
            return ToolResult(f"There is no action named {call.name[:64]!r}.", failed=True)
        except DeskError as error:
            where = f" ({error.param})" if error.param else ""
            return ToolResult(f"{error.message}{where}", failed=True)
        asked.invoked.append(invoked)
        return self._tell(invoked)

    async def _invoke(self, principal: Principal, asked: Called, invocation: Invocation) -> Invoked:
        invoked = await self.invoking.invoke(principal, invocation)
        if not isinstance(invoked, ConsentNeeded) or asked.thread_id is None:
            return invoked
        waiting = await self.invoking.waiting_on(asked.thread_id, principal)
        if waiting is not None and _is_agreed(waiting, invoked, asked.words):
            agreed = msgspec.structs.replace(
                invocation, consent=Consent(waiting.price), waiting=waiting
            )
            return await self.invoking.invoke(principal, agreed)
        call = await self.invoking.wait_for(principal, invoked, None, say_nothing)
        return ConsentNeeded(msgspec.structs.replace(invocation, waiting=call), invoked.price)

    def _tell(self, invoked: Invoked) -> ToolResult:
        match invoked:
            case Ended(call):
                effects = [effect.description for effect in call.effects]
                given = {"result": call.result, "in_words": call.text, "effects": effects}
                told = msgspec.json.encode({name: value for name, value in given.items() if value})
                return ToolResult(told.decode()[:MAX_RESULT])
            case Accepted(call, eta_seconds):
                about = "" if eta_seconds is None else f", for about {eta_seconds} seconds"
                return ToolResult(f"It was taken on ({call.id}) and goes on by itself{about}.")
            case ConsentNeeded(invocation, price):
                action = self.invoking.action(invocation.name)
                question = confirm(action, invocation.arguments, price)
                return ToolResult(
                    "Nothing was done: the visitor has to agree first. Ask them exactly this, and"
                    f" call it again with the same arguments once they have said yes: {question}",
                    failed=True,
                )


def _is_agreed(waiting: ActionCall, needed: ConsentNeeded, words: str) -> bool:
    """Whether a visitor's words agree to what a call waits for, and to nothing else."""
    return (
        waiting.action == needed.invocation.name
        and waiting.arguments == needed.invocation.arguments
        and waiting.price == needed.price
        and choose(words, YES_OR_NO, speech_of(ENGLISH)).option == YES_OR_NO[0]
    )


def tool_of(action: Action) -> Tool:
    """An action as an agent is told of it."""
    description = f"{action.summary}\n{action.description}".rstrip()
    return Tool(action.name, description, action.input_schema)
