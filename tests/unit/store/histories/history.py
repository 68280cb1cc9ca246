"""What has happened in a history so far, and what a step is made from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from aitp_desk.model.access.grant import Grant
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.file import File
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.units.jobs.schedules import ScheduleRun
from tests.support.store.participants import AYA, BEN, CEM

T = TypeVar("T")
PEOPLE = (AYA, BEN, CEM)
LIMIT = 1000
"""Of what is changed at once: of more rows each engine would choose others."""


class Draw(NamedTuple):
    """What was drawn for a step.

    Parameters:
        n: which of those there are it concerns.
        number: of 64 bits.
    """

    n: int
    text: str
    key: str
    number: int

    @property
    def who(self) -> int:
        """Which of the people."""
        return self.number % len(PEOPLE)


class NothingThereError(Exception):
    """There is nothing yet that a step could concern."""


@dataclass
class History:
    """What has happened so far, and the store that it happens to.

    Attributes:
        messages: with their threads.
        runs, jobs, schedules: as they were claimed, whether or not they are held still.
        tasks: ids, after those of their threads.
    """

    store: Store
    threads: list[str] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    runs: list[ClaimedRun] = field(default_factory=list)
    calls: list[ActionCall] = field(default_factory=list)
    tickets: list[StoredTicket] = field(default_factory=list)
    jobs: list[ClaimedJob] = field(default_factory=list)
    schedules: list[ScheduleRun] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    tasks: list[tuple[str, str]] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    sealed: list[str] = field(default_factory=list)
    sessions: list[bytes] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)
    codes: list[bytes] = field(default_factory=list)


Step = Callable[[History, Draw], Awaitable[None]]
"""Something that is done to what there is."""


def pick(items: Sequence[T], n: int) -> T:
    """Return the item that a step concerns, the newest for 0.

    Raises:
        NothingThereError: there is none.
    """
    if not items:
        raise NothingThereError
    return items[-1 - n % len(items)]
