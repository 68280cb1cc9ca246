"""Access to calls: who may see, pay and continue a call.

It is decided at each request.

A call on a thread belongs to the current owner of the thread. A call without a thread belongs to
the caller that requested it. An anonymous caller proves access by an id alone: the call's own, or
the thread's. A quote's id and an idempotency key are less confidential than these, so neither is
enough once the thread has an owner.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import Access
from aitp_desk.model.calls.call import ActionCall


class CallThread(msgspec.Struct, frozen=True):
    """The thread of a call, as a caller sees it.

    Parameters:
        owner: id of the principal that owns it; None for an anonymous thread.
        access: the caller's access; None: the thread does not exist for this caller.
    """

    owner: str | None
    access: Access | None


def is_call_of(principal: Principal, call: ActionCall, thread: CallThread | None) -> bool:
    """Return whether a call belongs to a known caller, however the caller found it.

    Parameters:
        thread: of the call; None if it has none.
    """
    if principal.party is None:
        return False
    is_asker = call.asked_by.id == principal.id
    if call.thread_id is None:
        return is_asker
    if thread is None or thread.access is None or not thread.access.may_write:
        return False
    return is_asker or (thread.owner is not None and thread.owner == principal.owner)


def may_reach_call(principal: Principal, call: ActionCall, thread: CallThread | None) -> bool:
    """Return whether a caller with a call's id may see and continue it.

    This includes paying for it.

    Parameters:
        thread: as in :func:`is_call_of`.
    """
    if is_call_of(principal, call, thread):
        return True
    if principal.party is not None or call.asked_by.party is not None:
        return False
    if call.thread_id is None:
        return True
    # the id of an anonymous thread's call is as secret as that of the thread
    return thread is not None and thread.owner is None and thread.access is not None
