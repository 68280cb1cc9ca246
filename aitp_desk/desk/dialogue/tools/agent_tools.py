"""Offers actions to an agent as tools, within its caller's permissions.

An agent never holds an action, only a callable that calls actions as its caller. A call that needs
consent is not executed: it waits until the visitor has agreed on the same thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial

import msgspec

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.agent.tools import (
    FollowUpQuestion,
    Invoke,
    Tool,
    ToolCallRecord,
    ToolResult,
    ToolRound,
)
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Invocation,
    write_no_messages,
)
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.driver import DialogueDriver
from aitp_desk.desk.dialogue.statements import Ask, Decline, Remind, Statement
from aitp_desk.desk.limits.rate_limits import RateLimiter
from aitp_desk.desk.plugins.desk_messages import DeskMessages
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.calls.secret_places import public_schema
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.model.errors import (
    DeskError,
    NotAuthenticated,
    ScopeMissing,
    UnknownAction,
)
from aitp_desk.model.text import write_count

MAX_RESULT = 16_000
"""Maximum length of a result for an agent, in characters."""
_SCOPES_KEPT = 256
"""Number of scope sets whose tools are cached."""
CUT_SHORT = (
    "The call was interrupted, and its outcome is unknown. Do not call it again, and tell"
    " the visitor so."
)

NOT_IN_WORDS = (
    "Nothing was done: {!r} is secret and is not accepted as text. Do not ask the visitor"
    " for it; it comes from a form, or from a program with the call."
)


class AgentTools:
    """Offers actions to agents.

    Attributes:
        invoker: calls the actions.
        limiter: bounds how often.
        now: returns the present time in the site's time zone, for words such as ``tomorrow``.
        desk_messages: asks questions through plugins.
        dialogues: holds the dialogues about calls.
    """

    def __init__(
        self,
        invoker: ActionInvoker,
        *,
        limiter: RateLimiter,
        now: Callable[[], datetime],
        desk_messages: DeskMessages,
    ) -> None:
        self.invoker = invoker
        self.limiter = limiter
        self.now = now
        self.desk_messages = desk_messages
        self.dialogues = DialogueDriver(invoker, desk_messages, now)
        self._tools = tuple((action, make_tool(action)) for action in invoker.actions)
        self._open = lru_cache(_SCOPES_KEPT)(self._find_open)

    def list_tools(self, principal: Principal) -> tuple[Tool, ...]:
        """Return the tools that an agent may use for this caller."""
        return self._open(principal.scopes)

    def _find_open(self, scopes: frozenset[str]) -> tuple[Tool, ...]:
        return tuple([tool for action, tool in self._tools if may_invoke(scopes, action)])

    def make_invoker(self, principal: Principal, conversation: Conversation) -> Invoke:
        """Return a callable that calls actions as this caller only."""
        return partial(self._call, principal, conversation)

    async def _call(
        self, principal: Principal, conversation: Conversation, call: ToolCall
    ) -> ToolResult:
        """Call an action; errors become failed results.

        An action that the caller may not call gets the same answer as one that does not exist.
        """
        try:
            arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, object])
        except msgspec.DecodeError:
            return ToolResult("The arguments are not a JSON object.", failed=True)
        made = conversation.find_earlier_call(
            call.name, arguments, self.invoker.secrets.redact_arguments
        )
        if made is not None:
            return describe_call(made)
        base = Invocation(
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
            offered = self.invoker.find(principal, call.name)
            stated = await self._hold_for_agent(principal, offered, conversation, base)
            told = await self._tell(principal, stated)
        except (UnknownAction, NotAuthenticated, ScopeMissing):
            return ToolResult(f"There is no action named {call.name[:64]!r}.", failed=True)
        except DeskError as error:
            if self.invoker.secrets.find_secret(call.name, (error.param or "",)) is not None:
                return ToolResult(NOT_IN_WORDS.format(error.param), failed=True)
            where = f" ({error.param})" if error.param else ""
            return ToolResult(f"{error.message}{where}", failed=True)
        conversation.stated.append(stated)
        return told

    async def _hold_for_agent(
        self,
        principal: Principal,
        offered: OfferedAction,
        conversation: Conversation,
        base: Invocation,
    ) -> Statement:
        dialogue = self.dialogues.begin(offered, base)
        unpaid = await self._find_unpaid(principal, conversation, base)
        if unpaid is not None:
            return dialogue.remind(unpaid)

        def count() -> None:
            if offered.action.kind != "query" and not conversation.consume_count():
                self.limiter.count_call(principal)

        return await self.dialogues.hold(
            principal,
            offered,
            dialogue.call_checked(base.arguments),
            conversation.note_begun,
            conversation.note_ended,
            count,
        )

    async def _find_unpaid(
        self, principal: Principal, conversation: Conversation, base: Invocation
    ) -> ActionCall | None:
        """Return the same call, if the desk has already asked for its payment."""
        if conversation.answers is None:
            return None
        waiting = await self.invoker.calls.find_pending(conversation.answers, principal)
        if waiting is None or waiting.price is None or waiting.payment is None:
            return None
        shown, name = self.invoker.secrets.redact_arguments, base.name
        is_same = shown(name, waiting.arguments) == shown(name, base.arguments)
        return waiting if waiting.action == name and is_same else None

    async def apply_answer(self, principal: Principal, conversation: Conversation) -> None:
        """Execute the calls that the visitor agrees to: those named, or the one asked about last.

        The agent gets the outcome and has no part in the decision. A call that can no longer be
        made as asked is not executed; a refused one stops waiting.
        """
        applied = [
            await self._apply(principal, conversation, call_id, words)
            for call_id, words in conversation.list_answers()
        ]
        if any(applied):
            conversation.add_earlier_calls(tuple(conversation.made.values()))

    async def _apply(
        self, principal: Principal, conversation: Conversation, call_id: str, words: str
    ) -> bool:
        """Return whether the call waits for these words."""
        waiting = await self.invoker.calls.find_pending(call_id, principal)
        if (
            waiting is None
            or waiting.memory is not None
            or waiting.thread_id != conversation.thread_id
        ):
            return False
        with suppress(DeskError):  # the agent gets the same error when it calls
            offered = self.invoker.find(principal, waiting.action)
            dialogue = self.dialogues.continue_waiting(offered, waiting, conversation.run_id)
            stated = await self.dialogues.hold(
                principal,
                offered,
                dialogue.answer(words, waiting, may_change=False),
                conversation.note_begun,
                conversation.note_ended,
            )
            if isinstance(stated, Decline):
                await self.invoker.pending_calls.decline(waiting, write_no_messages)
        return True

    async def list_earlier_calls(self, run_id: str) -> tuple[ActionCall, ...]:
        """Return the calls of earlier attempts at a run, once none is executing."""
        calls = await self.invoker.calls.list_in_run(run_id)
        await self.invoker.wait_idle(calls)
        return await self.invoker.calls.list_in_run(run_id) if calls else ()

    async def _tell(self, principal: Principal, stated: Statement) -> ToolResult:
        """Return a statement as a tool result; a call that waits is stored."""
        match stated:
            case CompletedCall(call):
                return describe_call(call)
            case AcceptedCall(call, eta_seconds):
                if call.state is CallState.WAITING_APPROVAL:
                    return describe_call(call)
                return _taken_on(call, eta_seconds)
            case Ask(needed, words, _, memory):
                waiting = await self.invoker.pending_calls.write_pending(
                    principal, needed, memory, write_no_messages
                )
            case Remind(waiting, words):
                memory = None
            case _:
                raise TypeError("A tool call answers no pending call.")
        if memory is not None:
            told = "Nothing was done: the visitor is asked for what is missing."
        elif waiting.payment is None:
            told = "Nothing was done: the visitor must agree first, and is asked now."
        else:
            told = (
                f"Nothing was done: the visitor must pay {waiting.price} first, and is"
                " asked now. Do not ask for a card, an account or a code yourself."
            )
        asks = FollowUpQuestion(words.question, words.options, waiting.id)
        return ToolResult(told, failed=True, asks=asks)


def describe_call(call: ActionCall) -> ToolResult:
    """Return a call in its present state as a tool result."""
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
                f"The call was accepted ({call.id}), but nothing was done yet: a person of"
                " the site must approve it first. The result is posted on this thread."
            )
        case _ if call.accepted_at is not None and not call.is_over:
            return _taken_on(call, None)
        case _:
            return ToolResult(CUT_SHORT, failed=True)


def describe_outcome(outcome: Said, conversation: Conversation, agent_tools: AgentTools) -> Said:
    """Describe the calls themselves if the agent failed after making them."""
    if outcome.fallback is None or not conversation.made:
        return outcome
    said = (
        agent_tools.invoker.deferred_calls.describe_result(call)
        if call.is_over
        else describe_call(call).output
        for call in conversation.made.values()
    )
    return Answer(
        "\n".join(said),
        usage=outcome.usage,
        fallback=outcome.fallback,
        tokens_used=outcome.tokens_used,
        tools_used=outcome.tools_used,
    )


def make_round(calls: Sequence[ActionCall], told: Collection[str]) -> tuple[ToolRound, ...]:
    """Return the calls of an earlier attempt as one tool round, if any.

    Parameters:
        told: tool call ids that the agent already has.
    """
    made = tuple(
        ToolCallRecord(
            ToolCall(
                call.tool_call_id or call.id,
                call.action,
                msgspec.json.encode(call.arguments).decode(),
            ),
            describe_call(call),
        )
        for call in calls
        if call.tool_call_id not in told
    )
    return (ToolRound("", made),) if made else ()


def _taken_on(call: ActionCall, eta_seconds: int | None) -> ToolResult:
    about = "" if eta_seconds is None else f", for about {write_count(eta_seconds, 'second')}"
    return ToolResult(f"The call was accepted ({call.id}) and continues in the background{about}.")


def make_tool(action: Action) -> Tool:
    """Return an action as a tool description."""
    told = (action.summary, action.description, " ".join(list_consequences(action)))
    description = "\n".join(filter(None, told))
    # a model must not fill in secrets: it would have to know them
    return Tool(action.name, description, public_schema(action.input_schema))
