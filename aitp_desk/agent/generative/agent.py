"""Answers with a model, and by extraction if no model can answer.

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
from aitp_desk.agent.extractive.agent import EXTRACTIVE, answer_in, find_follow_ups
from aitp_desk.agent.extractive.dialogue.context import read_turn
from aitp_desk.agent.extractive.selection import find_candidates
from aitp_desk.agent.generative.budget import (
    BudgetSpent,
    DailyBudget,
    DailyBudgetSpent,
    ReplyBudget,
)
from aitp_desk.agent.generative.guard import OutputFilter, OutputGuard, PromptLeak, repeats_rules
from aitp_desk.agent.generative.loop import THINKING_TOKENS, ModelReply
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.generative.prompt import rules_text, write_question
from aitp_desk.agent.generative.providers.base import MessageEnded, ModelFailed, ModelStream
from aitp_desk.agent.generative.providers.chain import ConnectedModel
from aitp_desk.agent.generative.summary import (
    cut_conversation,
    cut_to_tokens,
    make_summary_request,
)
from aitp_desk.config import Model
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


class ModelAgent:
    """Answers with a model. See :mod:`aitp_desk.agent.base` for its guarantees.

    It is a :class:`~aitp_desk.agent.base.Summariser`, a :class:`~aitp_desk.agent.base.LimitedAgent`
    and a :class:`~aitp_desk.agent.base.ToolCallingAgent` too.

    Parameters:
        knowledge: the content.
        settings: the budgets.
        models: the models, in the order in which they are called; one or more.
        day: the desk's daily budget; None sets none.
        output: makes the filter that an answer's text passes.
        sleep: waits before a retry.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        settings: Model,
        *,
        models: Sequence[ConnectedModel],
        day: DailyBudget | None = None,
        output: MakeOutput = make_output_filter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._knowledge = knowledge
        self._settings = settings
        self._models = tuple(models)
        self._day = day or DailyBudget(0, time.time)
        self._make_output = output
        self._sleep = sleep
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """Its name, for people."""
        return ", else ".join([*(model.choice.name for model in self._models), EXTRACTIVE])

    @property
    def stand_in(self) -> str | None:
        """Return the agent that answers while the daily budget is used up."""
        return EXTRACTIVE if self._day.is_spent else None

    @property
    def calls_tools(self) -> bool:
        """Whether a model that can call tools answers now, as far as is known."""
        answering = [one for one in self._models if one.choice.name not in self._refused]
        return not self._day.is_spent and bool(answering) and answering[0].client.has_tools

    def with_knowledge(self, knowledge: Knowledge) -> ModelAgent:
        """Return the agent over other content; models, connections and budget are shared."""
        other = copy(self)
        other._knowledge = knowledge  # noqa: SLF001 -- another of this class
        return other

    async def close(self) -> None:
        """Close the connections to the APIs."""
        for model in self._models:
            await model.client.close()

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn; by extraction if the model does not."""
        editions = self._knowledge.editions
        library = editions.find_library(turn.locale)
        budget = ReplyBudget(self._settings, self._day, is_begun=bool(turn.rounds))
        reply = ModelReply(
            turn,
            library,
            settings=self._settings,
            models=self._models,
            budget=budget,
            output=lambda: self._make_output(turn.site),
            sleep=self._sleep,
            report_failure=self._report_failure,
        )
        try:
            async with aclosing(reply.events()) as events:
                async for event in events:
                    if isinstance(event, ProgressEvent):
                        yield event
                        continue
                    self._refused.discard(reply.model.choice.name)
                    self._tell(event, reply, budget)
                    yield _with_follow_ups(event, turn, library)
            return
        except ModelFailed as error:
            fallback: Fallback = "model_failed"
            self._warn(reply.model, error, budget)
        except PromptLeak:
            fallback = "model_failed"
            self._warn(reply.model, ModelFailed(REPEATS), budget)
        except DailyBudgetSpent:  # which the daily budget has logged
            fallback = "budget_spent"
        except BudgetSpent:
            fallback = "budget_spent"
            self._warn(reply.model, ModelFailed("budget_spent"), budget)
        if reply.is_shown:
            yield Restart()
        yield _instead(turn, editions, budget, fallback, reply)

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        """Return a summary; cut text if the model returns none."""
        request = make_summary_request(previous, utterances, max_tokens)
        budget = ReplyBudget(self._settings, self._day)
        for model in self._models:
            try:
                text = await self._summary(model, request, budget, max_tokens)
            except DailyBudgetSpent:
                break
            except BudgetSpent:
                self._warn(model, ModelFailed("budget_spent"), budget)
                break
            except ModelFailed as error:
                self._warn(model, error, budget)
            except TimeoutError:
                self._warn(model, ModelFailed("deadline"), budget)
            else:
                return cut_to_tokens(text, max_tokens)
        return cut_conversation(previous, utterances, max_tokens)

    async def _summary(
        self, model: ConnectedModel, request: dict[str, Any], budget: ReplyBudget, longest: int
    ) -> str:
        choice = model.choice
        if choice.thinking != "disabled":
            longest += THINKING_TOKENS
        prompt = estimate_tokens(msgspec.json.encode(request).decode())
        await budget.refresh()
        call = budget.begin(prompt, longest, choice)
        reading: ModelStream | None = None
        ended: MessageEnded | None = None
        try:
            await model.client.open()
            async with (
                asyncio.timeout(self._settings.reply_seconds),
                model.client.open_stream(
                    {
                        "model": choice.name,
                        "max_tokens": call.longest,
                        "thinking": {"type": choice.thinking},
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
            "model_replied",
            model=reply.model.choice.name,
            outcome=type(outcome).__name__,
            stop_reason=reply.stop_reason,
            calls=budget.calls,
            prompt=budget.usage.prompt,
            cached=budget.usage.cached,
            completion=budget.usage.completion,
            usd=round(budget.cost, 6),
        )

    def _report_failure(self, model: ConnectedModel, error: ModelFailed) -> None:
        """Log that another model is called; a refused key is logged once until one works."""
        if self._is_news(model, error):
            _log.warning("model_fell_back", model=model.choice.name, **_describe(model, error))

    def _warn(self, model: ConnectedModel, error: ModelFailed, budget: ReplyBudget) -> None:
        """Log that no model answered; a refused key is logged once until one works."""
        if not self._is_news(model, error):
            return
        _log.warning(
            "model_failed",
            model=model.choice.name,
            calls=budget.calls,
            prompt=budget.usage.prompt,
            completion=budget.usage.completion,
            **_describe(model, error),
        )

    def _is_news(self, model: ConnectedModel, error: ModelFailed) -> bool:
        if not error.is_refused_key:
            return True
        is_known = model.choice.name in self._refused
        self._refused.add(model.choice.name)
        return not is_known


@asynccontextmanager
async def open_model_agent(
    knowledge: Knowledge,
    settings: Model,
    *,
    models: Sequence[ConnectedModel],
    day: DailyBudget,
) -> AsyncIterator[ModelAgent]:
    """Open the agent as an async context manager. Parameters as :class:`ModelAgent`'s."""
    agent = ModelAgent(knowledge, settings, models=models, day=day)
    try:
        yield agent
    finally:
        await agent.close()


def _describe(model: ConnectedModel, error: ModelFailed) -> dict[str, str]:
    """Return why a model failed, for the log."""
    if not error.is_refused_key:
        return {"reason": error.reason}
    key = model.choice.key_variable
    hint = f"The API refuses {key}." if key else "The API needs a key: set model.key_env."
    return {"reason": error.reason, "hint": hint}


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
