"""Decodes requests for chat completions, and writes the responses.

Source: OpenAI API, Create chat completion. A conversation that is sent whole becomes a thread, the
answer a run of it. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from aitp_desk.model.conversation.run import Run, RunState, RunUsage, ToolCall
from aitp_desk.model.conversation.run_draft import RunDraft, ToolOutput
from aitp_desk.model.conversation.thread import (
    MAX_THREAD_MESSAGES,
    Draft,
    Message,
    ThreadDraft,
    check_draft,
)
from aitp_desk.model.errors import (
    DeskError,
    InvalidRequest,
    MissingField,
    Unavailable,
)
from aitp_desk.protocols.aitp.completions import objects
from aitp_desk.protocols.aitp.runs.call_ids import (
    Continuation,
    read_continuation,
    write_call_id,
)
from aitp_desk.protocols.aitp.runs.citations import Citation, find_citations, join_replies
from aitp_desk.protocols.aitp.runs.drafts_wire import read_flag, read_run_draft, read_store
from aitp_desk.protocols.aitp.runs.objects import FunctionCall, TokensCounted, ToolCallShown
from aitp_desk.protocols.aitp.shapes import decode_object, read_list, read_object
from aitp_desk.protocols.aitp.threads.messages_wire import read_draft

_BETWEEN = "\n\n"


class CompletionDraft(msgspec.Struct, frozen=True):
    """A request for a chat completion.

    Parameters:
        model: as the caller names it.
        begun: the run that is continued; None for a new one.
        is_kept: whether the thread is kept.
        counts_tokens: whether the stream ends with the count of tokens.
    """

    model: str
    thread: ThreadDraft
    run: RunDraft
    begun: Continuation | None
    streams: bool
    is_kept: bool
    counts_tokens: bool


def decode_completion(body: bytes) -> CompletionDraft:
    """Decode the body of a create-chat-completion call. Unknown members are ignored.

    Raises:
        MissingField: there is no ``model``, no message, or a message has no content.
        InvalidRequest: a member has the wrong shape, or asks for what no answer here has; ``param``
            is its path.
    """
    given = decode_object(body)
    model = given.get("model")
    if not isinstance(model, str) or not model:
        raise MissingField(
            "A completion needs a `model`: GET /v1/models lists them.", param="model"
        )
    if given.get("n") not in (None, 1):
        raise InvalidRequest("`n` must be 1: there is one answer.", param="n")
    messages = read_list(given.get("messages"), "messages")
    if not messages:
        raise MissingField("A completion needs `messages`.", param="messages")
    thread, instructions, outputs = _read_messages(messages)
    limit = given.get("max_completion_tokens") or given.get("max_tokens")
    run = read_run_draft(
        {
            **given,
            "assistant_id": model,
            "instructions": _BETWEEN.join(instructions) or None,
            "additional_instructions": None,
            "max_completion_tokens": limit,
            "max_prompt_tokens": None,
            "truncation_strategy": None,
            "metadata": None,
        }
    )
    options = read_object(given.get("stream_options"), "stream_options")
    return CompletionDraft(
        model,
        thread,
        run,
        read_continuation(outputs, "tool_call_id"),
        streams=read_flag(given, "stream"),
        is_kept=read_store(given),
        counts_tokens=read_flag(options, "include_usage"),
    )


def _read_messages(
    messages: Sequence[Any],
) -> tuple[ThreadDraft, list[str], list[tuple[str, ToolOutput]]]:
    """Return the thread, the instructions, and the outputs that answer the last message."""
    drafts: list[Draft] = []
    instructions: list[str] = []
    outputs: list[tuple[str, ToolOutput]] = []
    for i, item in enumerate(messages):
        at = f"messages[{i}]"
        message = read_object(item, at)
        match message.get("role"):
            case "system" | "developer":
                instructions += _read_draft(message, "user", at).content
            case "user":
                drafts.append(_read_draft(message, "user", at))
                outputs.clear()
            case "assistant":
                outputs.clear()
                if message.get("content"):
                    drafts.append(_read_draft(message, "assistant", at))
            case "tool":
                text = _BETWEEN.join(_read_content(message, "user", at).content)
                outputs.append((at, ToolOutput(_read_call_id(message, at), text)))
            case _:
                raise InvalidRequest(
                    "`role` must be developer, system, user, assistant or tool.",
                    param=f"{at}.role",
                )
    if not outputs and messages[-1].get("role") != "user":
        raise InvalidRequest(
            "The last message must be the user's, or the output of a call.",
            param=f"messages[{len(messages) - 1}].role",
        )
    return ThreadDraft(tuple(drafts[-MAX_THREAD_MESSAGES:])), instructions, outputs


def _read_draft(message: dict[str, Any], role: str, at: str) -> Draft:
    return check_draft(_read_content(message, role, at), f"{at}.")


def _read_content(message: dict[str, Any], role: str, at: str) -> Draft:
    return read_draft({"role": role, "content": message.get("content")}, at)


def _read_call_id(message: dict[str, Any], at: str) -> str:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise MissingField("An output needs the id of its call.", param=f"{at}.tool_call_id")
    return call_id


def write_completion(run: Run, model: str, replies: Sequence[Message]) -> objects.ChatCompletion:
    """Write the response for a run that is over or waits for its caller.

    Parameters:
        model: as the caller has named it.

    Raises:
        DeskError: the run has no answer.
    """
    check_answered(run)
    text = join_replies(replies)
    calls = [_write_call(run, call) for call in run.owed]
    answer = objects.ChatAnswer(
        text or None if calls else text,
        annotations=list(map(_write_citation, find_citations(replies))),
        tool_calls=calls or UNSET,
    )
    return objects.ChatCompletion(
        id=write_id(run),
        created=run.created_at,
        model=model,
        choices=(objects.ChatChoice(answer, find_finish_reason(run)),),
        usage=write_usage(run),
        metadata={"thread_id": run.thread_id, "run_id": run.id},
    )


def check_answered(run: Run) -> None:
    """Refuse a run that ended without an answer.

    Raises:
        DeskError: what became of it.
    """
    match run.state:
        case RunState.COMPLETED | RunState.INCOMPLETE | RunState.REQUIRES_ACTION:
            return
        case RunState.FAILED:
            raise Unavailable(run.error or "The agent has failed.")
        case RunState.CANCELLED | RunState.CANCELLING | RunState.EXPIRED:
            raise InvalidRequest(f"The answer was {run.state.value}. Ask again.")
        case _:
            raise Unavailable("The answer takes longer. Ask again, with `stream`.")


def describe_failure(run: Run) -> DeskError | None:
    """Return why a run ended without an answer; None if it has one."""
    try:
        check_answered(run)
    except DeskError as error:
        return error
    return None


def find_finish_reason(run: Run) -> objects.FinishReason:
    """Return why the answer ends where it does."""
    if run.owed:
        return "tool_calls"
    return "length" if run.state is RunState.INCOMPLETE else "stop"


def write_id(run: Run) -> str:
    """Return the id of a completion: that of its run."""
    return f"chatcmpl-{run.id}"


def write_usage(run: Run) -> TokensCounted:
    """Return the tokens that models read and wrote; none where no model was used."""
    usage = run.usage or RunUsage()
    return TokensCounted(usage.prompt, usage.completion, usage.total)


def _write_citation(cited: Citation) -> objects.ChatAnnotation:
    """Write a source of the answer."""
    return objects.ChatAnnotation(
        objects.CitedUrl(cited.start_index, cited.end_index, cited.title, cited.url)
    )


def _write_call(run: Run, call: ToolCall) -> ToolCallShown:
    return ToolCallShown(write_call_id(run, call), FunctionCall(call.name, call.arguments))
