"""Runs one reply of a model: its calls and tool calls up to an outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any

import msgspec

from aitp_desk.agent.base import (
    CHARACTERS_PER_TOKEN,
    Answer,
    Clarification,
    Delta,
    Event,
    ProgressEvent,
    Restart,
    ToolRequest,
    Turn,
)
from aitp_desk.agent.extractive.embedding import learn_turn
from aitp_desk.agent.generative.budget import BudgetSpent, CountedCall, ReplyBudget
from aitp_desk.agent.generative.guard import OutputFilter
from aitp_desk.agent.generative.material import ReplySources
from aitp_desk.agent.generative.output import AnswerOutput
from aitp_desk.agent.generative.passages import choose_excerpts, estimate_tokens
from aitp_desk.agent.generative.prompt import (
    call_message,
    list_texts,
    messages,
    parse_arguments,
    result_message,
    system,
    tools,
    wire_names,
    write_question,
)
from aitp_desk.agent.generative.providers.base import (
    Citation,
    MessageEnded,
    ModelFailed,
    ModelStream,
    Text,
)
from aitp_desk.agent.generative.providers.chain import ConnectedModel
from aitp_desk.agent.generative.toolbox import Toolbox, find_person_request, find_question
from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.agent.tools import FollowUpQuestion, ToolRound
from aitp_desk.config import Model
from aitp_desk.knowledge.library import Library
from aitp_desk.model.text import clean_message

TRIES = 3
"""How often one call is tried while none of its text was shown."""
BACK_OFF_SECONDS = 0.5
THINKING_TOKENS = 2048
"""Tokens for thinking, if a model thinks: they count as output."""


class ModelReply:
    """A reply to one turn over one snapshot of the content.

    Parameters:
        models: the models, in the order in which they are called.
        output: makes the filter that an answer's text passes.
        sleep: waits for a number of seconds before a retry.
        report_failure: receives each model that fails before another is called.

    Attributes:
        stop_reason: why the model stopped last, as the API names it.
        is_shown: whether there are deltas that a failure would void.
    """

    def __init__(
        self,
        turn: Turn,
        library: Library,
        *,
        settings: Model,
        models: Sequence[ConnectedModel],
        budget: ReplyBudget,
        output: Callable[[], OutputFilter],
        sleep: Callable[[float], Awaitable[None]],
        report_failure: Callable[[ConnectedModel, ModelFailed], None],
    ) -> None:
        self._turn = turn
        self._library = library
        self._settings = settings
        self._model, *self._further = models
        self._budget = budget
        self._make_output = output
        self._sleep = sleep
        self._report_failure = report_failure
        self._deadline = self._begun_by = 0.0
        self._names = wire_names(turn.tools)
        self._conversation: list[dict[str, Any]] = []
        self._material = ReplySources(library, settings.passage_tokens)
        self._toolbox = Toolbox(turn, self._material)
        self._ended: MessageEnded | None = None
        self._words = self._new_words()
        self.stop_reason = ""

    @property
    def model(self) -> ConnectedModel:
        """The model that was called last."""
        return self._model

    @property
    def is_shown(self) -> bool:
        """Whether there are deltas that a failure would void."""
        return bool(self._words.shown)

    @property
    def tools_used(self) -> tuple[str, ...]:
        """The turn's tools that were called so far, each once, in order."""
        return self._toolbox.used

    async def events(self) -> AsyncGenerator[Event]:
        """Yield deltas and restarts, then one outcome.

        Raises:
            ModelFailed, BudgetSpent, PromptLeak: there is no outcome.
        """
        await self._model.client.open()
        self._deadline = asyncio.get_running_loop().time() + self._settings.reply_seconds
        await learn_turn(self._turn, self._library)
        await self._begin()
        while True:
            async with aclosing(self._call()) as deltas:
                async for delta in deltas:
                    yield delta
            ended = self._ended
            if ended is None:
                raise ModelFailed("cut_off")
            self.stop_reason = ended.stop_reason
            match ended.stop_reason:
                case "tool_use" if ended.tool_uses:
                    async with aclosing(self._use_tools(ended)) as events:
                        async for event in events:
                            yield event
                            if not isinstance(event, ProgressEvent):
                                return
                case "pause_turn":
                    self._conversation.append({"role": "assistant", "content": [*ended.blocks]})
                case "end_turn" | "stop_sequence" | "max_tokens" | "model_context_window_exceeded":
                    if rest := self._words.close():
                        yield Delta(rest)
                    yield self._answer()
                    return
                case other:  # a refusal, or a later addition to the API
                    raise ModelFailed(other)

    async def _begin(self) -> None:
        """Assemble the model's input, including calls of earlier turns of this reply."""
        found = choose_excerpts(self._turn, self._library, room=self._settings.passage_tokens)
        self._material.add(found)
        self._conversation = messages(self._turn, found)
        for step in self._turn.rounds:
            self._conversation += [
                call_message(step.text, step.called, self._names),
                result_message(step.called, await self._toolbox.search_again(step)),
            ]
        self._words = self._new_words()

    async def _call(self) -> AsyncGenerator[Delta]:
        """Call the model, and those after it while one fails before any text."""
        while True:
            try:
                async with aclosing(self._call_model()) as deltas:
                    async for delta in deltas:
                        yield delta
                return
            except ModelFailed as error:
                is_late = asyncio.get_running_loop().time() >= self._deadline
                if self.is_shown or is_late or not self._further:
                    raise
                self._report_failure(self._model, error)
                self._model, *self._further = self._further
                self._words = self._new_words()
                self._material.reset()
                await self._model.client.open()

    async def _call_model(self) -> AsyncGenerator[Delta]:
        """Call one model, and retry while it fails before any text."""
        request = self._request()
        prompt = estimate_tokens(msgspec.json.encode(request).decode())
        await self._budget.refresh()
        call = self._budget.begin(prompt, request["max_tokens"], self._model.choice)
        request["max_tokens"] = call.longest
        self._ended = None
        loop = asyncio.get_running_loop()
        share = (self._deadline - loop.time()) / (1 + len(self._further))
        self._begun_by = loop.time() + share
        try:
            for tried in range(TRIES):
                try:
                    async with aclosing(self._try(request, call)) as deltas:
                        async for delta in deltas:
                            yield delta
                    return
                except ModelFailed as error:
                    wait = error.retry_after
                    if wait is None:
                        wait = BACK_OFF_SECONDS * 2.0**tried
                    late = loop.time() + wait >= self._begun_by
                    if not error.may_retry or late or self.is_shown or tried + 1 == TRIES:
                        raise
                    if not call.may_repeat:
                        raise BudgetSpent from error
                self._words = self._new_words()
                self._material.reset()
                await self._sleep(wait)
        finally:
            call.end()

    async def _try(self, request: dict[str, Any], call: CountedCall) -> AsyncGenerator[Delta]:
        """Send one request and read its message to the end."""
        reading: ModelStream | None = None
        limit = self._begun_by
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout_at(limit):
                    stream = self._model.client.open_stream(request)
                    reading = await stack.enter_async_context(stream)
                async with aclosing(reading.pieces()) as pieces:
                    while self._ended is None:
                        async with asyncio.timeout_at(limit):
                            piece = await anext(pieces)
                        limit = self._deadline
                        if said := self._take(piece):
                            yield Delta(said)
        except TimeoutError as error:
            raise ModelFailed("deadline") from error
        finally:
            if reading is not None:
                call.add(reading.usage)

    def _take(self, piece: Text | Citation | MessageEnded) -> str:
        """Process a piece of the message, and return what of it can be shown."""
        match piece:
            case Text(text=text):
                return self._words.feed(text)
            case Citation():
                self._material.add_citation(piece)
            case MessageEnded():
                self._ended = piece
        return ""

    def _request(self) -> dict[str, Any]:
        settings, wished = self._settings, self._turn.max_tokens
        longest = settings.max_tokens
        if wished is not None:
            longest = min(longest, wished)
        if self._model.choice.thinking != "disabled":
            longest += THINKING_TOKENS
        request: dict[str, Any] = {
            "model": self._model.choice.name,
            "max_tokens": longest,
            "system": system(self._turn.site),
            "tools": tools(self._turn.tools, may_want_person=self._turn.may_want_person),
            "messages": self._conversation,
            "thinking": {"type": self._model.choice.thinking},
        }
        if self._budget.is_last_call:
            request["tool_choice"] = {"type": "none"}
        elif (choice := self._choice()) is not None:
            request["tool_choice"] = choice
        return request

    def _choice(self) -> dict[str, Any] | None:
        """Return the API's ``tool_choice``: the tools to call first, and whether one by one.

        A model that thinks cannot be made to call.
        """
        first = self._turn.called_first
        choice: dict[str, Any] = {"type": "auto"}
        if first and not self._toolbox.rounds and self._model.choice.thinking == "disabled":
            one = {"type": "tool", "name": self._names[first[0]]}
            choice = one if len(first) == 1 else {"type": "any"}
        if self._turn.one_by_one:
            choice["disable_parallel_tool_use"] = True
        return None if choice == {"type": "auto"} else choice

    async def _use_tools(self, ended: MessageEnded) -> AsyncGenerator[Event]:
        """Carry out a step's tool calls; yield an outcome if the visitor or caller must act."""
        judge = self._make_output()
        for use in ended.tool_uses:
            judge.check("\n".join([use.name, *list_texts(parse_arguments(use.arguments))]))
        person = find_person_request(ended.tool_uses, self._turn)
        if person is not None:
            if rest := self._words.close():
                yield Delta(rest)
            yield self._ask_person(person)
            return
        question = find_question(ended.tool_uses, self._judged)
        if question is not None and not self.is_shown:
            yield Clarification(
                question.question,
                question.options,
                usage=self._budget.usage,
                tools_used=self.tools_used,
                model=self._model.choice.name,
            )
            return
        # after text the question becomes its end
        more = "" if question is None else self._words.feed(f"\n\n{write_question(question)}")
        if said := more + self._words.close():
            yield Delta(said)
        if question is not None:
            yield self._answer()
            return
        step, searched = await self._toolbox.carry_out(
            ended.tool_uses, self._words.shown, self._deadline
        )
        if any(called.result is None for called in step.called):
            yield ToolRequest(tuple(self._toolbox.rounds), self._budget.usage)
            return
        if (asks := _asked_first(step)) is not None:
            async for event in self._ask_first(asks):
                yield event
            return
        self._conversation += [
            {"role": "assistant", "content": [*ended.blocks]},
            result_message(step.called, searched),
        ]
        if self.is_shown:
            yield Restart()
        self._words = self._new_words()
        self._material.reset()

    async def _ask_first(self, asks: FollowUpQuestion) -> AsyncGenerator[Event]:
        """Ask the visitor what a call waits for, in the desk's text alone."""
        if not self.is_shown:
            yield Clarification(
                self._judged(asks.question),
                asks.options,
                free_form=False,
                usage=self._budget.usage,
                tools_used=self.tools_used,
                model=self._model.choice.name,
                waits=asks.call_id,
            )
            return
        yield Restart()
        self._words = self._new_words()
        self._material.reset()
        options = (f"{n}. {option}" for n, option in enumerate(asks.options, 1))
        question = "\n".join([asks.question, *options])
        yield Delta(self._words.feed(question) + self._words.close())
        yield msgspec.structs.replace(self._answer(), waits=asks.call_id)

    def _judged(self, text: str) -> str:
        output = self._new_output()
        return clean_message((output.feed(text) + output.close()).strip())

    def _answer(self) -> Answer:
        words, usage = self._words, self._budget.usage
        if not words.shown.strip():
            raise ModelFailed("empty")
        used = self.tools_used
        found = words.found and bool(used or not self._material.is_empty)
        return Answer(
            clean_message(words.shown),
            self._material.sources() if found else (),
            tokens_used=usage.total,
            found=found,
            usage=usage,
            tools_used=used,
            model=self._model.choice.name,
        )

    def _ask_person(self, person: PersonRequest) -> Answer:
        """Return an answer that requests a person; the desk says so after the text so far."""
        usage = self._budget.usage
        return Answer(
            self._words.shown.strip(),
            tokens_used=usage.total,
            usage=usage,
            tools_used=self.tools_used,
            model=self._model.choice.name,
            person=person,
        )

    def _new_output(self) -> OutputFilter:
        output = self._make_output()
        output.learn(self._material.texts)
        return output

    def _new_words(self) -> AnswerOutput:
        wished = self._turn.max_tokens
        longest = None if wished is None else wished * CHARACTERS_PER_TOKEN
        return AnswerOutput(self._new_output(), longest)


def _asked_first(step: ToolRound) -> FollowUpQuestion | None:
    """Return the first thing that the visitor must confirm before a step is done."""
    results = (called.result for called in step.called)
    return next((result.asks for result in results if result is not None and result.asks), None)
