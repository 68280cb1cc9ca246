"""A desk whose agent and action stop until a file is there, if it is the first of two.

An environment variable says which one it is. The action notes each time that it is entered.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.cli import main
from aitp_desk.config import Config
from aitp_desk.model.calls.action import Action, Safety
from tests.faults.processes.halting_answer import HaltingAgent, wait_for_file
from tests.support.sites.actions import offering

LABEL = "HALTING_DESK_LABEL"
LOG = "HALTING_DESK_LOG"
FIRST, SECOND = "first", "second"
ACTION = "enter_again"


def note(label: str) -> None:
    """Write down that this desk has entered the action."""
    with Path(os.environ[LOG]).open("a") as log:
        log.write(f"{label}\n")


async def enter_again(_who: str, _arguments: Mapping[str, Any]) -> str:
    label = os.environ[LABEL]
    note(label)
    if label == FIRST:
        await asyncio.to_thread(wait_for_file)
    return f"Entered by the {label}."


def open_halting(config: Config, **given: Any) -> AbstractAsyncContextManager[RunningServer]:
    """A desk with such an action, and with such an agent if it is the first one."""
    safety = Safety("reversible", "self")
    action = Action(
        ACTION,
        "Enters.",
        "async",
        open_to="actions",
        safety=safety,
        deadline_seconds=120,
        is_idempotent=True,
    )
    if os.environ[LABEL] == FIRST:
        given["agent"] = HaltingAgent()
    return open_server(config, **{**given, "actions": (offering(action, enter_again),)})


if __name__ == "__main__":
    with patch("aitp_desk.app.process.open_server", open_halting):
        main()
