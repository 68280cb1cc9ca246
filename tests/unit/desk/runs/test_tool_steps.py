"""What an agent has called becomes steps, and what it may not ask for is its fault."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.base import AgentContractError, ToolRequest, Usage
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.tools import ToolCallRecord, ToolResult, ToolRound
from aitp_desk.desk.runs.tool_steps import (
    MAX_STEPS,
    find_reached_limit,
    make_rounds,
    make_steps,
    owed_calls,
)
from aitp_desk.model.conversation.run import FunctionTool, RunOptions, RunUsage, ToolCall

OPTIONS = RunOptions(tools=(FunctionTool("stock"),))
NOW = 1_800_000_000.5


def called(id_: str, name: str = "look", output: str | None = "seen") -> ToolCallRecord:
    result = None if output is None else ToolResult(output)
    return ToolCallRecord(ToolCall(id_, name, "{}"), result)


def owing(id_: str) -> ToolCallRecord:
    return called(id_, "stock", None)


def request(*rounds: tuple[ToolCallRecord, ...], usage: Usage | None = None) -> ToolRequest:
    return ToolRequest(tuple(ToolRound(f"{n}", calls) for n, calls in enumerate(rounds)), usage)


def test_only_the_new_rounds_are_new_steps_and_the_last_one_waits() -> None:
    asked = request(
        (called("a"),),
        (called("b"),),
        (called("c"), owing("d")),
        usage=Usage(prompt=9, cached=4, completion=2),
    )
    steps = make_steps(asked, OPTIONS, "run_1", 1, NOW)
    assert [(step.position, step.text, step.completed_at) for step in steps] == [
        (2, "1", 1_800_000_000),
        (3, "2", None),
    ]
    assert [step.usage for step in steps] == [None, RunUsage(9, 2)]
    assert owed_calls(steps[-1]) == (ToolCall("d", "stock", "{}"),)
    assert make_rounds(steps, 100) == asked.rounds[1:]


@given(
    sizes=st.lists(
        st.lists(st.sampled_from([0, 5, 300, 3000, 20_000]), min_size=1, max_size=4), max_size=8
    ),
    room=st.sampled_from([500, 3000, 8000]),
)
def test_every_call_is_next_to_its_outcome_and_the_longest_are_shortened(
    sizes: list[list[int]], room: int
) -> None:
    rounds = [
        tuple(called(f"{step}.{n}", output="r" * size) for n, size in enumerate(of_step))
        for step, of_step in enumerate(sizes)
    ]
    steps = make_steps(request(*rounds, (owing("z"),)), OPTIONS, "run_1", 0, NOW)
    told = make_rounds(steps, room)
    assert [step.text for step in told] == [step.text for step in steps]
    assert [one.call for step in told for one in step.called] == [
        one.call for step in [*rounds, (owing("z"),)] for one in step
    ]
    *answered, (last,) = [step.called for step in told]
    assert last.result is None
    whole = {one.call.id: one.result for step in rounds for one in step}
    taken, shortened, kept = 0, [0], [0]
    for one in (one for step in answered for one in step):
        given = whole[one.call.id]
        assert one.result is not None
        assert given is not None
        taken += estimate_tokens(one.result.output)
        if one.result == given:
            kept.append(len(given.output))
        else:
            assert "characters left out" in one.result.output
            shortened.append(len(given.output))
    assert taken <= room
    assert max(shortened) == 0 or max(kept) <= min(shortened[1:])


@pytest.mark.parametrize(
    "rounds",
    [
        (),
        ((called("a"),),),
        ((owing("a"),), (owing("b"),)),
        ((owing("a"),), (called("b"),)),
        ((owing("a"), owing("a")),),
        ((called("a", "look", None),),),
        (*tuple((called(f"{n}"),) for n in range(MAX_STEPS)), (owing("z"),)),
    ],
)
def test_a_request_that_breaks_an_agents_promise_is_refused(
    rounds: tuple[tuple[ToolCallRecord, ...], ...],
) -> None:
    with pytest.raises(AgentContractError):
        make_steps(request(*rounds), OPTIONS, "run_1", 0, NOW)


def test_nothing_was_offered_where_no_tool_may_be_called() -> None:
    options = RunOptions(tools=OPTIONS.tools, tool_choice="none")
    with pytest.raises(AgentContractError, match="did not offer"):
        make_steps(request((owing("a"),)), options, "run_1", 0, NOW)


def test_a_limit_applies_where_too_little_space_is_left() -> None:
    options = RunOptions(max_prompt_tokens=100, max_completion_tokens=10)
    assert find_reached_limit(options, None, room=1) is None
    assert find_reached_limit(options, RunUsage(99, 9), room=1) is None
    assert find_reached_limit(options, RunUsage(100, 10), room=0) is None
    assert find_reached_limit(options, RunUsage(100, 9), room=1) == "max_prompt_tokens"
    assert find_reached_limit(options, RunUsage(9, 11), room=0) == "max_completion_tokens"
    assert find_reached_limit(RunOptions(), RunUsage(10**9, 10**9), room=1) is None
