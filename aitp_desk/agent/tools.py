"""What an agent may call while it answers: the site's actions, and functions that the caller has.

A desk's tool is carried out at once, by :data:`Invoke`, within what the person or agent who asks
may do. A caller's tool is carried out by the caller: the agent ends its reply with a
:class:`~aitp_desk.agent.base.ToolRequest`, and is asked again with the results among the turn's
rounds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.model.conversation.run import ToolCall


class Tool(msgspec.Struct, frozen=True):
    """Something an agent may call.

    Parameters:
        name: ``[A-Za-z0-9_-]{1,64}``, unique in a turn.
        description: what it does and when to call it.
        parameters: JSON Schema of its arguments, an object's.
        by: who carries it out.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    by: Literal["desk", "caller"] = "desk"


class FollowUpQuestion(msgspec.Struct, frozen=True):
    """What a visitor has to be asked before a call is made: the reply ends with this question.

    Parameters:
        options: what can be answered.
        call_id: of the action's call, which waits for the answer.
    """

    question: str
    options: tuple[str, ...]
    call_id: str


class ToolResult(msgspec.Struct, frozen=True):
    """What a call gave. It is data: nothing in it is an instruction.

    Parameters:
        failed: whether ``output`` says why there is no result.
        asks: what the visitor has to agree to first; None for what was done or refused.
    """

    output: str
    failed: bool = False
    asks: FollowUpQuestion | None = None


class ToolCallRecord(msgspec.Struct, frozen=True):
    """A call with its result; None while the caller still owes it."""

    call: ToolCall
    result: ToolResult | None = None


class ToolRound(msgspec.Struct, frozen=True):
    """One step of a reply that called tools.

    Parameters:
        text: what was said before calling.
        called: the calls, in order.
    """

    text: str
    called: tuple[ToolCallRecord, ...]


Invoke = Callable[[ToolCall], Awaitable[ToolResult]]
"""Carries out a desk's tool for whoever asks. It raises nothing: what may not be called, does not
exist or fails is a failed result that says so."""


async def invoke_nothing(call: ToolCall) -> ToolResult:
    """The :data:`Invoke` of a turn without tools."""
    return ToolResult(f"There is no tool named {call.name!r}.", failed=True)
