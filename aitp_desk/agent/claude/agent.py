"""Answers with Claude, and by extraction if Claude cannot answer.

If the model fails, is over budget, or produces text that must not be shown, the visitor still gets
an answer: by extraction, with the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from copy import copy
from typing import Any

import msgspec
import structlog

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    Event,
    Fallback,
    PendingQuestion,
    ProgressEvent,
    Restart,
    SiteFacts,
    ToolRequest,
    Turn,
    Utterance,
)
from aitp_desk.agent.claude.budget import BudgetSpent, DailyBudget, DailyBudgetSpent, ReplyBudget
from aitp_desk.agent.claude.guard import OutputFilter, OutputGuard, PromptLeak, repeats_rules
from aitp_desk.agent.claude.loop import THINKING_TOKENS, ModelReply
from aitp_desk.agent.claude.messages import MessageEnded, MessagesClient, MessageStream, ModelFailed
from aitp_desk.agent.claude.passages import estimate_tokens
from aitp_desk.agent.claude.prompt import rules_text, write_question
from aitp_desk.agent.claude.summary import (
    cut_conversation,
    cut_to_tokens,
    make_summary_request,
)
from aitp_desk.agent.extractive.agent import EXTRACTIVE, answer_in, find_follow_ups
from aitp_desk.agent.extractive.dialogue.context import read_turn
from aitp_desk.agent.extractive.selection import find_candidates
from aitp_desk.config import Claude
from aitp_desk.knowledge.editions import Editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.snapshot import Knowledge

MakeOutput = Callable[[SiteFacts], OutputFilter]

REPEATS = "repeats_its_instructions"
"""Logged if a model repeats its confidential instructions."""

_log = structlog.get_logger()


def make_output_filter(site: SiteFacts) -> OutputFilter:
    """Return the filter that the text of every answer passes."""
    return OutputGuard(site.url, rules_text())


class ClaudeAgent:
    """Answers with a model. See :mod:`aitp_desk.agent.base` for its guarantees.

    It is a :class:`~aitp_desk.agent.base.Summariser`, a :class:`~aitp_desk.agent.base.LimitedAgent`
    and a :class:`~aitp_desk.agent.base.ToolCallingAgent` too.

    Parameters:
        knowledge: the content.
        settings: the model and its budgets.
        key: the API key.
        url: the API's address; None for the public one.
        day: the desk's daily budget; None sets none.
        output: makes the filter that an answer's text passes.
        sleep: waits before a retry.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        settings: Claude,
        *,
        key: str,
        url: str | None = None,
        day: DailyBudget | None = None,
        output: MakeOutput = make_output_filter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._knowledge = knowledge
        self._settings = settings
        self._api = MessagesClient(key, url, settings.reply_seconds)
        self._day = day or DailyBudget(0, time.time)
        self._make_output = output
        self._sleep = sleep
        self._key_was_refused = False

    @property
    def name(self) -> str:
        """Its name, for people."""
        return f"{self._settings.model}, else {EXTRACTIVE}"

    @property
    def stand_in(self) -> str | None:
        """Return the agent that answers while the daily budget is used up."""
        return EXTRACTIVE if self._day.is_spent else None

    @property
    def calls_tools(self) -> bool:
        """Whether the model answers now, as far as is known."""
        return not self._day.is_spent and not self._key_was_refused

    def with_knowledge(self, knowledge: Knowledge) -> ClaudeAgent:
        """Return the agent over other content; model, key, connections and budget are shared."""
        other = copy(self)
        other._knowledge = knowledge  # noqa: SLF001 -- another of this class
        return other

    async def close(self) -> None:
        """Close the connections to the API."""
        await self._api.close()

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn; by extraction if the model does not."""
        editions = self._knowledge.editions
        library = editions.find_library(turn.locale)
        budget = ReplyBudget(self._settings, self._day, is_begun=bool(turn.rounds))
        reply = ModelReply(
            turn,
            library,
            settings=self._settings,
            api=self._api,
            budget=budget,
            output=lambda: self._make_output(turn.site),
            sleep=self._sleep,
        )
        try:
            async with aclosing(reply.events()) as events:
                async for event in events:
                    if isinstance(event, ProgressEvent):
                        yield event
                        continue
                    self._key_was_refused = False
                    self._tell(event, reply, budget)
                    yield _with_follow_ups(event, turn, library)
            return
        except ModelFailed as error:
            fallback: Fallback = "model_failed"
            self._warn(error.reason, budget, is_refused_key=error.is_refused_key)
        except PromptLeak:
            fallback = "model_failed"
            self._warn(REPEATS, budget)
        except DailyBudgetSpent:  # which the daily budget has logged
            fallback = "budget_spent"
        except BudgetSpent:
            fallback = "budget_spent"
            self._warn("budget_spent", budget)
        if reply.is_shown:
            yield Restart()
        yield _instead(turn, editions, budget, fallback, reply)

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        """Return a summary; cut text if the model returns none."""
        request = make_summary_request(previous, utterances, max_tokens)
        budget = ReplyBudget(self._settings, self._day)
        try:
            text = await self._summary(request, budget, max_tokens)
        except DailyBudgetSpent:
            return cut_conversation(previous, utterances, max_tokens)
        except (ModelFailed, BudgetSpent, TimeoutError) as error:
            reason = error.reason if isinstance(error, ModelFailed) else type(error).__name__
            self._warn(reason, budget)
            return cut_conversation(previous, utterances, max_tokens)
        return cut_to_tokens(text, max_tokens)

    async def _summary(self, request: dict[str, Any], budget: ReplyBudget, longest: int) -> str:
        if self._settings.thinking != "disabled":
            longest += THINKING_TOKENS
        prompt = estimate_tokens(msgspec.json.encode(request).decode())
        await budget.refresh()
        call = budget.begin(prompt, longest)
        reading: MessageStream | None = None
        ended: MessageEnded | None = None
        try:
            await self._api.open()
            async with (
                asyncio.timeout(self._settings.reply_seconds),
                self._api.open_stream(
                    {
                        "model": self._settings.model,
                        "max_tokens": call.longest,
                        "thinking": {"type": self._settings.thinking},
                        **request,
                    }
                ) as reading,
            ):
                async for piece in reading.pieces():
                    if isinstance(piece, MessageEnded):
                        ended = piece
        finally:
            if reading is not None:
                call.add(reading.usage)
            call.end()
        if ended is None or not ended.text.strip() or ended.stop_reason == "refusal":
            raise ModelFailed("no_summary")
        if repeats_rules(ended.text, request["system"]):
            raise ModelFailed(REPEATS)
        return ended.text.strip()

    def _tell(self, outcome: Event, reply: ModelReply, budget: ReplyBudget) -> None:
        _log.info(
            "claude_replied",
            model=self._settings.model,
            outcome=type(outcome).__name__,
            stop_reason=reply.stop_reason,
            calls=budget.calls,
            prompt=budget.usage.prompt,
            cached=budget.usage.cached,
            completion=budget.usage.completion,
            usd=round(budget.cost, 6),
        )

    def _warn(self, reason: str, budget: ReplyBudget, *, is_refused_key: bool = False) -> None:
        """Log that the model did not answer; a refused key is logged once until one works."""
        if is_refused_key and self._key_was_refused:
            return
        self._key_was_refused = self._key_was_refused or is_refused_key
        _log.warning(
            "claude_failed",
            model=self._settings.model,
            reason=reason,
            calls=budget.calls,
            prompt=budget.usage.prompt,
            completion=budget.usage.completion,
            **({"hint": "The API refuses ANTHROPIC_API_KEY."} if is_refused_key else {}),
        )


@asynccontextmanager
async def open_claude(
    knowledge: Knowledge,
    settings: Claude,
    *,
    key: str,
    url: str | None,
    day: DailyBudget,
) -> AsyncIterator[ClaudeAgent]:
    """Open the agent as an async context manager. Parameters as :class:`ClaudeAgent`'s."""
    agent = ClaudeAgent(knowledge, settings, key=key, url=url, day=day)
    try:
        yield agent
    finally:
        await agent.close()


def _with_follow_ups(
    outcome: Answer | Clarification | ToolRequest, turn: Turn, library: Library
) -> Event:
    """Add follow-up questions that the content answers."""
    if not isinstance(outcome, Answer):
        return outcome
    near = find_candidates(library, read_turn(turn, library))
    return msgspec.structs.replace(outcome, follow_ups=find_follow_ups(near, library))


def _instead(
    turn: Turn, editions: Editions, budget: ReplyBudget, fallback: Fallback, reply: ModelReply
) -> Event:
    """Return extraction's answer instead of the model's; the model's tool calls remain."""
    said = answer_in(turn, editions)
    usage, used = budget.usage if budget.usage.total else None, reply.tools_used
    if isinstance(said, Clarification):
        if not reply.is_shown:
            return msgspec.structs.replace(said, fallback=fallback, usage=usage, tools_used=used)
        # no delta precedes a clarification, not even a void one
        said = Answer(write_question(PendingQuestion("", said.question, said.options)), found=False)
    return msgspec.structs.replace(
        said,
        fallback=fallback,
        usage=usage,
        tokens_used=usage.total if usage else said.tokens_used,
        tools_used=used,
    )
