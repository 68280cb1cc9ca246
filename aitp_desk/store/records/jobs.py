"""Defines jobs as units of work take and return them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class NewJob(msgspec.Struct, frozen=True):
    """A job to be queued.

    Parameters:
        kind: name of its handler.
        ref: id of its subject; there is one job of a kind for it.
        payload: further input of the work, a JSON value.
        created_at: Unix seconds.
        desk: name of the further site agent; empty for the site's own.
        thread_id: the thread that it belongs to and is deleted with.
        principal: id of who requested it; it is deleted when that person is erased.
        available_at: Unix seconds; it is not claimed before. 0 for at once.
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
        principal: id of who requested it; None if unknown.
        payload: JSON.
        attempt: how often it was claimed, including this time.
        failures: failed attempts since it was queued or retried by hand.
        worker: who holds it.
        was_lost: whether its previous worker was lost while it ran.
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


class JobCapacity(msgspec.Struct, frozen=True):
    """A worker's free capacity for jobs of a kind.

    Parameters:
        longest: seconds; a longer wait means that the clock was set back.
        of_one: maximum number of one principal's jobs that the worker may run; None for no
            limit.
        held: how many of each principal's it runs.
        last: the principal whose turn was last.
        in_order: whether a principal's jobs are done one after the other, by their ids.
    """

    kind: str
    most: int
    longest: int
    of_one: int | None = None
    held: Mapping[str, int] = {}
    last: str = ""
    in_order: bool = False

    def left_of(self, asker: str) -> int:
        """Return how many jobs of a principal may be claimed.

        The empty id means unknown.
        """
        if self.of_one is None:
            return self.most
        return min(self.most, self.of_one - self.held.get(asker, 0))
