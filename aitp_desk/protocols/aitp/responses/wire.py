"""Writes runs as responses.

Source: OpenAI API, The response object. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.conversation.run import Run, RunOptions, RunState, RunUsage, ToolCall
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import ResourceNotFound
from aitp_desk.protocols.aitp.responses import objects
from aitp_desk.protocols.aitp.runs.call_ids import write_call_id
from aitp_desk.protocols.aitp.runs.citations import find_citations, join_replies
from aitp_desk.protocols.aitp.runs.wire import CAPPED

_ID = re.compile(r"resp_([0-9A-Za-z]{1,64})(?:_([0-9]{1,3}))?", re.ASCII)


def write_id(run: Run, continued: int = 0) -> str:
    """Return the id of a response.

    Parameters:
        continued: how often its caller has sent outputs of functions before it.
    """
    tail = run.id.partition("_")[2]
    return f"resp_{tail}_{continued}" if continued else f"resp_{tail}"


def read_id(id_: str, param: str) -> tuple[str, int]:
    """Return the id of a response's run, and how often it was continued.

    Raises:
        ResourceNotFound: it is no id of a response.
    """
    found = _ID.fullmatch(id_)
    if found is None:
        raise ResourceNotFound("There is no response with this id.", param=param)
    return f"run_{found[1]}", int(found[2] or 0)


def write_response(
    run: Run,
    agent: SiteAgent,
    replies: Sequence[Message],
    *,
    continued: int = 0,
    previous: str | None = None,
    is_background: bool = False,
) -> objects.Response:
    """Write a run as a response.

    Parameters:
        replies: its messages, once it is over.
        continued: as of :func:`write_id`.
        previous: id of the response before it; None if the caller has named none.
    """
    options = run.options or RunOptions()
    usage = run.usage or RunUsage()
    output: list[objects.OutputItem] = [write_message(reply) for reply in replies]
    output += [write_call(run, call) for call in run.owed]
    return objects.Response(
        id=write_id(run, continued),
        created_at=run.created_at,
        status=_write_status(run),
        model=options.model or agent.model,
        output=output,
        conversation=objects.ResponseConversation(run.thread_id),
        error=_write_failure(run),
        incomplete_details=(
            objects.ResponseIncomplete() if run.state is RunState.INCOMPLETE else None
        ),
        instructions=options.wishes or None,
        max_output_tokens=options.max_completion_tokens,
        metadata=run.metadata,
        parallel_tool_calls=options.parallel_tool_calls,
        previous_response_id=previous,
        temperature=options.temperature,
        tool_choice=(
            options.tool_choice
            if options.function is None
            else objects.ResponseToolChoice(options.function)
        ),
        tools=[
            objects.ResponseTool(tool.name, tool.description, tool.parameters)
            for tool in options.tools
        ],
        top_p=options.top_p,
        usage=(
            objects.ResponseUsage(
                usage.prompt,
                usage.completion,
                usage.total,
                objects.InputTokens(),
                objects.OutputTokens(),
            )
            if run.is_over or run.owed
            else None
        ),
        completed_at=run.ended_at if run.state is RunState.COMPLETED else None,
        background=is_background,
    )


def write_message(message: Message) -> objects.OutputMessage:
    """Write a reply; its parts are one text, since clients join them without a space."""
    cited = [
        objects.UrlCitation(one.start_index, one.end_index, one.title, one.url)
        for one in find_citations((message,))
    ]
    text = objects.OutputText(join_replies((message,)), cited)
    return objects.OutputMessage(message.id, "completed", (text,))


def write_input(message: Message) -> objects.InputMessage | objects.OutputMessage:
    """Write a message that came with the request of a response."""
    if message.role == "assistant":
        return write_message(message)
    parts = [objects.InputText(one) for one in message.content]
    return objects.InputMessage(message.id, message.role, parts)


def write_call(run: Run, call: ToolCall) -> objects.OutputCall:
    """Write a call of a function of the caller's."""
    return objects.OutputCall(f"fc_{call.id}", write_call_id(run, call), call.name, call.arguments)


def _write_status(run: Run) -> objects.Status:
    match run.state:
        case RunState.QUEUED:
            return "queued"
        case RunState.IN_PROGRESS:
            return "in_progress"
        case RunState.REQUIRES_ACTION | RunState.COMPLETED:
            return "completed"
        case RunState.INCOMPLETE:
            return "incomplete"
        case RunState.CANCELLING | RunState.CANCELLED:
            return "cancelled"
        case RunState.FAILED | RunState.EXPIRED | RunState.CAPPED:
            return "failed"


def _write_failure(run: Run) -> objects.ResponseFailure | None:
    match run.state:
        case RunState.FAILED:
            return objects.ResponseFailure("server_error", run.error or "The agent has failed.")
        case RunState.EXPIRED:
            return objects.ResponseFailure("server_error", "The outputs came too late.")
        case RunState.CAPPED:
            return objects.ResponseFailure("rate_limit_exceeded", CAPPED)
        case _:
            return None
