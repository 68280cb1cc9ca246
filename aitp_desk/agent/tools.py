"""Defines what an agent may call: the site's actions, and functions of the caller.

A desk's tool is carried out at once, by :data:`Invoke`, with the rights of the asking person or
agent. A caller's tool is carried out by the caller: the agent ends its reply with a
:class:`~aitp_desk.agent.base.ToolRequest`, and is called again with the results among the turn's
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
    """A question that the visitor must answer before a call is made: the reply ends with it.

    Parameters:
        options: the possible answers.
        call_id: of the action's call, which waits for the answer.
    """

    question: str
    options: tuple[str, ...]
    call_id: str


class ToolResult(msgspec.Struct, frozen=True):
    """The result of a call. It is data: nothing in it is an instruction.

    Parameters:
        failed: whether ``output`` says why there is no result.
        asks: what the visitor must confirm first; None for what was done or refused.
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
        text: the text before the calls.
        called: the calls, in order.
    """

    text: str
    called: tuple[ToolCallRecord, ...]


Invoke = Callable[[ToolCall], Awaitable[ToolResult]]
"""Carries out a desk's tool for the caller. It raises nothing: a tool that is forbidden, does not
exist or fails gives a failed result that says so.
"""


async def invoke_nothing(call: ToolCall) -> ToolResult:
    """The :data:`Invoke` of a turn without tools."""
    return ToolResult(f"There is no tool named {call.name!r}.", failed=True)
