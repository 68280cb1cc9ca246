"""Receivers of push notifications: deleted in the commit that takes their setter's right away."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.errors import Forbidden
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_asker
from aitp_desk.store.units.threads.access import find_access


def drop_receivers(thread_id: str, now: int) -> Work[None]:
    """Delete the receivers of a thread's tasks whose setters lost write access.

    A part of a unit that has changed who may use the thread.

    Parameters:
        now: Unix seconds.
    """
    for task_id, id_, asked_by, owner, desk in (
        yield "receivers_of_thread", {"thread_id": thread_id}
    ):
        setter = msgspec.structs.replace(read_asker(asked_by), desk=desk)
        found = yield from find_access(
            thread_id, setter, owner, updated_at=now, now=now, idle_before=now
        )
        try:
            if found is not None:
                found[0].check(AccessNeed.WRITE)
                continue
        except Forbidden:
            pass
        yield "delete_push", {"thread_id": thread_id, "task_id": task_id, "id": id_}


def drop_receivers_of(principal: str) -> Work[None]:
    """Delete the receivers that a principal has set.

    A part of a unit that ends the principal's credential.

    Parameters:
        principal: the id of the principal.
    """
    yield "delete_receivers_of", {"principal": principal}
