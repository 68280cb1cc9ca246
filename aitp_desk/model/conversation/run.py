"""Runs: the site agent's work on a thread, what a caller may ask of one, and the moves it may make.

A run starts by itself when a visitor has spoken, or is started by a caller who drives it (OpenAI
Runs API). Only the latter has :class:`RunOptions`, and only it may stop for the caller's own tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal

import msgspec


class RunState(Enum):
    """Where a run stands; the names are those of the OpenAI Runs API, and ``capped``.

    ``capped`` is a run that was never started because the thread has had its hourly share of
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
        # whatever is not over fails with its thread, when that is deleted
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
        # whatever its worker still had to say is not said
        RunState.CANCELLING: frozenset({RunState.CANCELLED}),
        RunState.CANCELLED: frozenset(),
        RunState.COMPLETED: frozenset(),
        RunState.FAILED: frozenset(),
        RunState.INCOMPLETE: frozenset(),
        RunState.EXPIRED: frozenset(),
        RunState.CAPPED: frozenset(),
    }
)
"""The legal moves; everything else is a fault of the program."""


class FunctionTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function that a caller can carry out, and that the agent may ask for.

    Parameters:
        name: ``[A-Za-z0-9_-]{1,64}``.
        description: what it does, in the caller's words.
        parameters: JSON Schema of its arguments.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}


class RunOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a caller asks of a run that it starts. All of it is kept and shown again.

    Parameters:
        model: the model that the caller would like; the desk decides.
        instructions, additional_instructions: how the caller would like to be answered. To the
            agent they are the caller's words, and bind it to nothing.
        tools: the caller's own functions.
        tool_choice: with ``none`` the agent is given no tools at all; with ``required`` one of the
            caller's is called before anything is answered.
        function: the function that is called before anything is answered.
        parallel_tool_calls: whether the caller takes several calls at once.
        max_prompt_tokens, max_completion_tokens: what a model may read and write, in all.
        last_messages: of the thread, only so many are read.
        response_format: ``text`` where the caller said so.
        temperature, top_p: kept, and shown again.
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
        """The functions that the agent may ask for."""
        return () if self.tool_choice == "none" else self.tools

    @property
    def called_first(self) -> tuple[str, ...]:
        """Of which functions one is called before anything is answered; none for any or none."""
        if self.function is not None:
            return (self.function,)
        return tuple(tool.name for tool in self.tools) if self.tool_choice == "required" else ()

    @property
    def wishes(self) -> str:
        """How the caller would like to be answered, in one text."""
        return "\n\n".join(filter(None, (self.instructions, self.additional_instructions)))


class RunUsage(msgspec.Struct, frozen=True):
    """What models counted in a run, in tokens read and written."""

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
        state: where it stands.
        created_at: Unix seconds, as all its times.
        attempts: how often a worker has taken it up.
        error: for a failed run, what a caller may read; for an incomplete one the limit that it
            met, ``max_prompt_tokens`` or ``max_completion_tokens``.
        agent: id of the site's agent that was asked for; None for a run that started by itself.
        options: what its caller asks of it; None for a run that started by itself.
        usage: what models counted; None where none was asked.
        started_at: when it was first taken up.
        ended_at: when it was over.
        expires_at: until when it waits for its caller.
        owed: what it waits for.
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
        """Whether the run can move no more."""
        return not MOVES[self.state]

    def at(self, now: int) -> Run:
        """The run as it stands at a moment: one that has waited past its time has expired.

        The store writes that down somewhat later.
        """
        if self.expires_at is None or now < self.expires_at:
            return self
        return msgspec.structs.replace(
            self, state=RunState.EXPIRED, ended_at=self.expires_at, expires_at=None, owed=()
        )
