"""Ends or repeats calls that a crash interrupted while their caller waited.

A repeatable call is executed again with the same id; any other ends with an unknown outcome.
Background calls are jobs and are recovered by the job queue.

The only process on a database recovers them at its start. Where there are several, a call is
recovered by another process once its own is gone (``jobs/process_watch.py``), or, if it belongs to
a run, when the run is claimed again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import structlog

from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.outcomes import make_fixed_end
from aitp_desk.desk.jobs.background_task import repeat
from aitp_desk.desk.jobs.process_watch import BEAT_SECONDS, ProcessWatch
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.store.base import Store
from aitp_desk.store.units.jobs.processes import take_call

AT_ONCE = 16
"""How many are recovered together; repeated ones may each take up to their deadline."""
MAX_WATCHED = 1000
"""How many calls in progress are watched per desk, the oldest ones."""
EVERY_SECONDS = 2 * BEAT_SECONDS
"""Interval of the checks for abandoned calls; all living processes beat between two."""

_log = structlog.get_logger()


async def recover_calls(invoker: ActionInvoker, store: Store) -> None:
    """End the interrupted calls of a desk, before it accepts others."""
    while calls := await invoker.calls.list_interrupted(AT_ONCE):
        _raise_first(await _end_all(invoker.deferred_calls, store, calls))


async def recover_run_calls(invoker: ActionInvoker, store: Store, run_id: str) -> None:
    """End the interrupted calls of a run that was claimed again."""
    calls = await invoker.calls.list_in_run(run_id)
    begun = [one for one in calls if one.state is CallState.STARTED and one.accepted_at is None]
    _raise_first(await _end_all(invoker.deferred_calls, store, begun))


class AbandonedCalls:
    """Ends the calls of dead processes, next to others on the same database.

    Parameters:
        invokers: of all desks, by name.
        watch: tells which processes are gone.
    """

    def __init__(
        self, invokers: Mapping[str, ActionInvoker], store: Store, watch: ProcessWatch
    ) -> None:
        self._invokers = invokers
        self._store = store
        self._watch = watch
        self._suspected: set[str] = set()
        self._unended: list[tuple[ActionInvoker, ActionCall]] = []

    async def end_abandoned(self) -> int:
        """End calls of dead processes; return how many.

        A call is ended the second time that it is found. A process that wakes after a long pause
        has begun its next call before its next beat.
        """
        suspected: set[str] = set()
        ended = 0
        # of this process already: nobody else ends them
        unended, self._unended = self._unended, []
        for invoker, call in unended:
            ended += await self._end(invoker, [call])
        for invoker in self._invokers.values():
            calls = await invoker.calls.list_held(MAX_WATCHED)
            lost = [call for call in calls if self._watch.is_gone(call.held_by)]
            suspected |= {call.id for call in lost}
            taken = [call for call in lost if call.id in self._suspected and await self._take(call)]
            for first in range(0, len(taken), AT_ONCE):
                ended += await self._end(invoker, taken[first : first + AT_ONCE])
        self._suspected = suspected
        return ended

    async def _end(self, invoker: ActionInvoker, calls: Sequence[ActionCall]) -> int:
        """End calls that this process has taken; what fails is tried again the next time."""
        failed = await _end_all(invoker.deferred_calls, self._store, calls)
        for call, error in failed:
            _log.warning("abandoned_call_not_ended", call=call.id, reason=str(error))
            self._unended.append((invoker, call))
        return len(calls) - len(failed)

    async def end_regularly(self) -> None:
        """End abandoned calls until the task is cancelled."""
        await repeat(self.end_abandoned, EVERY_SECONDS, "abandoned_calls_not_ended")

    async def _take(self, call: ActionCall) -> bool:
        """Make a call this process's own, unless another one was first."""
        return await self._store.run(
            take_call, call_id=call.id, before=call.held_by, process=self._watch.process
        )


async def measure_durations(invokers: Iterable[ActionInvoker]) -> None:
    """Measure how long the background calls of actions take; the manifest shows it."""
    for invoker in invokers:
        for action in invoker.actions:
            if action.kind == "async":
                await invoker.calls.eta_seconds(action.name)


async def _end_all(
    deferred_calls: DeferredCalls, store: Store, calls: Sequence[ActionCall]
) -> list[tuple[ActionCall, BaseException]]:
    """End calls; return those that could not be ended, with the reason."""
    ends = (_end(deferred_calls, store, call) for call in calls)
    results = await asyncio.gather(*ends, return_exceptions=True)
    return [(call, one) for call, one in zip(calls, results, strict=True) if one is not None]


def _raise_first(failed: Sequence[tuple[ActionCall, BaseException]]) -> None:
    for _, error in failed:
        raise error


async def _end(calls: DeferredCalls, store: Store, call: ActionCall) -> None:
    ended = call
    if calls.is_repeatable(call):
        performed = await calls.execute(call)
        ended = performed.call
        if performed.continues is not None:
            await store.run(calls.make_continue_unit(ended, performed.continues))
            return
    if not ended.is_over:
        ended = calls.end_interrupted(call)
    _log.warning("call_was_cut_short", call=call.id, state=ended.state.value)
    await store.run(calls.make_end_unit(call.id, make_fixed_end(ended)))
