"""Decodes requests for responses.

Source: OpenAI API, Create a model response. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.model.conversation.run_draft import RunDraft, ToolOutput
from aitp_desk.model.conversation.thread import MAX_THREAD_MESSAGES, Draft, check_draft
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp.runs.call_ids import Continuation, read_continuation
from aitp_desk.protocols.aitp.runs.drafts_wire import read_flag, read_run_draft, read_store
from aitp_desk.protocols.aitp.shapes import decode_object, read_list, read_object, read_string
from aitp_desk.protocols.aitp.threads.messages_wire import read_draft

_SITES = frozenset({"web_search", "web_search_preview", "file_search", "code_interpreter"})
"""That API's own tools, which are left aside: the desk searches the site's content in any case."""
_TEXTS = frozenset({"input_text", "output_text", "text"})
_HISTORY = frozenset({"function_call", "reasoning"})
"""Items of earlier responses that say nothing to the agent."""
_BETWEEN = "\n\n"


class ResponseRequest(msgspec.Struct, frozen=True):
    """A request for a response.

    Parameters:
        messages: the new ones; for a new thread with the conversation before them.
        previous: id of the response whose thread goes on; None for none.
        thread_id: id of the thread that goes on; None for none.
        begun: the run that is continued; None for a new one.
        is_kept: whether the thread is kept.
    """

    model: str
    messages: tuple[Draft, ...]
    run: RunDraft
    previous: str | None
    thread_id: str | None
    begun: Continuation | None
    streams: bool
    is_background: bool
    is_kept: bool


def decode_response(body: bytes) -> ResponseRequest:
    """Decode the body of a create-response call. Unknown members are ignored.

    Raises:
        MissingField: there is no ``model``, no ``input``, or a message has no content.
        InvalidRequest: a member has the wrong shape, or asks for what no answer here has; ``param``
            is its path.
    """
    given = decode_object(body)
    model = read_string(given, "model")
    if not model:
        raise MissingField("A response needs a `model`: GET /v1/models lists them.", param="model")
    drafts, wishes, outputs = _read_input(given.get("input"))
    instructions = [text for text in (read_string(given, "instructions"), *wishes) if text]
    text = read_object(given.get("text"), "text")
    if text.get("format") not in (None, {"type": "text"}):
        raise InvalidRequest(
            '`text.format` must be {"type": "text"}: the desk answers in text.',
            param="text.format",
        )
    run = read_run_draft(
        {
            **given,
            "assistant_id": model,
            "instructions": _BETWEEN.join(instructions) or None,
            "additional_instructions": None,
            "tools": _read_tools(given.get("tools")),
            "tool_choice": _read_tool_choice(given.get("tool_choice")),
            "max_completion_tokens": given.get("max_output_tokens"),
            "max_prompt_tokens": None,
            "truncation_strategy": None,
            "response_format": None,
        }
    )
    streams, is_background = read_flag(given, "stream"), read_flag(given, "background")
    if streams and is_background:
        raise InvalidRequest("A response in the background has no `stream`.", param="stream")
    previous, thread_id = read_string(given, "previous_response_id"), _read_thread(given)
    if previous and thread_id:
        raise InvalidRequest(
            "Name `previous_response_id` or `conversation`, not both.", param="conversation"
        )
    is_kept, begun = read_store(given), read_continuation(outputs, "call_id")
    if not is_kept and (is_background or thread_id or (previous and begun is None)):
        raise InvalidRequest(
            "`store` false needs the whole conversation in `input`: leave out `background`,"
            " `conversation` and `previous_response_id`, or keep the response.",
            param="store",
        )
    return ResponseRequest(
        model,
        tuple(drafts[-MAX_THREAD_MESSAGES:]),
        run,
        previous,
        thread_id,
        begun,
        streams,
        is_background,
        is_kept,
    )


def _read_thread(given: dict[str, Any]) -> str | None:
    match given.get("conversation"):
        case None:
            return None
        case str(thread_id) | {"id": str(thread_id)}:
            return thread_id
        case _:
            raise InvalidRequest("`conversation` must be the id of a thread.", param="conversation")


def _read_input(given: Any) -> tuple[list[Draft], list[str], list[tuple[str, ToolOutput]]]:
    """Return the messages, the wishes for the answer, and the outputs of calls."""
    if isinstance(given, str) and given.strip():
        return [read_draft({"content": given}, "input")], [], []
    if isinstance(given, str):
        given = None
    items = read_list(given, "input")
    if not items:
        raise MissingField("A response needs an `input`.", param="input")
    drafts: list[Draft] = []
    wishes: list[str] = []
    outputs: list[tuple[str, ToolOutput]] = []
    for i, one in enumerate(items):
        at = f"input[{i}]"
        item = read_object(one, at)
        match item.get("type", "message"):
            case "message":
                draft = _read_message(item, at)
                if draft.role in ("system", "developer"):
                    wishes += draft.content
                else:
                    drafts.append(draft)
                    outputs.clear()
            case "function_call_output":
                outputs.append((at, _read_output(item, at)))
            case str(kind) if kind in _HISTORY:
                continue
            case _:
                raise InvalidRequest(
                    "`type` must be message, function_call or function_call_output.",
                    param=f"{at}.type",
                )
    if not outputs and not (drafts and drafts[-1].role == "user"):
        raise InvalidRequest(
            "The last message must be the user's, or the output of a call.", param="input"
        )
    return drafts, wishes, outputs


def _read_message(item: dict[str, Any], at: str) -> Draft:
    role = item.get("role")
    if role not in ("user", "assistant", "system", "developer"):
        raise InvalidRequest(
            "`role` must be user, assistant, system or developer.", param=f"{at}.role"
        )
    content = item.get("content")
    if isinstance(content, list):
        content = [_read_part(part, f"{at}.content[{i}]") for i, part in enumerate(content)]
    return check_draft(read_draft({"role": role, "content": content}, at), f"{at}.")


def _read_part(part: Any, at: str) -> str:
    match part:
        case {"type": str(kind), "text": str(text)} if kind in _TEXTS:
            return text
    raise InvalidRequest("A part of a message must be text: the agent reads no other.", param=at)


def _read_output(item: dict[str, Any], at: str) -> ToolOutput:
    call_id, output = item.get("call_id"), item.get("output")
    if not isinstance(call_id, str) or not call_id:
        raise MissingField("An output needs the id of its call.", param=f"{at}.call_id")
    if isinstance(output, list):
        parts = [_read_part(part, f"{at}.output[{i}]") for i, part in enumerate(output)]
        output = _BETWEEN.join(parts)
    if not isinstance(output, str):
        raise InvalidRequest("An output must be a string.", param=f"{at}.output")
    return ToolOutput(call_id, output)


def _read_tools(given: Any) -> Sequence[Any]:
    """Return the functions in the form of runs."""
    tools: list[Any] = []
    for i, one in enumerate(read_list(given, "tools")):
        tool = read_object(one, f"tools[{i}]")
        kind = tool.get("type")
        if isinstance(kind, str) and kind in _SITES:
            continue
        tools.append({"type": kind, "function": tool})
    return tools


def _read_tool_choice(given: Any) -> Any:
    """Return the choice in the form of runs."""
    match given:
        case {"type": "function", "name": str(name)}:
            return {"type": "function", "function": {"name": name}}
        case {"type": str(kind)} if kind in _SITES:
            return "auto"
        case _:
            return given
