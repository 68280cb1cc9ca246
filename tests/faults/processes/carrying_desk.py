"""A desk with the tests' own transport, and an agent that repeats questions and keeps items.

`aitp-desk`, but for that.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any
from unittest.mock import patch

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.cli import main
from aitp_desk.config import Config
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.reservations import ReservingAgent

OFFER, LONG = "which colour", "long story"
"""Questions with these words get two buttons, or an answer of several messages."""


async def answer(turn: Turn) -> Outcome:
    question = turn.question
    if OFFER in question:
        what = " ".join(question.split()[:2])  # so short that a button shows the whole
        return Clarification("Which one?", options=(f"Red of {what}", f"Blue of {what}"))
    if LONG in question:
        return Answer("\n\n".join(f"Part {n} for {question}: " + "word " * 40 for n in range(12)))
    return Answer(f"You asked: {question}")


def open_carrying(config: Config, **given: Any) -> AbstractAsyncContextManager[RunningServer]:
    """A desk whose people are on the platform of the tests."""
    chosen = {"agent": ReservingAgent(answer), "transports_beside": {"pigeon": Pigeon}}
    return open_server(config, **{**given, **chosen})


if __name__ == "__main__":
    with patch("aitp_desk.app.process.open_server", open_carrying):
        main()
