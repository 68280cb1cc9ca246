"""Calling the site's actions for somebody: the one place that decides who may, and carries it out.

An agent never holds an action. It is given the tools that the person or agent who asks may use, and
a callable that asks here again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import structlog

from aitp_desk.agent.tools import Invoke, Tool, ToolResult
from aitp_desk.model.action import Action, may_invoke
from aitp_desk.model.errors import DeskError
from aitp_desk.model.principal import Principal
from aitp_desk.model.run import ToolCall

DEADLINE_SECONDS = 30.0
"""How long an action may take."""
MAX_RESULT = 16_000
"""How much of a result an agent is given, in characters."""

Perform = Callable[[Principal, Mapping[str, Any]], Awaitable[str]]
"""Carries an action out: who asks, the arguments; returns its result as text."""

_log = structlog.get_logger()


class Performed(msgspec.Struct, frozen=True):
    """An action with what carries it out."""

    action: Action
    perform: Perform


class Invoking:
    """Calls actions within what a caller may do.

    Parameters:
        actions: those that an agent may call as tools.
    """

    def __init__(self, actions: Sequence[Performed]) -> None:
        self._actions = {performed.action.name: performed for performed in actions}
        self._tools = [(one.action, _tool(one.action)) for one in self._actions.values()]

    def tools(self, principal: Principal) -> tuple[Tool, ...]:
        """What an agent may call while it answers this caller."""
        return tuple([tool for action, tool in self._tools if may_invoke(principal, action)])

    def invoker(self, principal: Principal) -> Invoke:
        """The callable that calls actions as this caller, and as nobody else."""
        return partial(self.invoke, principal)

    async def invoke(self, principal: Principal, call: ToolCall) -> ToolResult:
        """Call an action. It raises nothing: a result that failed says why.

        An action that exists and is not the caller's to call is answered like one that does not.
        """
        performed = self._actions.get(call.name)
        if performed is None or not may_invoke(principal, performed.action):
            return ToolResult(f"There is no action named {call.name[:64]!r}.", failed=True)
        try:
            arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
        except msgspec.DecodeError:
            return ToolResult("The arguments are not a JSON object.", failed=True)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                result = await performed.perform(principal, arguments)
        except TimeoutError:
            return ToolResult("The action took too long.", failed=True)
        except DeskError as error:
            return ToolResult(error.message, failed=True)
        except Exception:  # noqa: BLE001 -- whatever an action does, the reply goes on
            _log.exception("fault", action=call.name)
            return ToolResult("The action failed.", failed=True)
        return ToolResult(result[:MAX_RESULT])


def _tool(action: Action) -> Tool:
    return Tool(action.name, action.summary, action.input_schema)
