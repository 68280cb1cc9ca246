"""What is kept of jobs, as units of work are given it: plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class NewJob(msgspec.Struct, frozen=True):
    """A job to be done.

    Parameters:
        kind: name of who does it.
        ref: id of what it is about; of one kind there is one job for it.
        payload: what JSON can hold and the work needs besides.
        created_at: Unix seconds.
        desk: name of the further site agent; empty for the site's own.
        thread_id: the thread that it belongs to: it goes with that.
        principal: id of who asked for it: it goes when that person's words are erased.
        available_at: Unix seconds; it is not taken up before. 0 for at once.
    """

    id: str
    kind: str
    ref: str
    payload: object
    created_at: int
    desk: str = ""
    thread_id: str | None = None
    principal: str | None = None
    available_at: int = 0


class ClaimedJob(msgspec.Struct, frozen=True):
    """A job that a worker holds.

    Parameters:
        principal: id of who asked for it; None for nobody known.
        payload: JSON.
        attempt: how often it was taken up, this time included.
        failures: how often in vain, since it was queued or retried by hand.
        worker: who holds it.
        was_lost: whether whoever had it before was lost at it.
    """

    id: str
    kind: str
    ref: str
    desk: str
    principal: str | None
    payload: str
    created_at: int
    attempt: int
    failures: int
    worker: str
    was_lost: bool = False


class Room(msgspec.Struct, frozen=True):
    """How many jobs of a kind may be taken up.

    Parameters:
        longest: seconds; whoever waits for longer does so because the clock was set back.
        of_one: how many of one asker's the worker is at, together with those; None for any number.
        held: how many of each asker's it is at.
        last: whose turn was the last one.
    """

    kind: str
    most: int
    longest: int
    of_one: int | None = None
    held: Mapping[str, int] = {}
    last: str = ""

    def left_of(self, asker: str) -> int:
        """How many of an asker's may be taken up; the empty one is nobody known."""
        if self.of_one is None:
            return self.most
        return min(self.most, self.of_one - self.held.get(asker, 0))
