"""Lists the open requests of a thread, without those of calls that have ended."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from aitp_desk.agent.history.message_codec import find_awaited_call
from aitp_desk.capability import Record
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.plugins.resumption import LOOKED_BACK
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.reads import threads as reads

_log = structlog.get_logger()


async def read_open_requests(
    store: Store, capabilities: PluginRegistry, thread_id: str, now: int
) -> Sequence[tuple[str, Record]]:
    """Return the open requests of a thread with their plugins, the newest first.

    A call may end without an answer, when its caller declines it. Later words must not be read as
    an answer to its request.

    Parameters:
        now: Unix seconds.
    """
    found = await capability_reads.open_records(store, thread_id, now)
    takes: dict[str | None, bool] = {None: True}
    waiting = []
    for slug, record in found:
        call_id = find_call(capabilities, slug, record)
        if call_id is not None and call_id not in takes:
            call = await call_reads.call_by_id(store, call_id)
            takes[call_id] = call is not None and call.takes_answer and call.expires_at >= now
        if takes[call_id]:
            waiting.append((slug, record))
    return waiting


async def filter_last_asked(
    store: Store,
    capabilities: PluginRegistry,
    thread_id: str,
    waiting: Sequence[tuple[str, Record]],
) -> Sequence[tuple[str, Record]]:
    """Return those of several open requests that the desk has asked last.

    Parameters:
        waiting: as :func:`read_open_requests` returns it, several.
    """
    newest = await reads.newest_messages(store, thread_id, LOOKED_BACK)
    call_id = find_awaited_call(newest)
    if call_id is None:
        return ()
    return [one for one in waiting if find_call(capabilities, *one) == call_id]


def find_call(capabilities: PluginRegistry, slug: str, record: Record) -> str | None:
    """Return the id of the call for which the desk has asked; None for what others ask."""
    enabled = capabilities.get(slug)
    if enabled is None or not enabled.asks:
        return None
    try:
        waits = enabled.capability.waiting(record)
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the others are read
        _log.exception("waiting_failed", capability=slug)
        return None
    return None if waits is None else waits.call_id
