"""Ends or repeats calls that a crash interrupted while their caller waited."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.outcomes import make_fixed_end
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.store.base import Store

AT_ONCE = 16
"""How many are recovered together; repeated ones may each take up to their deadline."""

_log = structlog.get_logger()


async def recover_calls(invoker: ActionInvoker, store: Store) -> None:
    """End the interrupted calls of a desk, before it accepts others.

    A repeatable call is executed again with the same id; any other ends with an unknown outcome.
    Background calls are jobs and are recovered by the job queue.
    """
    for action in invoker.actions:
        if action.kind == "async":
            await invoker.calls.eta_seconds(action.name)  # the manifest shows it
    while calls := await invoker.calls.list_interrupted(AT_ONCE):
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(_end(invoker.deferred_calls, store, call))


async def _end(calls: DeferredCalls, store: Store, call: ActionCall) -> None:
    ended = (await calls.execute(call)).call if calls.is_repeatable(call) else call
    if not ended.is_over:
        ended = calls.end_interrupted(call)
    _log.warning("call_was_cut_short", call=call.id, state=ended.state.value)
    await store.run(calls.make_end_unit(call.id, make_fixed_end(ended)))
