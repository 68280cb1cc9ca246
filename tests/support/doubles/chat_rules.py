"""What Chat Completions refuses in a request, as far as the desk could err in it.

Source: the parameters and docstrings of the SDK ``openai`` 3.54, and the errors that OpenAI's API,
vLLM and llama.cpp document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

Body = dict[str, Any]

_MEMBERS = frozenset(
    "model messages stream stream_options max_tokens max_completion_tokens tools tool_choice"
    " parallel_tool_calls".split()
)
"""The parameters that the desk has a use for; the API knows some more."""
_BY_ROLE = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def problem_of(body: Body) -> str | None:
    """Why the API would refuse a request; None where it would take it."""
    return next(_problems(body), None)


def _problems(body: Body) -> Iterator[str]:
    if unknown := body.keys() - _MEMBERS:
        yield f"Unrecognized request argument supplied: {', '.join(sorted(unknown))}"
    if not {"model", "messages"} <= body.keys():
        yield "you must provide a model and messages parameter"
    if body.get("stream") is not True:
        yield "the desk reads a stream"
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
    if len(limits) != 1 or type(limits[0]) is not int or limits[0] < 1:
        yield "one limit of tokens, a whole number above nothing"
    yield from _in_messages(body["messages"])
    yield from _in_tools(body)


def _in_messages(messages: list[Body]) -> Iterator[str]:
    if not messages or messages[0]["role"] != "system":
        yield "the instructions come first"
    waiting: list[str] = []
    before = ""
    for place, message in enumerate(messages):
        role = message["role"]
        if role not in _BY_ROLE or message.keys() - _BY_ROLE[role]:
            yield f"Additional properties are not allowed in messages.{place}"
        content = message.get("content")
        if not isinstance(content, str) and not (content is None and message.get("tool_calls")):
            yield f"Invalid value for 'content' in messages.{place}: expected a string"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield (
                    "messages with role 'tool' must be a response to a preceding message with"
                    " 'tool_calls'"
                )
            else:
                waiting.remove(message["tool_call_id"])
        elif waiting:
            yield "tool_call_ids did not have response messages"
        if role == before and role in {"user", "assistant"}:
            yield "Conversation roles must alternate"  # the templates of some models
        if role == "system" and place:
            yield "System message must be at the beginning"
        waiting += [call["id"] for call in message.get("tool_calls", ())]
        yield from _in_calls(message.get("tool_calls", ()))
        before = role
    if waiting:
        yield "tool_call_ids did not have response messages"


def _in_calls(calls: Any) -> Iterator[str]:
    for call in calls:
        if call.keys() != {"id", "type", "function"} or call["type"] != "function":
            yield "a call has an id, a type and a function"
        if call["function"].keys() != {"name", "arguments"}:
            yield "a called function has a name and arguments"
        if not isinstance(call["function"]["arguments"], str):
            yield "arguments are a string"


def _in_tools(body: Body) -> Iterator[str]:
    tools = body.get("tools")
    if tools is None:
        if body.keys() & {"tool_choice", "parallel_tool_calls"}:
            yield "'tool_choice' is only allowed when 'tools' are specified"
        return
    if not tools:
        yield "[] is too short - 'tools'"
    names = Counter(tool["function"]["name"] for tool in tools)
    if any(count > 1 or not _NAME.fullmatch(name) for name, count in names.items()):
        yield "names of functions are unique"
    for tool in tools:
        if tool.keys() != {"type", "function"} or tool["type"] != "function":
            yield "a tool has a type and a function"
        if tool["function"].keys() - {"name", "description", "parameters"}:
            yield "a function has unknown members"
        if tool["function"]["parameters"]["type"] != "object":
            yield "a function's parameters are an object"
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, dict):
        if choice.get("type") != "function" or choice["function"]["name"] not in names:
            yield "tool_choice names no tool"
    elif choice not in {"auto", "none", "required"}:
        yield "tool_choice has no such value"
