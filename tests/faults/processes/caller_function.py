"""A desk whose agent asks its caller for a function's result: `aitp-desk`, but for that."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any
from unittest.mock import patch

from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.cli import main
from aitp_desk.config import Config
from aitp_desk.model.conversation.run import ToolCall
from tests.support.doubles.agent import ScriptedAgent


async def ask_for_stock(turn: Turn) -> Outcome:
    """Ask the caller once, then say what it said."""
    if not turn.rounds:
        return ToolRequest((ToolRound("", (ToolCallRecord(ToolCall("call_1", "stock", "{}")),)),))
    result = turn.rounds[0].called[0].result
    return Answer(f"There are {result.output if result else 'none'}.")


def open_asking(config: Config, **given: Any) -> AbstractAsyncContextManager[RunningServer]:
    """A desk that answers by :func:`ask_for_stock`."""
    return open_server(config, **{**given, "agent": ScriptedAgent(ask_for_stock)})


if __name__ == "__main__":
    with patch("aitp_desk.app.process.open_server", open_asking):
        main()
