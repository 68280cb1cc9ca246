"""A schedule: what the desk does again and again, on its own account."""

from __future__ import annotations

import msgspec


class KeptSchedule(msgspec.Struct, frozen=True):
    """A schedule as it is kept. Times are Unix seconds.

    Parameters:
        name: by which people know it.
        every: seconds from the end of a run to the begin of the next.
        due_at: it is not begun before.
        runs: how often it was begun.
        failures: how often in vain since it last did well.
        leased_by: the process that is at it; None for none.
        lease_until: until then it is that one's, unless it is prolonged.
        began_at: when it was last begun.
        ended_at: when a run last ended, well or not.
        done_at: when one last ended well.
        did: how many things that one has dealt with.
        last_error: why the last run failed, in a sentence; None where it did not.
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
        """Whether it is to be begun: its time has come, or whoever was at it has lost its lease.

        A clock that was set back holds nothing up for longer than its own time.

        Parameters:
            now: Unix seconds.
            lease_seconds: how long a lease is.
        """
        if self.leased_by is None:
            return not now < self.due_at <= now + self.every
        return not now < self.lease_until <= now + 2 * lease_seconds  # another's clock may be ahead
