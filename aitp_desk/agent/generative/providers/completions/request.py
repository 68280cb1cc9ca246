"""Writes a request of the Messages API as one of Chat Completions. Pure.

Every message of a user stays what it is: lines of JSON, which nothing in a text can end. A search
result becomes one such line for each of its passages, with a number that the model cites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.agent.generative.prompt import QUOTING
from aitp_desk.agent.generative.providers.base import Citation

Block = Mapping[str, Any]
Message = dict[str, Any]

_REFUSING = frozenset({400, 404, 422, 500, 501})
"""Statuses with which servers refuse a parameter: llama.cpp 500, OpenRouter 404."""
_REFUSALS = {
    "max_tokens": re.compile("max_completion_tokens"),
    "stream_options": re.compile("stream_options|include_usage"),
    "parallel_tool_calls": re.compile("parallel_tool_calls"),
    "tool_choice": re.compile("tool_choice"),
    "tools": re.compile(
        r"not support(?:ed)? (?:for )?(?:tool|function)|support tool use|tools param"
        r"|tool choice requires|\btools?\W{1,2}(?:is|are) not supported",
        re.IGNORECASE,
    ),
}
"""How servers refuse a parameter that this request can do without."""


class Dialect(msgspec.Struct, frozen=True):
    """The parameters that a server refuses.

    Parameters:
        refused: their names. Instead of ``max_tokens`` it takes ``max_completion_tokens``.
    """

    refused: frozenset[str] = frozenset()

    @property
    def has_tools(self) -> bool:
        """Whether the model can call tools."""
        return "tools" not in self.refused

    def refuse(
        self, status: int, parameter: str | None, message: str, sent: Mapping[str, Any]
    ) -> str | None:
        """Return the parameter that a server's error refuses; None for another error.

        Parameters:
            sent: the request.
        """
        if status not in _REFUSING:
            return None
        for name, words in _REFUSALS.items():
            is_named = parameter == name and name != "max_tokens"  # which may be too large as well
            if name in sent and (is_named or words.search(message)):
                return name
        return None


class ChatRequest(msgspec.Struct, frozen=True):
    """A request of Chat Completions.

    Parameters:
        passages: what each number of a passage cites, from 1.
    """

    body: dict[str, Any]
    passages: tuple[Citation, ...]


def write_request(request: Mapping[str, Any], dialect: Dialect) -> ChatRequest:
    """Write a request of the Messages API for a server."""
    numbered = _NumberedPassages()
    said = [_merge(part) for part in _messages(request["messages"], numbered, dialect)]
    system = _system(request["system"])
    if numbered.passages:
        system = f"{system}\n{QUOTING}"
    body: dict[str, Any] = {
        "model": request["model"],
        "messages": [{"role": "system", "content": system}, *_alternating(said)],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request["max_tokens"],
    }
    if tools := request.get("tools"):
        body |= {"tools": [_tool(tool) for tool in tools], **_choice(request.get("tool_choice"))}
    if not dialect.has_tools:
        for name in ("tools", "tool_choice", "parallel_tool_calls"):
            body.pop(name, None)
    for name in dialect.refused & body.keys():
        value = body.pop(name)
        if name == "max_tokens":
            body["max_completion_tokens"] = value
    return ChatRequest(body, tuple(numbered.passages))


class _NumberedPassages:
    """The passages of a request in their order."""

    def __init__(self) -> None:
        self.passages: list[Citation] = []
        self._results = 0

    def write(self, result: Block) -> Iterator[str]:
        """Yield a search result as a line for each of its passages."""
        for block, content in enumerate(result["content"]):
            self.passages.append(Citation(self._results, block, result["source"]))
            yield msgspec.json.encode(
                {
                    "search_result": len(self.passages),
                    "title": result["title"],
                    "source": result["source"],
                    "text": content["text"],
                }
            ).decode()
        self._results += 1


def _system(system: Any) -> str:
    return system if isinstance(system, str) else "\n".join(block["text"] for block in system)


def _messages(
    messages: Iterable[Block], numbered: _NumberedPassages, dialect: Dialect
) -> Iterator[Message]:
    for message in messages:
        if message["role"] == "assistant":
            yield _own(message["content"], dialect)
            continue
        lines: list[str] = []
        for block in message["content"]:
            match block["type"]:
                case "tool_result":
                    content = "\n".join(_result(block["content"], numbered))
                    if dialect.has_tools:
                        id_ = block["tool_use_id"]
                        yield {"role": "tool", "tool_call_id": id_, "content": content}
                    else:
                        lines.append(content)
                case "search_result":
                    lines += numbered.write(block)
                case _:
                    lines.append(block["text"])
        if lines:
            yield {"role": "user", "content": "\n".join(lines)}


def _own(content: Iterable[Block], dialect: Dialect) -> Message:
    """Return a message of the model: its text and its calls."""
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {
                "name": block["name"],
                "arguments": msgspec.json.encode(block["input"]).decode(),
            },
        }
        for block in content
        if block["type"] == "tool_use" and dialect.has_tools
    ]
    message: Message = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": calls} if calls else message


def _result(content: Any, numbered: _NumberedPassages) -> Iterator[str]:
    """Yield the lines of a tool's result."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        yield from numbered.write(block)


def _merge(message: Message) -> Message:
    """Return a message with a text, which some servers require without calls."""
    if message["content"] is None and "tool_calls" not in message:
        return {**message, "content": ""}
    return message


def _alternating(messages: Iterable[Message]) -> list[Message]:
    """Join messages of the same speaker: the templates of some models refuse two in a row."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        is_plain = message["role"] in {"user", "assistant"} and "tool_calls" not in message
        if last and is_plain and last["role"] == message["role"] and "tool_calls" not in last:
            last["content"] = "\n".join(filter(None, (last["content"], message["content"])))
        elif message["content"] or message["role"] != "assistant" or "tool_calls" in message:
            joined.append(message)
    return joined


def _tool(tool: Block) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["input_schema"],
        },
    }


def _choice(choice: Block | None) -> dict[str, Any]:
    """Return which tools the model may or must call, and whether several at once."""
    if choice is None:
        return {}
    one_by_one = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {}
    match choice["type"]:
        case "tool":
            named = {"type": "function", "function": {"name": choice["name"]}}
            return {"tool_choice": named, **one_by_one}
        case "any":
            return {"tool_choice": "required", **one_by_one}
        case "none":
            return {"tool_choice": "none"}
        case _:
            return one_by_one
