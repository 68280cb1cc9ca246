"""Who may know, pay and go on with a call of an action, decided at each request.

A call on a thread belongs to whoever owns the thread now. A call on no thread belongs to the
caller who asked for it. An anonymous caller holds an id and nothing else: the call's own, or the
thread's. A quote's id and an idempotency key travel further than these, so neither is enough once
the thread has an owner.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import Access
from aitp_desk.model.calls.call import ActionCall


class CallThread(msgspec.Struct, frozen=True):
    """The thread of a call, as it stands for a caller.

    Parameters:
        owner: id of the principal that owns it; None for an anonymous thread.
        access: what the caller may do there; None: to this caller there is no such thread.
    """

    owner: str | None
    access: Access | None


def is_call_of(principal: Principal, call: ActionCall, thread: CallThread | None) -> bool:
    """Decide whether a call belongs to a known caller, by whichever name they found it.

    Parameters:
        thread: the one that the call is on; None where it is on none.
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
    """Decide whether a caller who names a call's own id may know it, pay it and go on with it.

    Parameters:
        thread: as of :func:`is_call_of`.
    """
    if is_call_of(principal, call, thread):
        return True
    if principal.party is not None or call.asked_by.party is not None:
        return False
    if call.thread_id is None:
        return True
    # the id of an anonymous thread's call is as secret as that of the thread
    return thread is not None and thread.owner is None and thread.access is not None
