"""Schedules: recurring work of the desk."""

from __future__ import annotations

import msgspec


class StoredSchedule(msgspec.Struct, frozen=True):
    """A stored schedule. Times are Unix seconds.

    Parameters:
        name: shown to operators.
        every: seconds from the end of a run to the start of the next.
        due_at: the earliest start.
        runs: number of starts.
        failures: number of failures since the last success.
        leased_by: the process that runs it; None for none.
        lease_until: the end of that lease, unless it is renewed.
        began_at: when it last started.
        ended_at: when a run last ended, successfully or not.
        done_at: when a run last succeeded.
        did: how many items that run processed.
        last_error: why the last run failed, in a sentence; None if it did not.
    """

    name: str
    every: int
    due_at: int
    runs: int
    failures: int
    leased_by: str | None
    lease_until: int
    began_at: int | None
    ended_at: int | None
    done_at: int | None
    did: int
    last_error: str | None

    def is_due(self, now: int, lease_seconds: int) -> bool:
        """Return whether it should start: due, or left by a dead process.

        A clock that was set back delays nothing for longer than its interval and a lease.

        Parameters:
            now: Unix seconds.
            lease_seconds: the duration of a lease.
        """
        # the clock of another process may be ahead
        if self.leased_by is None:
            return not now < self.due_at <= now + self.every + lease_seconds
        return not now < self.lease_until <= now + 2 * lease_seconds
