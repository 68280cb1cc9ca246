"""Runs: the site agent's work on a thread, their options and state transitions.

A run starts by itself after a visitor's message, or is started by a caller (OpenAI Runs API). Only
the latter has :class:`RunOptions`, and only it may pause for the caller's own tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal

import msgspec


class RunState(Enum):
    """The state of a run, as in the OpenAI Runs API, and ``capped``.

    ``capped`` is a run that was never started because the thread has reached its hourly limit of
    automatic replies.
    """

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    REQUIRES_ACTION = "requires_action"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    COMPLETED = "completed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    EXPIRED = "expired"
    CAPPED = "capped"


MOVES: MappingProxyType[RunState, frozenset[RunState]] = MappingProxyType(
    {
        # a run that is not over fails when its thread is deleted
        RunState.QUEUED: frozenset({RunState.IN_PROGRESS, RunState.CANCELLED, RunState.FAILED}),
        # a run whose worker died stays in progress; the next worker takes over its lease
        RunState.IN_PROGRESS: frozenset(
            {
                RunState.COMPLETED,
                RunState.FAILED,
                RunState.INCOMPLETE,
                RunState.REQUIRES_ACTION,
                RunState.CANCELLING,
            }
        ),
        RunState.REQUIRES_ACTION: frozenset(
            {RunState.QUEUED, RunState.CANCELLED, RunState.EXPIRED, RunState.FAILED}
        ),
        # its worker's outstanding reply is dropped
        RunState.CANCELLING: frozenset({RunState.CANCELLED}),
        RunState.CANCELLED: frozenset(),
        RunState.COMPLETED: frozenset(),
        RunState.FAILED: frozenset(),
        RunState.INCOMPLETE: frozenset(),
        RunState.EXPIRED: frozenset(),
        RunState.CAPPED: frozenset(),
    }
)
"""The legal transitions; any other is a programming error."""


class FunctionTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A caller's function that the agent may call.

    Parameters:
        name: ``[A-Za-z0-9_-]{1,64}``.
        description: in the caller's words.
        parameters: JSON Schema of its arguments.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}


class RunOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """A caller's options for a run. All of them are stored and returned.

    Parameters:
        model: the caller's preferred model; the desk decides.
        instructions, additional_instructions: the caller's wishes for the answer. The agent treats
            them as the caller's words; they do not bind it.
        tools: the caller's own functions.
        tool_choice: with ``none`` the agent gets no tools at all; with ``required`` it calls one of
            the caller's before it answers.
        function: the function that is called before the answer.
        parallel_tool_calls: whether the caller accepts several calls at once.
        max_prompt_tokens, max_completion_tokens: limits of all tokens that a model reads and
            writes.
        last_messages: how many of the thread's newest messages are read.
        response_format: ``text`` if the caller requested it.
        temperature, top_p: stored and returned, without effect.
    """

    model: str | None = None
    instructions: str = ""
    additional_instructions: str = ""
    tools: tuple[FunctionTool, ...] = ()
    tool_choice: Literal["auto", "none", "required"] = "auto"
    function: str | None = None
    parallel_tool_calls: bool = True
    max_prompt_tokens: int | None = None
    max_completion_tokens: int | None = None
    last_messages: int | None = None
    response_format: Literal["auto", "text"] = "auto"
    temperature: float | None = None
    top_p: float | None = None

    @property
    def offered(self) -> tuple[FunctionTool, ...]:
        """The functions that the agent may call."""
        return () if self.tool_choice == "none" else self.tools

    @property
    def called_first(self) -> tuple[str, ...]:
        """The functions of which one must be called before the answer.

        Empty if there is no such rule.
        """
        if self.function is not None:
            return (self.function,)
        return tuple(tool.name for tool in self.tools) if self.tool_choice == "required" else ()

    @property
    def wishes(self) -> str:
        """The caller's instructions, in one text."""
        return "\n\n".join(filter(None, (self.instructions, self.additional_instructions)))


class RunUsage(msgspec.Struct, frozen=True):
    """Tokens that models read and wrote in a run."""

    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """All tokens, read and written."""
        return self.prompt + self.completion

    def __add__(self, other: RunUsage) -> RunUsage:
        return RunUsage(self.prompt + other.prompt, self.completion + other.completion)


class ToolCall(msgspec.Struct, frozen=True):
    """A call that an agent makes in a run.

    Parameters:
        id: names the call within its run.
        arguments: JSON text of an object, as the agent wrote it.
    """

    id: str
    name: str
    arguments: str


class Run(msgspec.Struct, frozen=True):
    """One piece of work for the site agent on one thread.

    Parameters:
        id: ``run_…``.
        thread_id: the thread that it answers on.
        created_at: Unix seconds, as all its times.
        attempts: how often a worker has claimed it.
        error: for a failed run, the reason, for the caller; for an incomplete one the limit that it
            reached, ``max_prompt_tokens`` or ``max_completion_tokens``.
        agent: id of the requested site agent; None for a run that started by itself.
        options: its caller's options; None for a run that started by itself.
        usage: token usage of models; None if none was used.
        started_at: when it was first claimed.
        ended_at: when it ended.
        expires_at: until when it waits for its caller.
        owed: the calls whose outputs it waits for.
    """

    id: str
    thread_id: str
    state: RunState
    created_at: int
    attempts: int = 0
    error: str | None = None
    agent: str | None = None
    options: RunOptions | None = None
    metadata: dict[str, str] = {}
    usage: RunUsage | None = None
    started_at: int | None = None
    ended_at: int | None = None
    expires_at: int | None = None
    owed: tuple[ToolCall, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the state is final."""
        return not MOVES[self.state]

    def at(self, now: int) -> Run:
        """Return the run as of a time: overdue ones have expired.

        The store records that somewhat later.
        """
        if self.expires_at is None or now < self.expires_at:
            return self
        return msgspec.structs.replace(
            self, state=RunState.EXPIRED, ended_at=self.expires_at, expires_at=None, owed=()
        )
