"""Converts between an agent's tool rounds and the steps of a run."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.base import AgentContractError, ToolRequest, Usage
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.history.window import shorten_middle
from aitp_desk.agent.tools import Tool, ToolCallRecord, ToolResult, ToolRound
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import RunOptions, RunUsage, ToolCall
from aitp_desk.model.conversation.run_step import Step, StepCall
from aitp_desk.model.ids import new_id

MAX_STEPS = 32
"""How many rounds of tool calls an agent may make in one run."""


def list_tools(
    options: RunOptions, principal: Principal, agent_tools: AgentTools
) -> tuple[Tool, ...]:
    """Return the tools of a turn: the caller's own functions, then the desk's actions.

    A function of the caller's hides an action of the same name.
    """
    if options.tool_choice == "none":
        return ()
    own = tuple(
        Tool(function.name, function.description, function.parameters, by="caller")
        for function in options.offered
    )
    names = {tool.name for tool in own}
    return own + tuple(tool for tool in agent_tools.list_tools(principal) if tool.name not in names)


def make_rounds(steps: Sequence[Step], room: int) -> tuple[ToolRound, ...]:
    """Return a run's earlier calls and their results, for its agent.

    Parameters:
        room: token budget of all results together. If it is exceeded, the middle of the longest
            results is left out.
    """
    if not steps:
        return ()
    outputs = [call.output for step in steps for call in step.calls if call.output is not None]
    most = _share([estimate_tokens(output) for output in outputs], room)
    return tuple(
        ToolRound(
            step.text,
            tuple(
                ToolCallRecord(
                    ToolCall(call.id, call.name, call.arguments),
                    None
                    if call.output is None
                    else ToolResult(shorten_middle(call.output, most), call.failed),
                )
                for call in step.calls
            ),
        )
        for step in steps
    )


def _share(sizes: Sequence[int], room: int) -> int:
    """Return the limit per size with which all fit and small ones stay whole."""
    left = room
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return room


def make_steps(
    request: ToolRequest, options: RunOptions, run_id: str, before: int, now: float
) -> tuple[Step, ...]:
    """Return the steps that an agent has added.

    The last one waits for the caller.

    Parameters:
        before: how many steps the run had.

    Raises:
        AgentContractError: the caller owes nothing, or something that it did not offer; or the
            agent calls tools without end.
    """
    if len(request.rounds) > MAX_STEPS:
        raise AgentContractError("The agent does not stop calling tools.")
    offered = {function.name for function in options.offered}
    new = request.rounds[before:]
    owing = [round_ for round_ in new if any(called.result is None for called in round_.called)]
    if not new or owing != [new[-1]]:
        raise AgentContractError("Only the last round of a tool request may lack results.")
    ids = [called.call.id for round_ in request.rounds for called in round_.called]
    if len(set(ids)) < len(ids):
        raise AgentContractError("The agent used one id for two calls.")
    for called in new[-1].called:
        if called.result is None and called.call.name not in offered:
            raise AgentContractError("The agent asks for a tool that the caller did not offer.")
    last = len(new) - 1
    return tuple(
        Step(
            id=new_id("step", now),
            run_id=run_id,
            position=before + place + 1,
            created_at=int(now),
            text=round_.text,
            calls=tuple(map(_step_call, round_.called)),
            completed_at=None if place == last else int(now),
            usage=make_usage(request.usage) if place == last else None,
        )
        for place, round_ in enumerate(new)
    )


def owed_calls(step: Step) -> tuple[ToolCall, ...]:
    """Return the calls of a step whose results the caller owes."""
    return tuple(
        ToolCall(call.id, call.name, call.arguments) for call in step.calls if call.output is None
    )


def make_usage(usage: Usage | None) -> RunUsage | None:
    """Convert a model's token usage to that of a run."""
    return None if usage is None else RunUsage(usage.prompt, usage.completion)


def sum_usage(usages: Sequence[RunUsage | None]) -> RunUsage | None:
    """Return the total usage; None if nothing was counted."""
    counted = [*filter(None, usages)]
    return sum(counted, RunUsage()) if counted else None


def find_reached_limit(options: RunOptions, usage: RunUsage | None, room: int) -> str | None:
    """Return the limit of a run that leaves fewer tokens than ``room``, or None."""
    counted = usage or RunUsage()
    limits = (
        ("max_prompt_tokens", options.max_prompt_tokens, counted.prompt),
        ("max_completion_tokens", options.max_completion_tokens, counted.completion),
    )
    for name, most, used in limits:
        if most is not None and most - used < room:
            return name
    return None


def _step_call(called: ToolCallRecord) -> StepCall:
    call, result = called.call, called.result
    if result is None:
        return StepCall(call.id, call.name, call.arguments, is_callers=True)
    return StepCall(call.id, call.name, call.arguments, output=result.output, failed=result.failed)
