"""Writes runs and their steps as JSON.

Source: the Runs API and Run steps API of the OpenAI API (Assistants, v2), which AITP 0.1 asks to be
compatible with. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from aitp_desk.desk.access.site_agents import SiteAgent
from aitp_desk.model.conversation.run import (
    FunctionTool,
    Run,
    RunOptions,
    RunState,
    RunUsage,
    ToolCall,
)
from aitp_desk.model.conversation.run_step import Step, StepCall
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.protocols.aitp.runs import objects
from aitp_desk.protocols.aitp.threads.objects import RunFailure
from aitp_desk.protocols.aitp.wire import Dialect, encode
from aitp_desk.protocols.base.protocol import Reply

CAPPED = "This thread has reached its limit of automatic replies for now."


def encode_run(run: Run, agent: SiteAgent, *, dialect: Dialect) -> Reply:
    """Encode the response with one run; see :func:`write_run`."""
    return Reply(200, encode(write_run(run, agent, dialect=dialect)))


def write_run(run: Run, agent: SiteAgent, *, dialect: Dialect) -> objects.Run:
    """Write a run as the OpenAI API has it.

    Parameters:
        agent: the one that the run names.
        dialect: the OpenAI API has no state ``capped``.
    """
    options = run.options or RunOptions()
    state, error = run.state, None
    if state is RunState.FAILED:
        error = RunFailure(FailureCode.SERVER_ERROR.value, run.error)
    elif state is RunState.CAPPED:
        error = RunFailure(FailureCode.RATE_LIMIT_EXCEEDED.value, CAPPED)
        state = RunState.FAILED if dialect is Dialect.OPENAI else state

    def when(*states: RunState) -> int | None:
        return run.ended_at if state in states else None

    return objects.Run(
        id=run.id,
        created_at=run.created_at,
        thread_id=run.thread_id,
        assistant_id=agent.id,
        status=state,
        started_at=run.started_at,
        expires_at=run.expires_at,
        cancelled_at=when(RunState.CANCELLED),
        failed_at=when(RunState.FAILED),
        completed_at=when(RunState.COMPLETED),
        required_action=_write_required(run.owed) if run.owed else None,
        last_error=error,
        incomplete_details=(
            objects.Incomplete(run.error) if state is RunState.INCOMPLETE else None
        ),
        model=options.model or agent.model,
        instructions=options.wishes,
        tools=list(map(_write_tool, options.tools)),
        tool_choice=(
            options.tool_choice
            if options.function is None
            else objects.ToolChoice(objects.NamedFunction(options.function))
        ),
        parallel_tool_calls=options.parallel_tool_calls,
        response_format=(
            objects.ResponseFormat()
            if options.response_format == "text"
            else options.response_format
        ),
        truncation_strategy=objects.Truncation(
            "auto" if options.last_messages is None else "last_messages", options.last_messages
        ),
        max_prompt_tokens=options.max_prompt_tokens,
        max_completion_tokens=options.max_completion_tokens,
        temperature=options.temperature,
        top_p=options.top_p,
        metadata=run.metadata,
        usage=_write_usage(run.usage or RunUsage()) if run.is_over else None,
    )


def write_step(step: Step, run: Run, agent: SiteAgent) -> objects.RunStep:
    """Write a step of a run as the OpenAI API has it."""
    status = step.status_in(run)
    return objects.RunStep(
        id=step.id,
        created_at=step.created_at,
        run_id=run.id,
        thread_id=run.thread_id,
        assistant_id=agent.id,
        type="tool_calls" if step.message_id is None else "message_creation",
        status=status,
        completed_at=step.completed_at,
        cancelled_at=run.ended_at if status == "cancelled" else None,
        expired_at=run.ended_at if status == "expired" else None,
        failed_at=run.ended_at if status == "failed" else None,
        last_error=(
            RunFailure(FailureCode.SERVER_ERROR.value, run.error)
            if status == "failed" and run.state is RunState.FAILED
            else None
        ),
        step_details=(
            objects.ToolCalls([_write_call(call, call.output) for call in step.calls])
            if step.message_id is None
            else objects.MessageCreation(objects.MessageNamed(step.message_id))
        ),
        metadata={},
        usage=None if step.usage is None else _write_usage(step.usage),
    )


def _write_required(owed: Sequence[ToolCall]) -> objects.RequiredAction:
    return objects.RequiredAction(objects.OwedCalls([_write_call(call, UNSET) for call in owed]))


def _write_tool(tool: FunctionTool) -> objects.ToolDeclared:
    function = objects.FunctionDeclared(tool.name, tool.description, tool.parameters)
    return objects.ToolDeclared("function", function)


def _write_call(call: ToolCall | StepCall, output: str | UnsetType | None) -> objects.ToolCallShown:
    return objects.ToolCallShown(call.id, objects.FunctionCall(call.name, call.arguments, output))


def _write_usage(usage: RunUsage) -> objects.TokensCounted:
    return objects.TokensCounted(usage.prompt, usage.completion, usage.total)
