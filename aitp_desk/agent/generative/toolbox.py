"""Carries out a model's tool calls. Calls that the caller carries out are left to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from aitp_desk.agent.base import PendingQuestion, Turn
from aitp_desk.agent.extractive.agent import cut_text
from aitp_desk.agent.generative.material import ReplySources
from aitp_desk.agent.generative.passages import Excerpt
from aitp_desk.agent.generative.prompt import (
    ASK,
    ASK_PERSON,
    SEARCH,
    SEARCH_CALL,
    parse_arguments,
    to_one_line,
    wire_name,
)
from aitp_desk.agent.generative.providers.base import ToolUse
from aitp_desk.agent.speech.person_request import PersonRequest
from aitp_desk.agent.tools import ToolCallRecord, ToolResult, ToolRound
from aitp_desk.model.conversation.run import ToolCall

MAX_AT_ONCE = 8
"""The most tools that a model may call in one step."""
MAX_OPTIONS = 4
LONGEST_QUESTION, LONGEST_OPTION = 600, 160
"""The most characters of a clarifying question, and of each of its options."""

Searched = Mapping[str, tuple[Excerpt, ...]]
"""The results of search calls, by the ids of the calls."""


class Toolbox:
    """The tools of one turn, and the search of the content.

    Attributes:
        rounds: the calls of this reply, including those of its earlier turns.
    """

    def __init__(self, turn: Turn, material: ReplySources) -> None:
        self._turn = turn
        self._material = material
        self._tools = {wire_name(tool): tool for tool in turn.tools}
        self.rounds = list(turn.rounds)

    @property
    def used(self) -> tuple[str, ...]:
        """The turn's tools that were called so far, each once, in order."""
        # a name that the model made up is its text, not a tool
        names = {tool.name for tool in self._turn.tools}
        called = [step.call.name for done in self.rounds for step in done.called]
        return tuple(dict.fromkeys(name for name in called if name in names))

    async def search_again(self, step: ToolRound) -> Searched:
        """Repeat the searches of a step of an earlier turn."""
        return {
            called.call.id: await self._material.search(called.call.arguments)
            for called in step.called
            if called.call.name == SEARCH_CALL
        }

    async def carry_out(
        self, uses: Sequence[ToolUse], said: str, deadline: float
    ) -> tuple[ToolRound, Searched]:
        """Carry out the calls of a step in order and record the round.

        Parameters:
            said: the model's text before the calls.
            deadline: when the reply has to end, by the event loop's clock.

        Returns:
            The step, and what its searches found; a call that the caller carries out has no result.
        """
        searched: dict[str, tuple[Excerpt, ...]] = {}
        most = 1 if self._turn.one_by_one else MAX_AT_ONCE
        called = [
            await self._use(use, searched, deadline, is_too_many=place >= most)
            for place, use in enumerate(uses)
        ]
        step = ToolRound(said, tuple(called))
        self.rounds.append(step)
        return step, searched

    async def _use(
        self,
        use: ToolUse,
        searched: dict[str, tuple[Excerpt, ...]],
        deadline: float,
        *,
        is_too_many: bool,
    ) -> ToolCallRecord:
        tool = self._tools.get(use.name)
        if use.name == SEARCH:
            found = () if is_too_many else await self._material.search(use.arguments)
            searched[use.id] = found
            titles = "; ".join(f"{e.passage.name} ({e.passage.url})" for e in found)
            result = ToolResult(titles or "Nothing else was found.")
            return ToolCallRecord(ToolCall(use.id, SEARCH_CALL, use.arguments), result)
        call = ToolCall(use.id, use.name if tool is None else tool.name, use.arguments)
        if tool is None:
            return ToolCallRecord(
                call, ToolResult(f"There is no tool named {use.name!r}.", failed=True)
            )
        if is_too_many:
            return ToolCallRecord(call, ToolResult("Too many calls at once.", failed=True))
        if tool.by == "caller":
            return ToolCallRecord(call)
        return ToolCallRecord(call, await self._invoke(call, deadline))

    async def _invoke(self, call: ToolCall, deadline: float) -> ToolResult:
        """Call a tool of the desk within the time left for the reply."""
        if asyncio.get_running_loop().time() < deadline:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    return await self._turn.invoke(call)
            return ToolResult(
                "The call was started and continues. Its outcome is not known yet.", failed=True
            )
        return ToolResult("The call was not made: no time was left.", failed=True)


def find_person_request(uses: Sequence[ToolUse], turn: Turn) -> PersonRequest | None:
    """Return the model's request for a person, if it is allowed.

    Its subject is the visitor's text; the model's text is a note to the operators.
    """
    use = next((use for use in uses if use.name == ASK_PERSON), None)
    if use is None or not turn.may_want_person:
        return None
    reason = parse_arguments(use.arguments).get("reason")
    told = to_one_line(reason)[:LONGEST_QUESTION] if isinstance(reason, str) else ""
    about = turn.question if turn.clarification is None else turn.clarification
    return PersonRequest("request", about, f"The agent says why: {told}" if told else "")


def find_question(uses: Sequence[ToolUse], judged: Callable[[str], str]) -> PendingQuestion | None:
    """Return the model's clarifying question to the visitor, if it calls for one.

    Parameters:
        judged: returns what of a text may be shown.
    """
    given = next((parse_arguments(use.arguments) for use in uses if use.name == ASK), {})
    question, options = given.get("question"), given.get("options")
    if not isinstance(question, str) or not question.strip():
        return None
    offered = options if isinstance(options, list) else []
    named = [option for option in offered if isinstance(option, str)][:MAX_OPTIONS]
    options = (judged(cut_text(to_one_line(option), LONGEST_OPTION)) for option in named)
    return PendingQuestion(
        "", judged(cut_text(question, LONGEST_QUESTION)), tuple(filter(None, options))
    )
