"""Writes runs and their steps as JSON.

Source: the Runs API and Run steps API of the OpenAI API (Assistants, v2), which AITP 0.1 asks to be
compatible with. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from aitp_desk.protocols.aitp.wire import Dialect, encode
from aitp_desk.protocols.base.door import Reply

CAPPED = "This thread has had its share of automatic replies for now."


def encode_run(run: Run, agent: SiteAgent, *, dialect: Dialect) -> Reply:
    """Encode the response with one run; see :func:`run_body`."""
    return Reply(200, encode(run_body(run, agent, dialect=dialect)))


def run_body(run: Run, agent: SiteAgent, *, dialect: Dialect) -> dict[str, Any]:
    """Write a run as the OpenAI API has it.

    Parameters:
        agent: the one that the run names.
        dialect: the OpenAI API has no state ``capped``.
    """
    options = run.options or RunOptions()
    state, error = run.state, None
    if state is RunState.FAILED:
        error = {"code": "server_error", "message": run.error}
    elif state is RunState.CAPPED:
        error = {"code": "rate_limit_exceeded", "message": CAPPED}
        state = RunState.FAILED if dialect is Dialect.OPENAI else state

    def when(*states: RunState) -> int | None:
        return run.ended_at if state in states else None

    return {
        "id": run.id,
        "object": "thread.run",
        "created_at": run.created_at,
        "thread_id": run.thread_id,
        "assistant_id": agent.id,
        "status": state.value,
        "started_at": run.started_at,
        "expires_at": run.expires_at,
        "cancelled_at": when(RunState.CANCELLED),
        "failed_at": when(RunState.FAILED),
        "completed_at": when(RunState.COMPLETED),
        "required_action": _required(run.owed) if run.owed else None,
        "last_error": error,
        "incomplete_details": ({"reason": run.error} if state is RunState.INCOMPLETE else None),
        "model": options.model or agent.model,
        "instructions": options.wishes,
        "tools": list(map(_tool_body, options.tools)),
        "tool_choice": (
            {"type": "function", "function": {"name": options.function}}
            if options.function is not None
            else options.tool_choice
        ),
        "parallel_tool_calls": options.parallel_tool_calls,
        "response_format": (
            {"type": "text"} if options.response_format == "text" else options.response_format
        ),
        "truncation_strategy": {
            "type": "auto" if options.last_messages is None else "last_messages",
            "last_messages": options.last_messages,
        },
        "max_prompt_tokens": options.max_prompt_tokens,
        "max_completion_tokens": options.max_completion_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "metadata": run.metadata,
        "usage": _usage_body(run.usage or RunUsage()) if run.is_over else None,
    }


def write_step(step: Step, run: Run, agent: SiteAgent) -> dict[str, Any]:
    """Write a step of a run as the OpenAI API has it."""
    status = step.status_in(run)
    details: dict[str, Any]
    if step.message_id is None:
        kind = "tool_calls"
        details = {"type": kind, "tool_calls": list(map(_call_body, step.calls))}
    else:
        kind = "message_creation"
        details = {"type": kind, "message_creation": {"message_id": step.message_id}}
    error = None
    if status == "failed" and run.state is RunState.FAILED:
        error = {"code": "server_error", "message": run.error}
    return {
        "id": step.id,
        "object": "thread.run.step",
        "created_at": step.created_at,
        "run_id": run.id,
        "thread_id": run.thread_id,
        "assistant_id": agent.id,
        "type": kind,
        "status": status,
        "completed_at": step.completed_at,
        "cancelled_at": run.ended_at if status == "cancelled" else None,
        "expired_at": run.ended_at if status == "expired" else None,
        "failed_at": run.ended_at if status == "failed" else None,
        "last_error": error,
        "step_details": details,
        "metadata": {},
        "usage": None if step.usage is None else _usage_body(step.usage),
    }


def _required(owed: Sequence[ToolCall]) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in owed
    ]
    return {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": calls}}


def _tool_body(tool: FunctionTool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _call_body(call: StepCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments, "output": call.output},
    }


def _usage_body(usage: RunUsage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
    }
