"""The desk of a history: a site with free, slow and paid actions, and its agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aitp_desk.agent.base import Answer, Turn
from aitp_desk.app import Serving, open_server
from aitp_desk.capability import Capability
from aitp_desk.config import load_config
from tests.access_walk.model import MARKER
from tests.beginning import begin_database
from tests.doubles import Clock, ScriptedAgent
from tests.till import Till

FURTHER = "books"
ACTIONS = '''
"""Actions whose results tell what they were called with, and something that only they know."""

from aitp_desk.actions import Context, action


def result(note: str, context: Context) -> str:
    return f"{note} mr{context.call_id[-12:]}q"


@action(open_to="anyone")
def tell(note: str, context: Context) -> str:
    """Tells a note.

    Args:
        note: what it says.
    """
    return result(note, context)


@action(kind="async", mutability="reversible", blast_radius="self")
def work(note: str, context: Context) -> str:
    """Works on a note.

    Args:
        note: what it says.
    """
    return result(note, context)


@action(open_to="anyone", cost="5.00 EUR", prepaid=True)
def buy(note: str, context: Context) -> str:
    """Sells a note.

    Args:
        note: what it says.
    """
    return result(note, context)
'''
DESK_TOML = """
[content]
folder = "content"
[capabilities.till]
[[agents]]
name = "books"
[agents.content]
folder = "books"
"""
SETTINGS = (
    "limits.enabled=false",
    "files.anonymous=true",
    "files.max_files=100000",
    "files.max_total_bytes=1000000000",
    "threads.max_auto_replies=100000",
    "egress.allow_loopback=true",
)


async def repeat_markers(turn: Turn) -> Answer:
    """Answer with every marker that the turn has: what reaches the agent may reach its reader."""
    texts = [
        turn.question,
        turn.summary,
        turn.wishes,
        *(said.text for said in turn.transcript),
        *(f"{file.name} {file.text}" for file in turn.files),
    ]
    return Answer(" ".join(dict.fromkeys(MARKER.findall("\n".join(texts)))) or "Nothing.")


@asynccontextmanager
async def open_site(folder: Path, clock: Clock) -> AsyncIterator[tuple[Serving, Path]]:
    """The desk, and its data folder."""
    for name in ("content", FURTHER):
        (folder / name).mkdir(parents=True)
        (folder / name / "facts.md").write_text("# Facts\n\nHello is a greeting.\n", "utf-8")
    (folder / "actions.py").write_text(ACTIONS, "utf-8")
    (folder / "desk.toml").write_text(DESK_TOML, "utf-8")
    data = folder / "data"
    config = load_config(folder, SETTINGS, port=0, data=data)
    begin_database(config.database)
    beside: dict[str, type[Capability]] = {"till": Till}
    agent = ScriptedAgent(repeat_markers)
    async with open_server(config, clock=clock, agent=agent, capabilities_beside=beside) as desk:
        yield desk, data
