"""Decodes requests about runs: start, update, submit tool outputs.

Source: the Runs API of the OpenAI API (Assistants, v2). Pure: no I/O, no clock.
"""

from __future__ import annotations

from typing import Any, Literal

from aitp_desk.model.conversation.run import FunctionTool, RunOptions
from aitp_desk.model.conversation.run_draft import RunDraft, ToolOutput
from aitp_desk.model.conversation.thread import Draft, ThreadDraft
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp.shapes import (
    decode_object,
    read_list,
    read_object,
    read_string,
    read_strings,
)
from aitp_desk.protocols.aitp.threads.messages_wire import read_draft
from aitp_desk.protocols.aitp.threads.wire import read_thread_draft

IGNORED_MEMBERS = frozenset({"file_search", "code_interpreter"})
"""The OpenAI API's built-in tools, which are accepted and ignored.

The desk searches the site's content in any case, and runs no code.
"""


def decode_run(body: bytes) -> RunDraft:
    """Decode the body of a create-run call. Unknown members are ignored.

    Raises:
        MissingField: there is no ``assistant_id``.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = decode_object(body)
    messages = read_list(given.get("additional_messages"), "additional_messages")
    return read_run_draft(
        given, tuple(read_draft(m, f"additional_messages[{i}]") for i, m in enumerate(messages))
    )


def decode_thread_and_run(body: bytes) -> tuple[ThreadDraft, RunDraft]:
    """Decode the body of a create-thread-and-run call.

    Raises:
        MissingField, InvalidRequest: as :func:`decode_run`.
    """
    given = decode_object(body)
    return read_thread_draft(read_object(given.get("thread"), "thread")), read_run_draft(given, ())


def decode_run_update(body: bytes) -> dict[str, str] | None:
    """Decode the body of a POST to a run: None retrieves, metadata updates.

    Raises:
        InvalidRequest: the body or its metadata has the wrong shape.
    """
    metadata = decode_object(body).get("metadata")
    return None if metadata is None else read_strings(read_object(metadata, "metadata"), "metadata")


def decode_outputs(body: bytes) -> tuple[ToolOutput, ...]:
    """Decode the body of a submit-tool-outputs call.

    Raises:
        InvalidRequest, MissingField: a member is absent or has the wrong shape.
    """
    given = decode_object(body)
    outputs: list[ToolOutput] = []
    for i, item in enumerate(read_list(given.get("tool_outputs"), "tool_outputs")):
        at = f"tool_outputs[{i}]"
        output = read_object(item, at)
        call_id, text = output.get("tool_call_id"), output.get("output", "")
        if not isinstance(call_id, str) or not call_id:
            raise MissingField("An output needs the id of its call.", param=f"{at}.tool_call_id")
        if not isinstance(text, str):
            raise InvalidRequest("An output must be a string.", param=f"{at}.output")
        outputs.append(ToolOutput(call_id, text))
    return tuple(outputs)


def decode_stream(body: bytes) -> bool:
    """Return whether the body of a call that queues a run requests a stream.

    Raises:
        InvalidRequest: ``stream`` is neither true nor false.
    """
    return read_flag(decode_object(body), "stream")


def read_store(given: dict[str, Any]) -> bool:
    """Return whether the thread is kept, which is so unless ``store`` is false.

    Raises:
        InvalidRequest: ``store`` is not true or false.
    """
    return given.get("store") is None or read_flag(given, "store")


def read_flag(given: dict[str, Any], name: str) -> bool:
    """Return a member that is true or false; absent and null are false.

    Raises:
        InvalidRequest: it is something else.
    """
    match given.get(name):
        case None | False:
            return False
        case True:
            return True
        case _:
            raise InvalidRequest(f"`{name}` must be true or false.", param=name)


def read_run_draft(given: dict[str, Any], messages: tuple[Draft, ...] = ()) -> RunDraft:
    """Return a run as its caller requests it; see :func:`decode_run`."""
    agent = given.get("assistant_id")
    if not isinstance(agent, str) or not agent:
        raise MissingField("A run needs an `assistant_id`.", param="assistant_id")
    tool_choice, function = _tool_choice(given.get("tool_choice"))
    parallel = given.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise InvalidRequest(
            "`parallel_tool_calls` must be true or false.", param="parallel_tool_calls"
        )
    options = RunOptions(
        model=read_string(given, "model"),
        instructions=read_string(given, "instructions") or "",
        additional_instructions=read_string(given, "additional_instructions") or "",
        tools=_tools(given),
        tool_choice=tool_choice,
        function=function,
        parallel_tool_calls=parallel is not False,
        max_prompt_tokens=_whole(given, "max_prompt_tokens"),
        max_completion_tokens=_whole(given, "max_completion_tokens"),
        last_messages=_last_messages(given.get("truncation_strategy")),
        response_format=_response_format(given.get("response_format")),
        temperature=_number(given, "temperature"),
        top_p=_number(given, "top_p"),
    )
    metadata = read_strings(read_object(given.get("metadata"), "metadata"), "metadata")
    return RunDraft(agent, options, metadata, messages)


def _whole(given: dict[str, Any], name: str, at: str | None = None) -> int | None:
    value = given.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidRequest(f"`{name}` must be a whole number.", param=at or name)
    return value


def _number(given: dict[str, Any], name: str) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidRequest(f"`{name}` must be a number.", param=name)
    return float(value)


def _tools(given: dict[str, Any]) -> tuple[FunctionTool, ...]:
    tools: list[FunctionTool] = []
    for i, item in enumerate(read_list(given.get("tools"), "tools")):
        at = f"tools[{i}]"
        tool = read_object(item, at)
        kind = tool.get("type")
        if isinstance(kind, str) and kind in IGNORED_MEMBERS:
            continue
        if kind != "function":
            raise InvalidRequest(
                "A tool's type must be function; file_search and code_interpreter are ignored.",
                param=f"{at}.type",
            )
        function = read_object(tool.get("function"), f"{at}.function")
        name, description = function.get("name"), function.get("description")
        if not isinstance(name, str):
            raise MissingField("A function needs a name.", param=f"{at}.function.name")
        if description is not None and not isinstance(description, str):
            raise InvalidRequest(
                "A function's description must be a string.", param=f"{at}.function.description"
            )
        parameters = read_object(function.get("parameters"), f"{at}.function.parameters")
        tools.append(FunctionTool(name, description or "", parameters))
    return tuple(tools)


def _tool_choice(given: Any) -> tuple[Literal["auto", "none", "required"], str | None]:
    match given:
        case None | "auto":
            return "auto", None
        case "none":
            return "none", None
        case "required":
            return "required", None
        case {"type": "function", "function": {"name": str(name)}}:
            return "auto", name
        case {"type": str(kind)} if kind in IGNORED_MEMBERS:
            return "auto", None
        case _:
            raise InvalidRequest(
                '`tool_choice` must be auto, none, required or a function: {"type": "function",'
                ' "function": {"name": "…"}}.',
                param="tool_choice",
            )


def _last_messages(given: Any) -> int | None:
    strategy = read_object(given, "truncation_strategy")
    kind = strategy.get("type", "auto")
    if kind == "auto":
        return None
    number = _whole(strategy, "last_messages", "truncation_strategy.last_messages")
    if kind == "last_messages" and number is not None:
        return number
    raise InvalidRequest(
        "`truncation_strategy` must be auto, or last_messages with their number.",
        param="truncation_strategy",
    )


def _response_format(given: Any) -> Literal["auto", "text"]:
    match given:
        case None | "auto":
            return "auto"
        case {"type": "text"}:
            return "text"
        case _:
            raise InvalidRequest(
                '`response_format` must be auto or {"type": "text"}, because the desk'
                " answers in text.",
                param="response_format",
            )
