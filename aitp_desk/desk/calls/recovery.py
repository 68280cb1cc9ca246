"""Calls that a crash cut short while somebody waited for them: each is ended, or made again."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.outcomes import make_fixed_end
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.store.base import Store

AT_ONCE = 16
"""How many are looked at together: those that are made again may all take as long as they may."""

_log = structlog.get_logger()


async def recover_calls(invoking: ActionInvoker, store: Store) -> None:
    """End the calls of a desk that were cut short, before there are others.

    What may be made again is, with the same id, and of the rest nobody knows what became. Calls
    that go on by themselves are jobs, and taken up as such.
    """
    for action in invoking.actions:
        if action.kind == "async":
            await invoking.calls.eta_seconds(action.name)  # which the manifest tells
    while calls := await invoking.calls.list_interrupted(AT_ONCE):
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(_end(invoking.on_disk, store, call))


async def _end(calls: DeferredCalls, store: Store, call: ActionCall) -> None:
    ended = (await calls.execute(call)).call if calls.is_repeatable(call) else call
    if not ended.is_over:
        ended = calls.end_interrupted(call)
    _log.warning("call_was_cut_short", call=call.id, state=ended.state.value)
    await store.run(calls.make_end_unit(call.id, make_fixed_end(ended)))
