"""Reads a streamed message of Chat Completions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from aitp_desk.agent.base import Usage
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.generative.providers.base import (
    KIND,
    MALFORMED,
    Citation,
    MessageEnded,
    ModelFailed,
    Text,
    ToolUse,
    replace_surrogates,
)
from aitp_desk.agent.generative.providers.completions.marks import CitationMarks
from aitp_desk.agent.generative.providers.completions.request import ChatRequest
from aitp_desk.agent.generative.providers.completions.thoughts import Thoughts

_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""Why a message ends, as the Messages API names it."""


class _Call(msgspec.Struct):
    """A call of a tool as it arrives."""

    id: str
    name: str = ""
    arguments: str = ""


class ChatStream:
    """A message that is being read.

    Parameters:
        chunks: the SDK's stream.
        request: what was sent.
    """

    def __init__(self, chunks: Any, request: ChatRequest) -> None:
        self._chunks = chunks
        self._marks = CitationMarks(request.passages)
        self._thoughts = Thoughts()
        self._sent = request.body
        self._counted: Usage | None = None
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._said: list[str] = []
        self._ends: str | None = None
        self._is_refusal = False

    @property
    def usage(self) -> Usage:
        """The tokens so far: the server's count, else an estimate."""
        if self._counted is not None:
            return self._counted
        prompt = estimate_tokens(msgspec.json.encode(self._sent).decode())
        calls = (f"{call.name}{call.arguments}" for call in self._calls)
        return Usage(prompt, 0, estimate_tokens("".join((*self._said, *calls))))

    async def pieces(self) -> AsyncGenerator[Text | Citation | MessageEnded]:
        """Yield the pieces of the message as they arrive, and then its end.

        Raises:
            ModelFailed: it broke off.
        """
        try:
            async for chunk in self._chunks:
                if chunk.usage is not None:
                    self._counted = _usage(chunk.usage)
                for choice in (chunk.choices or ())[:1]:
                    self._ends = choice.finish_reason or self._ends
                    for piece in self._read(choice.delta):
                        yield piece
            for piece in (*self._marks.feed(self._thoughts.close()), *self._marks.close()):
                yield self._keep(piece)
            yield self._ended()
        except MALFORMED as error:  # the SDK does not validate what it reads
            raise ModelFailed("bad_message") from error

    def _read(self, delta: Any) -> list[Text | Citation]:
        """Return what may be shown of a piece."""
        self._is_refusal = self._is_refusal or bool(getattr(delta, "refusal", None))
        for piece in delta.tool_calls or ():
            call = self._find_call(piece)
            if piece.function is not None:
                call.name += piece.function.name or ""
                call.arguments += piece.function.arguments or ""
        answer = self._thoughts.feed(replace_surrogates(delta.content or ""))
        return [self._keep(piece) for piece in self._marks.feed(answer)] if answer else []

    def _find_call(self, piece: Any) -> _Call:
        """Return the call that a piece continues; some servers number all calls 0."""
        call = self._at.get(piece.index)
        if call is None or (piece.id and piece.id != call.id):
            call = _Call(piece.id or f"call_{len(self._calls)}")
            self._at[piece.index] = call
            self._calls.append(call)
        return call

    def _keep(self, piece: Text | Citation) -> Text | Citation:
        if isinstance(piece, Text):
            self._said.append(piece.text)
        return piece

    def _ended(self) -> MessageEnded:
        """Return the end of the message."""
        if self._ends is None:
            raise ModelFailed("cut_off", may_retry=True)
        text = "".join(self._said)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
        uses: list[ToolUse] = []
        for call in self._calls:
            given = msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
            uses.append(ToolUse(call.id, call.name, msgspec.json.encode(given).decode()))
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": given}
            blocks.append(block)
        reason = _REASONS.get(self._ends, self._ends if KIND.fullmatch(self._ends) else "unknown")
        if self._is_refusal:
            reason = "refusal"
        elif uses and reason == "end_turn":  # as some servers end a message with calls
            reason = "tool_use"
        return MessageEnded(reason, text, tuple(uses), tuple(blocks))


def _usage(counted: Any) -> Usage:
    details = getattr(counted, "prompt_tokens_details", None)
    cached = int(getattr(details, "cached_tokens", None) or 0)
    return Usage(int(counted.prompt_tokens), cached, int(counted.completion_tokens))
