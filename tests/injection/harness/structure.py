"""Reading a request of the Messages API back: what of it is structure, and what is data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

DATA = "…"
"""What stands where a caller's words stood."""

Block = dict[str, Any]


class Forged(AssertionError):
    """Words have left their place: what should be one object of JSON on a line is not."""


def skeleton(request: Mapping[str, Any]) -> Any:
    """A request without what anyone but the desk has said in it: equal for all that is said.

    Raises:
        Forged: a text of a user's message is not what the desk writes there.
    """
    return {
        "system": request["system"],
        "tools": [_tool(tool) for tool in request["tools"]],
        "messages": [
            {
                "role": message["role"],
                "content": [_block(block, message["role"]) for block in content],
            }
            for message in request["messages"]
            for content in [_blocks(message["content"])]
        ],
    }


def _block(block: Block, role: str) -> Any:
    match block:
        case {"type": "text", "text": str(text)}:
            shown = DATA if role == "assistant" else _object(text)
            return {**block, "text": shown}
        case {"type": "search_result", "content": list(parts)}:
            told = [{**part, "text": DATA} for part in parts]
            return {**block, "source": DATA, "title": DATA, "content": told}
        case {"type": "tool_result", "content": str(text)}:
            return {**block, "content": _object(text)}
        case {"type": "tool_result", "content": list(parts)}:
            return {**block, "content": [_block(part, role) for part in parts]}
        case {"type": "tool_use"} if role == "assistant":
            return block
    raise Forged(block)


def _tool(tool: Block) -> Block:
    """A tool; a function of the caller's is described in the caller's words."""
    if not tool["name"].startswith("caller_"):
        return tool
    words, brace, rest = tool["description"].partition("{")
    return {**tool, "description": [words, _object(brace + rest)]}


def _object(text: str) -> Any:
    if len(text.splitlines()) != 1:
        raise Forged(text)
    try:
        said, end = json.JSONDecoder(object_pairs_hook=list).raw_decode(text)
    except ValueError as error:
        raise Forged(text) from error
    if end != len(text) or not isinstance(said, list):
        raise Forged(text)
    return [(name, DATA if isinstance(value, str) else value) for name, value in said]


def _blocks(content: str | Sequence[Block]) -> Sequence[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
