"""The interface by which processes on one database exchange what they committed.

A change says that something happened to a thread, a run or a call, by its id alone; its receiver
reads the store by number. So a change that is lost costs time, never content: each process also
looks by itself, at once after it was cut off and every few seconds otherwise.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Literal, Protocol

import msgspec

ChangeKind = Literal["thread", "end", "access", "stop", "typing", "work"]
"""What happened: an event on a thread, the end of a run or call, a change of who may read a thread,
a run that is to be stopped, an operator who is typing, runs that wait for another process."""


class Change(msgspec.Struct, frozen=True, array_like=True):
    """Something that other processes want to know.

    Parameters:
        id: of the thread, run or call; empty for waiting runs.
        actor: of an operator who is typing.
    """

    kind: ChangeKind
    id: str
    actor: str = ""


Receive = Callable[[Change], None]
"""Handles a change of another process."""
CatchUp = Callable[[], None]
"""Handles that changes may have been missed."""


class ChangeFeed(Protocol):
    """Carries changes between the processes on one database."""

    def publish(self, change: Change) -> None:
        """Send a change to the other processes soon; call it after the commit."""

    def deliver(self, receive: Receive, catch_up: CatchUp) -> AbstractAsyncContextManager[None]:
        """Receive the changes of other processes for as long as the context lasts."""


class NoChangeFeed:
    """The change feed of the only process on a database: nobody sends, nobody receives."""

    def publish(self, change: Change) -> None:
        """Do nothing."""

    @asynccontextmanager
    async def deliver(self, receive: Receive, catch_up: CatchUp) -> AsyncIterator[None]:
        """Deliver nothing."""
        del receive, catch_up
        yield
