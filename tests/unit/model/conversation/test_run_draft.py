"""What a caller may ask of a run, and hand in."""

from __future__ import annotations

from typing import Any

import pytest

from aitp_desk.model.conversation.run import FunctionTool, RunOptions
from aitp_desk.model.conversation.run_draft import (
    RunDraft,
    ToolOutput,
    check_outputs,
    check_run_draft,
)
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.errors import DeskError, InvalidRequest, RequestTooLarge

KIB = 1024


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(instructions="x" * 16_000, additional_instructions="x" * 16_000),
        RunOptions(tools=tuple(FunctionTool(f"f-{n}") for n in range(128)), function="f-7"),
        RunOptions(tools=(FunctionTool("f" * 64, "x" * 60 * KIB),)),
        RunOptions(temperature=0, top_p=1, max_prompt_tokens=1, last_messages=1),
    ],
)
def test_what_is_within_the_limits_passes(options: RunOptions) -> None:
    draft = RunDraft("desk", options, {"k": "v"}, (Draft("user", ("Hello?",)),))
    assert check_run_draft(draft) is draft


@pytest.mark.parametrize(
    ("members", "error", "param"),
    [
        ({"instructions": "x" * 32_001}, RequestTooLarge, "instructions"),
        ({"tools": (FunctionTool("f"),) * 129}, InvalidRequest, "tools"),
        ({"tools": (FunctionTool("f", "x" * 64 * KIB),)}, RequestTooLarge, "tools"),
        ({"tools": (FunctionTool("f" * 65),)}, InvalidRequest, "tools[0].function.name"),
        ({"tools": (FunctionTool(""),)}, InvalidRequest, "tools[0].function.name"),
        ({"tools": (FunctionTool("f"),) * 2}, InvalidRequest, "tools[1].function.name"),
        ({"function": "f"}, InvalidRequest, "tool_choice"),
        ({"max_completion_tokens": 0}, InvalidRequest, "max_completion_tokens"),
        ({"max_prompt_tokens": 2**31}, InvalidRequest, "max_prompt_tokens"),
        ({"last_messages": 0}, InvalidRequest, "last_messages"),
        ({"temperature": -0.1}, InvalidRequest, "temperature"),
        ({"top_p": 1.1}, InvalidRequest, "top_p"),
    ],
)
def test_what_is_past_a_limit_is_refused_by_its_name(
    members: dict[str, Any], error: type[DeskError], param: str
) -> None:
    with pytest.raises(error) as refused:
        check_run_draft(RunDraft("desk", RunOptions(**members)))
    assert refused.value.param == param


def test_messages_of_a_run_are_held_to_the_limits_of_messages() -> None:
    many = tuple(Draft("user", ("Hello?",)) for _ in range(101))
    with pytest.raises(InvalidRequest, match="100"):
        check_run_draft(RunDraft("desk", messages=many))
    with pytest.raises(InvalidRequest) as refused:
        check_run_draft(RunDraft("desk", messages=(many[0], Draft("user", (" ",)))))
    assert refused.value.param == "additional_messages[1].content"


def test_outputs_are_held_to_their_sizes_and_named_once() -> None:
    check_outputs([ToolOutput(f"c{n}", "x" * 64 * KIB) for n in range(4)])
    for outputs, param in (
        ([ToolOutput("c", "x" * (64 * KIB + 1))], "tool_outputs[0].output"),
        ([ToolOutput("a", ""), ToolOutput("b", "é" * 33 * KIB)], "tool_outputs[1].output"),
        ([ToolOutput(f"c{n}", "x" * 52 * KIB + "y") for n in range(5)], "tool_outputs"),
        ([ToolOutput("c", ""), ToolOutput("c", "")], "tool_outputs[1].tool_call_id"),
    ):
        with pytest.raises((InvalidRequest, RequestTooLarge)) as refused:
            check_outputs(outputs)
        assert refused.value.param == param
