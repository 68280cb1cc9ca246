"""Defines the JSON objects of chat completions (OpenAI API).

The wire modules encode them, and the OpenAPI document describes them under their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.protocols.aitp.runs.objects import TokensCounted, ToolCallShown, ToolDeclared

FinishReason = Literal["stop", "length", "tool_calls"]


class ChatText(msgspec.Struct):
    """A part of a message: text."""

    text: str
    type: Literal["text"] = "text"


class ChatMessage(msgspec.Struct):
    """A message of the conversation, as its caller sends it."""

    role: Literal["developer", "system", "user", "assistant", "tool"]
    content: str | Sequence[ChatText] | None = None
    tool_calls: Sequence[ToolCallShown] | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET


class ChatCompletionDraft(msgspec.Struct):
    """A conversation, whose last message the site's agent answers."""

    model: str
    messages: Sequence[ChatMessage]
    stream: bool = False
    tools: Sequence[ToolDeclared] = ()
    tool_choice: Any = "auto"
    max_completion_tokens: int | None = None


class CitedUrl(msgspec.Struct):
    """A source, and where the text names it: from one index to before the other."""

    start_index: int
    end_index: int
    title: str
    url: str


class ChatAnnotation(msgspec.Struct):
    """What a part of the answer's text refers to."""

    url_citation: CitedUrl
    type: Literal["url_citation"] = "url_citation"


class ChatAnswer(msgspec.Struct):
    """The agent's answer, or the calls of the caller's functions that it needs first."""

    content: str | None
    annotations: Sequence[ChatAnnotation] = ()
    role: Literal["assistant"] = "assistant"
    refusal: None = None
    tool_calls: Sequence[ToolCallShown] | UnsetType = UNSET


class ChatChoice(msgspec.Struct):
    """The only answer."""

    message: ChatAnswer
    finish_reason: FinishReason
    index: int = 0
    logprobs: None = None


class ChatCompletion(msgspec.Struct):
    """The answer to a conversation. `metadata` names its thread and its run here."""

    id: str
    created: int
    model: str
    choices: Sequence[ChatChoice]
    usage: TokensCounted
    metadata: dict[str, str]
    object: Literal["chat.completion"] = "chat.completion"


class ToolCallDelta(msgspec.Struct):
    """A call of a function, in full, in a stream."""

    index: int
    id: str
    function: dict[str, str]
    type: Literal["function"] = "function"


class ChatDelta(msgspec.Struct):
    """What a piece of a stream adds to the answer."""

    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    tool_calls: Sequence[ToolCallDelta] | UnsetType = UNSET


class ChatDeltaChoice(msgspec.Struct):
    """The only answer in a stream."""

    delta: ChatDelta
    finish_reason: FinishReason | None = None
    index: int = 0
    logprobs: None = None


class ChatCompletionChunk(msgspec.Struct):
    """A piece of a stream; with `usage` the last one, which has no choices."""

    id: str
    created: int
    model: str
    choices: Sequence[ChatDeltaChoice]
    usage: TokensCounted | UnsetType | None = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


OBJECTS: tuple[type[msgspec.Struct], ...] = (ChatCompletionDraft, ChatCompletion)
