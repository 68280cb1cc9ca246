"""Defines the JSON objects of runs and steps (OpenAI API, Assistants v2).

The wire modules encode them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.run_step import StepStatus
from aitp_desk.protocols.aitp.threads.objects import MessageDraft, RunFailure, ThreadDraft


class FunctionDeclared(msgspec.Struct):
    """A function of the caller's."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None


class ToolDeclared(msgspec.Struct):
    """A tool that a run may call: a function of the caller's."""

    type: str
    function: FunctionDeclared | None = None


class FunctionCall(msgspec.Struct):
    """The called function, its arguments as JSON, and its output once that is known."""

    name: str
    arguments: str
    output: str | UnsetType | None = UNSET


class ToolCallShown(msgspec.Struct, tag_field="type", tag="function"):
    """A call of a function."""

    id: str
    function: FunctionCall


class OwedCalls(msgspec.Struct):
    """The calls whose outputs the run waits for."""

    tool_calls: Sequence[ToolCallShown]


class RequiredAction(msgspec.Struct, tag_field="type", tag="submit_tool_outputs"):
    """What a run waits for."""

    submit_tool_outputs: OwedCalls


class NamedFunction(msgspec.Struct):
    """A function that a run calls in any case."""

    name: str


class ToolChoice(msgspec.Struct, tag_field="type", tag="function"):
    """The choice of one function."""

    function: NamedFunction


class ResponseFormat(msgspec.Struct, tag_field="type", tag="text"):
    """The format of answers: always text."""


class Truncation(msgspec.Struct):
    """How much of a thread its agent is given."""

    type: Literal["auto", "last_messages"]
    last_messages: int | None


class TruncationDraft(msgspec.Struct):
    """How much of a thread its agent is to be given."""

    type: Literal["auto", "last_messages"] = "auto"
    last_messages: int | None = None


class TokensCounted(msgspec.Struct):
    """The tokens that a model counted."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Incomplete(msgspec.Struct):
    """Why a run ended early."""

    reason: str | None


class Run(msgspec.Struct, tag_field="object", tag="thread.run", kw_only=True):
    """An agent's work on a thread. Times are Unix seconds."""

    id: str
    created_at: int
    thread_id: str
    assistant_id: str
    status: RunState
    started_at: int | None
    expires_at: int | None
    cancelled_at: int | None
    failed_at: int | None
    completed_at: int | None
    required_action: RequiredAction | None
    last_error: RunFailure | None
    incomplete_details: Incomplete | None
    model: str
    instructions: str
    tools: Sequence[ToolDeclared]
    tool_choice: Literal["auto", "none", "required"] | ToolChoice
    parallel_tool_calls: bool
    response_format: Literal["auto"] | ResponseFormat
    truncation_strategy: Truncation
    max_prompt_tokens: int | None
    max_completion_tokens: int | None
    temperature: float | None
    top_p: float | None
    metadata: Mapping[str, str]
    usage: TokensCounted | None


class _Draft(msgspec.Struct, kw_only=True):
    """The members of every run that is to be started."""

    assistant_id: str
    model: str | None = None
    instructions: str | None = None
    tools: list[ToolDeclared] | None = None
    tool_choice: Literal["auto", "none", "required"] | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: Literal["auto"] | ResponseFormat | None = None
    truncation_strategy: TruncationDraft | None = None
    max_prompt_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool | None = None
    metadata: dict[str, str] | None = None


class RunDraft(_Draft, kw_only=True):
    """A run to be started."""

    additional_instructions: str | None = None
    additional_messages: list[str | MessageDraft] | None = None


class ThreadRunDraft(_Draft, kw_only=True):
    """A thread to be opened, and a run on it."""

    thread: ThreadDraft | None = None


class ToolOutput(msgspec.Struct):
    """The output of a caller's function."""

    tool_call_id: str
    output: str = ""


class ToolOutputs(msgspec.Struct):
    """The outputs that a run waits for."""

    tool_outputs: list[ToolOutput]
    stream: bool | None = None


class MessageNamed(msgspec.Struct):
    """A message that was written."""

    message_id: str


class MessageCreation(msgspec.Struct, tag_field="type", tag="message_creation"):
    """A step in which a message was written."""

    message_creation: MessageNamed


class ToolCalls(msgspec.Struct, tag_field="type", tag="tool_calls"):
    """A step in which functions were called."""

    tool_calls: Sequence[ToolCallShown]


class RunStep(msgspec.Struct, tag_field="object", tag="thread.run.step", kw_only=True):
    """A step of a run. Times are Unix seconds."""

    id: str
    created_at: int
    run_id: str
    thread_id: str
    assistant_id: str
    type: Literal["message_creation", "tool_calls"]
    status: StepStatus
    completed_at: int | None
    cancelled_at: int | None
    expired_at: int | None
    failed_at: int | None
    last_error: RunFailure | None
    step_details: MessageCreation | ToolCalls
    metadata: Mapping[str, str]
    usage: TokensCounted | None


OBJECTS: tuple[type[msgspec.Struct], ...] = (Run, RunDraft, ThreadRunDraft, ToolOutputs, RunStep)
"""The bodies of requests and responses; what they contain follows from them."""
