"""Runs and their steps, as the OpenAI API has them (Assistants, v2)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.conversation.run import RunState
from aitp_desk.protocols.openapi.shapes.threads import MessageDraft, RunFailure, ThreadDraft


class FunctionDeclared(msgspec.Struct):
    """A function of the caller's."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolDeclared(msgspec.Struct):
    """A tool that a run may call: a function of the caller's."""

    type: str
    function: FunctionDeclared | None = None


class FunctionCall(msgspec.Struct):
    """The function that is called, its arguments as JSON, and its output once that is known."""

    name: str
    arguments: str
    output: str | None = None


class ToolCallShown(msgspec.Struct):
    """A call of a function."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class OwedCalls(msgspec.Struct):
    """The calls whose outputs are waited for."""

    tool_calls: list[ToolCallShown]


class RequiredAction(msgspec.Struct):
    """What a run waits for."""

    type: Literal["submit_tool_outputs"]
    submit_tool_outputs: OwedCalls


class Truncation(msgspec.Struct):
    """How much of a thread its agent is given."""

    type: Literal["auto", "last_messages"]
    last_messages: int | None = None


class TokensCounted(msgspec.Struct):
    """What a model counted."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Run(msgspec.Struct):
    """An agent's work on a thread. Moments are Unix seconds."""

    id: str
    object: Literal["thread.run"]
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
    incomplete_details: dict[str, str | None] | None
    model: str
    instructions: str
    tools: list[ToolDeclared]
    tool_choice: str | dict[str, Any]
    parallel_tool_calls: bool
    response_format: str | dict[str, Any]
    truncation_strategy: Truncation
    max_prompt_tokens: int | None
    max_completion_tokens: int | None
    temperature: float | None
    top_p: float | None
    metadata: dict[str, str]
    usage: TokensCounted | None


class _Draft(msgspec.Struct, kw_only=True):
    """What is said of every run that is to be started."""

    assistant_id: str
    model: str | None = None
    instructions: str | None = None
    tools: list[ToolDeclared] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: str | dict[str, Any] | None = None
    truncation_strategy: Truncation | None = None
    max_prompt_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stream: bool | None = None
    metadata: dict[str, str] | None = None


class RunDraft(_Draft, kw_only=True):
    """A run to be started."""

    additional_instructions: str | None = None
    additional_messages: list[MessageDraft] | None = None


class ThreadRunDraft(_Draft, kw_only=True):
    """A thread to be opened, and a run on it."""

    thread: ThreadDraft | None = None


class ToolOutput(msgspec.Struct):
    """What a caller's function gave."""

    tool_call_id: str
    output: str


class ToolOutputs(msgspec.Struct):
    """What a run has waited for."""

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

    tool_calls: list[ToolCallShown]


class RunStep(msgspec.Struct):
    """A step of a run. Moments are Unix seconds."""

    id: str
    object: Literal["thread.run.step"]
    created_at: int
    run_id: str
    thread_id: str
    assistant_id: str
    type: Literal["message_creation", "tool_calls"]
    status: str
    completed_at: int | None
    cancelled_at: int | None
    expired_at: int | None
    failed_at: int | None
    last_error: RunFailure | None
    step_details: MessageCreation | ToolCalls
    metadata: dict[str, str]
    usage: TokensCounted | None
