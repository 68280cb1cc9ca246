"""Ends or repeats calls that a crash interrupted while their caller waited.

A repeatable call is executed again with the same id; any other ends with an unknown outcome.
Background calls are jobs and are recovered by the job queue.

The only process on a database recovers them at its start. Where there are several, a process cannot
tell a dead one's calls from those that another is executing. So a call of a run is recovered when
the run is claimed again, and any other once it has lasted longer than the site's actions may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic

import structlog

from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.outcomes import make_fixed_end
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.store.base import Store

AT_ONCE = 16
"""How many are recovered together; repeated ones may each take up to their deadline."""
MAX_WATCHED = 1000
"""How many calls in progress are watched per desk, the oldest ones."""
EVERY_SECONDS = 30
"""Interval of the checks for abandoned calls."""
DEADLINES = 3
"""How often a call waits for an action's deadline: it is checked, approved and executed."""
SPARE_SECONDS = 60
"""How much longer a call may take to be written."""

_log = structlog.get_logger()


async def recover_calls(invoker: ActionInvoker, store: Store) -> None:
    """End the interrupted calls of a desk, before it accepts others."""
    while calls := await invoker.calls.list_interrupted(AT_ONCE):
        await _end_all(invoker.deferred_calls, store, calls)


async def recover_run_calls(invoker: ActionInvoker, store: Store, run_id: str) -> None:
    """End the interrupted calls of a run that was claimed again."""
    calls = await invoker.calls.list_in_run(run_id)
    begun = [one for one in calls if one.state is CallState.STARTED and one.accepted_at is None]
    await _end_all(invoker.deferred_calls, store, begun)


class AbandonedCalls:
    """Ends the calls of dead processes, next to others on the same database.

    How long a call has lasted is measured from when it was first seen here, by a clock that cannot
    be set, since neither the clocks of other machines nor the time of the call's creation tell when
    it began.

    Parameters:
        invokers: of all desks, by name.
        clock: seconds.
    """

    def __init__(
        self,
        invokers: Mapping[str, ActionInvoker],
        store: Store,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._invokers = invokers
        self._store = store
        self._clock = clock
        self._seen: dict[str, float] = {}

    async def end_abandoned(self) -> int:
        """End calls that have lasted too long; return how many."""
        now, seen = self._clock(), dict[str, float]()
        ended = 0
        for invoker in self._invokers.values():
            calls = await invoker.calls.list_interrupted(MAX_WATCHED)
            seen |= {call.id: self._seen.get(call.id, now) for call in calls}
            longest = max((one.deadline_seconds for one in invoker.actions), default=0.0)
            since = now - (DEADLINES * longest + SPARE_SECONDS)
            lost = [call for call in calls if seen[call.id] < since]
            for first in range(0, len(lost), AT_ONCE):
                batch = lost[first : first + AT_ONCE]
                await _end_all(invoker.deferred_calls, self._store, batch)
            ended += len(lost)
        self._seen = seen
        return ended


async def measure_durations(invokers: Iterable[ActionInvoker]) -> None:
    """Measure how long the background calls of actions take; the manifest shows it."""
    for invoker in invokers:
        for action in invoker.actions:
            if action.kind == "async":
                await invoker.calls.eta_seconds(action.name)


async def _end_all(
    deferred_calls: DeferredCalls, store: Store, calls: Sequence[ActionCall]
) -> None:
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(_end(deferred_calls, store, call))


async def _end(calls: DeferredCalls, store: Store, call: ActionCall) -> None:
    ended = (await calls.execute(call)).call if calls.is_repeatable(call) else call
    if not ended.is_over:
        ended = calls.end_interrupted(call)
    _log.warning("call_was_cut_short", call=call.id, state=ended.state.value)
    await store.run(calls.make_end_unit(call.id, make_fixed_end(ended)))
