"""A caller's input for a run and its tool outputs, checked against limits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from aitp_desk.model.conversation.run import RunOptions
from aitp_desk.model.conversation.thread import (
    MAX_THREAD_MESSAGES,
    Draft,
    check_draft,
    check_metadata,
)
from aitp_desk.model.errors import InvalidRequest, RequestTooLarge

MAX_TOOLS = 128
MAX_TOOLS_BYTES = 64 * 1024
MAX_INSTRUCTIONS = 32_000
"""Maximum length of a caller's instructions for one run, in characters."""
MAX_OUTPUT_BYTES = 64 * 1024
"""Maximum size of the output of one call."""
MAX_OUTPUTS_BYTES = 256 * 1024
"""Maximum total size of the outputs submitted at once."""

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST = 2**31


class RunDraft(msgspec.Struct, frozen=True):
    """A run as its caller requests it.

    Parameters:
        agent: the site agent that should answer.
        messages: the caller's messages on the thread before it.
    """

    agent: str
    options: RunOptions = RunOptions()
    metadata: dict[str, str] = {}
    messages: tuple[Draft, ...] = ()


class ToolOutput(msgspec.Struct, frozen=True):
    """The output of a call of the caller's function."""

    call_id: str
    output: str


def check_run_draft(draft: RunDraft) -> RunDraft:
    """Check a run's draft against its limits, including its messages.

    Raises:
        InvalidRequest: the first thing that breaks a limit.
        RequestTooLarge: more instructions, tools or content than one run may carry.
    """
    options = draft.options
    wishes = len(options.instructions) + len(options.additional_instructions)
    if wishes > MAX_INSTRUCTIONS:
        raise RequestTooLarge(
            f"The instructions of a run may have at most {MAX_INSTRUCTIONS} characters, not"
            f" {wishes}.",
            param="instructions",
        )
    _check_tools(options)
    for name in ("max_prompt_tokens", "max_completion_tokens", "last_messages"):
        number = getattr(options, name)
        if number is not None and not 1 <= number < _MOST:
            raise InvalidRequest(f"`{name}` must be at least 1.", param=name)
    for name, most in (("temperature", 2), ("top_p", 1)):
        share = getattr(options, name)
        if share is not None and not 0 <= share <= most:
            raise InvalidRequest(f"`{name}` must be a number from 0 to {most}.", param=name)
    check_metadata(draft.metadata)
    if len(draft.messages) > MAX_THREAD_MESSAGES:
        raise InvalidRequest(
            f"`additional_messages` may have at most {MAX_THREAD_MESSAGES} entries.",
            param="additional_messages",
        )
    for place, message in enumerate(draft.messages):
        check_draft(message, f"additional_messages[{place}].")
    return draft


def check_outputs(outputs: Sequence[ToolOutput]) -> None:
    """Check submitted outputs against their limits.

    Raises:
        InvalidRequest: a call is named twice.
        RequestTooLarge: an output is too long, or all of them are.
    """
    whole = 0
    seen: set[str] = set()
    for place, given in enumerate(outputs):
        if given.call_id in seen:
            raise InvalidRequest(
                f"The call {given.call_id[:80]!r} is named twice.",
                param=f"tool_outputs[{place}].tool_call_id",
            )
        seen.add(given.call_id)
        size = len(given.output.encode())
        whole += size
        if size > MAX_OUTPUT_BYTES:
            raise RequestTooLarge(
                f"An output may have at most {MAX_OUTPUT_BYTES} bytes, not {size}.",
                param=f"tool_outputs[{place}].output",
            )
    if whole > MAX_OUTPUTS_BYTES:
        raise RequestTooLarge(
            f"The outputs may have at most {MAX_OUTPUTS_BYTES} bytes together, not {whole}.",
            param="tool_outputs",
        )


def _check_tools(options: RunOptions) -> None:
    if len(options.tools) > MAX_TOOLS:
        raise InvalidRequest(f"`tools` may have at most {MAX_TOOLS} entries.", param="tools")
    names: set[str] = set()
    for place, tool in enumerate(options.tools):
        param = f"tools[{place}].function.name"
        if not _TOOL_NAME.fullmatch(tool.name):
            raise InvalidRequest(
                "A function's name must have 1 to 64 letters, digits, underscores and dashes.",
                param=param,
            )
        if tool.name in names:
            raise InvalidRequest(f"The function {tool.name!r} is named twice.", param=param)
        names.add(tool.name)
    if len(msgspec.json.encode(options.tools)) > MAX_TOOLS_BYTES:
        raise RequestTooLarge(f"`tools` may have at most {MAX_TOOLS_BYTES} bytes.", param="tools")
    if options.function is not None and options.function not in names:
        raise InvalidRequest(
            "`tool_choice` names a function that is not in `tools`.", param="tool_choice"
        )
