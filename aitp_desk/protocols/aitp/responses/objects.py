"""Defines the JSON objects of responses (OpenAI API).

The wire modules encode them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Status = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
ItemStatus = Literal["in_progress", "completed", "incomplete"]


class UrlCitation(msgspec.Struct, tag_field="type", tag="url_citation"):
    """A source, and where the text names it: from one index to before the other."""

    start_index: int
    end_index: int
    title: str
    url: str


class OutputText(msgspec.Struct, tag_field="type", tag="output_text"):
    """The text of a message."""

    text: str
    annotations: Sequence[UrlCitation] = ()
    logprobs: Sequence[Mapping[str, Any]] = ()


class OutputMessage(msgspec.Struct, tag_field="type", tag="message"):
    """A message of the agent."""

    id: str
    status: ItemStatus
    content: Sequence[OutputText]
    role: Literal["assistant"] = "assistant"


class OutputCall(msgspec.Struct, tag_field="type", tag="function_call"):
    """A call of a function of the caller's."""

    id: str
    call_id: str
    name: str
    arguments: str
    status: ItemStatus = "completed"


OutputItem = OutputMessage | OutputCall


class InputTokens(msgspec.Struct):
    """Tokens that a model has read. None is cached here."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokens(msgspec.Struct):
    """Tokens that a model has written. The desk does not count its reasoning apart."""

    reasoning_tokens: int = 0


class ResponseUsage(msgspec.Struct):
    """Tokens that models read and wrote."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputTokens
    output_tokens_details: OutputTokens


class ResponseFailure(msgspec.Struct):
    """Why there is no answer."""

    code: Literal["server_error", "rate_limit_exceeded"]
    message: str


class ResponseIncomplete(msgspec.Struct):
    """Which limit the answer has reached."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class ResponseTool(msgspec.Struct, tag_field="type", tag="function"):
    """A function of the caller's."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool = False


class ResponseToolChoice(msgspec.Struct, tag_field="type", tag="function"):
    """The function that is called first."""

    name: str


class ResponseConversation(msgspec.Struct):
    """The thread of a response."""

    id: str


class Response(msgspec.Struct):
    """An answer of the agent. `conversation.id` is the thread's."""

    id: str
    created_at: int
    status: Status
    model: str
    output: Sequence[OutputItem]
    conversation: ResponseConversation
    error: ResponseFailure | None
    incomplete_details: ResponseIncomplete | None
    instructions: str | None
    max_output_tokens: int | None
    metadata: Mapping[str, str]
    parallel_tool_calls: bool
    previous_response_id: str | None
    temperature: float | None
    tool_choice: Literal["auto", "none", "required"] | ResponseToolChoice
    tools: Sequence[ResponseTool]
    top_p: float | None
    usage: ResponseUsage | None
    completed_at: int | None
    background: bool = False
    object: Literal["response"] = "response"


class InputText(msgspec.Struct):
    """A part of a message: text."""

    text: str
    type: Literal["input_text", "output_text"] = "input_text"


class InputMessage(msgspec.Struct, tag_field="type", tag="message"):
    """A message that came with the request of a response."""

    id: str
    role: str
    content: Sequence[InputText]
    status: ItemStatus = "completed"


class InputItem(msgspec.Struct):
    """A message, or the output of a call of a function."""

    type: Literal["message", "function_call", "function_call_output"] = "message"
    role: Literal["user", "assistant", "system", "developer"] | None = None
    content: str | Sequence[InputText] | None = None
    call_id: str | None = None
    output: str | None = None


class ResponseDraft(msgspec.Struct):
    """A question to the site's agent, with the conversation before it."""

    model: str
    input: str | Sequence[InputItem]
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: str | ResponseConversation | None = None
    tools: Sequence[ResponseTool] = ()
    tool_choice: Any = "auto"
    max_output_tokens: int | None = None
    metadata: Mapping[str, str] | None = None
    stream: bool = False
    background: bool = False


OBJECTS: tuple[type[msgspec.Struct], ...] = (ResponseDraft, Response, InputMessage)
