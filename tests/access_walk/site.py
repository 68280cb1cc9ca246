"""The desk of a history: a site with free, slow and paid actions, and its agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aitp_desk.agent.base import Answer, Clarification, Event, Turn
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.capability import Capability
from aitp_desk.config import load_config
from tests.access_walk.model import MARKER
from tests.access_walk.results import ACTIONS, QuotingTill
from tests.support.desk.first_start import begin_desk
from tests.support.doubles.agent import Clock

FURTHER = "books"
DESK_TOML = """
[content]
folder = "content"
[capabilities.till]
[[agents]]
name = "books"
[agents.content]
folder = "books"
"""
ASKED_BACK = "Perhaps"
"""What begins so is asked back, so that a task waits."""
SETTINGS = (
    "limits.enabled=false",
    "files.anonymous=true",
    "files.max_files=100000",
    "files.max_total_bytes=1000000000",
    "threads.max_auto_replies=100000",
    "egress.allow_loopback=true",
)


class MarkingAgent:
    """Answers with every marker of what was said: what reaches the agent may reach its reader.

    Attributes:
        files: the names of the files that it was given since this was last emptied. They are not
            repeated: what the desk once said of a file may be read by all who read the thread.
    """

    name = "marking"

    def __init__(self) -> None:
        self.files: list[str] = []

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer with the markers."""
        self.files += [file.name for file in turn.files]
        if turn.question.startswith(ASKED_BACK):
            yield Clarification("Which one?", ("This one", "That one"))
            return
        said = [turn.question, turn.summary, turn.wishes, *(one.text for one in turn.transcript)]
        yield Answer(" ".join(dict.fromkeys(MARKER.findall("\n".join(said)))) or "Nothing.")


@asynccontextmanager
async def open_site(
    folder: Path, clock: Clock, agent: MarkingAgent
) -> AsyncIterator[RunningServer]:
    """The desk; its data are in the folder ``data``."""
    for name in ("content", FURTHER):
        (folder / name).mkdir(parents=True)
        (folder / name / "facts.md").write_text("# Facts\n\nHello is a greeting.\n", "utf-8")
    (folder / "actions.py").write_text(ACTIONS, "utf-8")
    (folder / "desk.toml").write_text(DESK_TOML, "utf-8")
    data = folder / "data"
    config = load_config(folder, SETTINGS, port=0, data=data)
    begin_desk(config)
    beside: dict[str, type[Capability]] = {"till": QuotingTill}
    async with open_server(config, clock=clock, agent=agent, capabilities_beside=beside) as desk:
        yield desk


def till_of(desk: RunningServer) -> QuotingTill:
    """Where calls of a desk are paid."""
    till = desk.desk.judge.capabilities["till"].capability
    assert isinstance(till, QuotingTill)
    return till
