"""A desk whose agent stops within an answer until a file is there: `aitp-desk`, but for that."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aitp_desk.agent.base import Answer, Delta, Event, Turn
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.cli import main
from aitp_desk.config import Config

GO_ON = "HALTING_ANSWER_GOES_ON"
"""The environment variable that names the file."""
BEGINNING, END = "You have thirty", " days."
LOOKS_EVERY = 0.02


def wait_for_file() -> None:
    """Wait until the agent may go on."""
    while not Path(os.environ[GO_ON]).exists():
        time.sleep(LOOKS_EVERY)


class HaltingAgent:
    """An agent that says the beginning of its answer, and the rest when it may."""

    name = "halting"

    async def reply(self, _turn: Turn) -> AsyncIterator[Event]:
        """Answer in two pieces."""
        yield Delta(BEGINNING)
        await asyncio.to_thread(wait_for_file)
        yield Delta(END)
        yield Answer(BEGINNING + END)


def open_halting(config: Config, **given: Any) -> AbstractAsyncContextManager[RunningServer]:
    """A desk with such an agent."""
    return open_server(config, **{**given, "agent": HaltingAgent()})


if __name__ == "__main__":
    with patch("aitp_desk.app.process.open_server", open_halting):
        main()
