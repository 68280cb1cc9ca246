"""What the Messages API refuses in a request, as far as the desk could err in it.

Source: the parameters and docstrings of the SDK ``anthropic`` 2.12, and the API's documentation of
tool use, search results, prompt caching and prefill.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Body = dict[str, Any]

_MEMBERS = frozenset("model max_tokens messages system tools tool_choice thinking stream".split())
"""The parameters that the desk has a use for; the API knows some more."""
_BLOCKS = {
    "text": frozenset({"text", "citations"}),
    "search_result": frozenset({"source", "title", "content", "citations"}),
    "tool_use": frozenset({"id", "name", "input"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
}
_BY_ROLE = {
    "user": {"text", "search_result", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
_THINKING = ("disabled", "enabled", "adaptive", "between_tools")
_MOST_MARKS = 4
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def problem_of(body: Body, headers: Mapping[str, str], *, is_paused: bool) -> str | None:
    """Why the API would refuse a request; None where it would take it.

    Parameters:
        is_paused: whether the last answer was a turn that paused: it is sent back as it came.
    """
    return next(_problems(body, headers, is_paused=is_paused), None)


def _problems(body: Body, headers: Mapping[str, str], *, is_paused: bool) -> Iterator[str]:
    if "anthropic-version" not in headers or headers.get("Content-Type") != "application/json":
        yield "headers are missing"
    if body.keys() - _MEMBERS or not {"model", "max_tokens", "messages"} <= body.keys():
        yield "unknown or missing parameters"
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 1 or body["stream"] is not True:
        yield "max_tokens is a whole number above nothing, and the desk reads a stream"
    if body["thinking"]["type"] not in _THINKING:
        yield "thinking has no such type"
    system = body["system"]
    if not system or any(not block["text"].strip() for block in _texts(system)):
        yield "system has no empty text"
    yield from _in_tools(body)
    yield from _in_messages(body["messages"], is_paused=is_paused)
    marked = [block for block in _all_blocks(body) if "cache_control" in block]
    if len(marked) > _MOST_MARKS or any(
        block["cache_control"] != {"type": "ephemeral"} or not block.get("text", True)
        for block in marked
    ):
        yield "a cache's mark is out of place"


def _in_tools(body: Body) -> Iterator[str]:
    tools = body.get("tools", [])
    names = Counter(tool["name"] for tool in tools)
    if any(count > 1 or not _NAME.fullmatch(name) for name, count in names.items()):
        yield "names of tools are unique"
    for tool in tools:
        if tool.keys() - {"name", "description", "input_schema", "cache_control"}:
            yield "a tool has unknown members"
        schema = tool["input_schema"]
        if schema["type"] != "object" or schema.keys() & {"oneOf", "allOf", "anyOf"}:
            yield "a tool's schema is an object's"
        if not isinstance(schema.get("properties", {}), dict):
            yield "a schema's properties are an object"
    if body.get("tool_choice", {"type": "auto"})["type"] not in {"auto", "any", "tool", "none"}:
        yield "tool_choice has no such type"


def _in_messages(messages: list[Body], *, is_paused: bool) -> Iterator[str]:
    if not messages or messages[0]["role"] != "user":
        yield "the first message is the user's"
    if messages[-1]["role"] != "user" and not is_paused:
        yield "prefill is not supported"
    owed: set[str] = set()
    for message in messages:
        if message.keys() != {"role", "content"} or message["role"] not in _BY_ROLE:
            yield "a message is a role and content"
        content = message["content"]
        if not content:
            yield "content is not empty"
        given = [b["tool_use_id"] for b in content if b["type"] == "tool_result"]
        if set(given) != owed or len(given) != len(owed):
            yield "each tool_use has its tool_result in the next message"
        if [b for b in content[: len(given)] if b["type"] != "tool_result"]:
            yield "results of tools come first"
        owed = {b["id"] for b in content if b["type"] == "tool_use"}
        for block in content:
            if block["type"] not in _BY_ROLE[message["role"]]:
                yield f"a {message['role']} has no {block['type']}"
            yield from _in_block(block)
            if block["type"] == "text" and block.get("citations") and message["role"] == "user":
                yield "a user's text has no citations"
    cited = {str(block.get("citations")) for block in _search_results(messages)}
    if len(cited) > 1:
        yield "citations are enabled for all search results or for none"


def _in_block(block: Body) -> Iterator[str]:
    kind = block["type"]
    if block.keys() - _BLOCKS[kind] - {"type", "cache_control"}:
        yield f"a {kind} has unknown members"
    match kind:
        case "text" if not block["text"].strip():
            yield "text blocks are not empty"
        case "search_result":
            texts = block["content"]
            if not (block["source"] and isinstance(block["title"], str) and texts):
                yield "a search result has a source, a title and content"
            for text in texts:
                if text["type"] != "text":
                    yield "a search result's content is text"
                yield from _in_block(text)
        case "tool_result" if isinstance(block["content"], list):
            for inner in block["content"]:
                if inner["type"] not in {"text", "search_result"}:
                    yield "a tool's result is text or search results"
                yield from _in_block(inner)
        case "tool_use" if not _NAME.fullmatch(block["name"]):
            yield "a tool_use has the name of a tool"
        case "tool_use" if not isinstance(block["input"], dict) or not _NAME.fullmatch(block["id"]):
            yield "a tool_use has an id, and an object as its input"
        case _:
            pass


def _texts(system: str | list[Body]) -> list[Body]:
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def _all_blocks(body: Body) -> Iterator[Body]:
    yield from _texts(body["system"])
    yield from body.get("tools", [])
    for message in body["messages"]:
        yield from message["content"]


def _search_results(messages: list[Body]) -> Iterator[Body]:
    for message in messages:
        for block in message["content"]:
            if block["type"] == "search_result":
                yield block
            elif block["type"] == "tool_result" and isinstance(block["content"], list):
                yield from (b for b in block["content"] if b["type"] == "search_result")
