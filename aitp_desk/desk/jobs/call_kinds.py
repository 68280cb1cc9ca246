"""The jobs by which calls are carried out that go on after they were accepted."""

from __future__ import annotations

import msgspec

from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.jobs import ClaimedJob, NewJob

KIND = "call"
PAID_KIND = "paid_call"
"""The same of calls that were paid before. A call has at most one job of either kind: one that was
paid may wait for a person's approval then, and goes on by the other."""
KINDS = (KIND, PAID_KIND)


class CallJobPayload(msgspec.Struct, frozen=True):
    """What such a job carries.

    Parameters:
        is_approved: whether a person has approved the call, some time after it was asked for.
    """

    is_approved: bool = False


_carried = msgspec.json.Decoder(CallJobPayload)


def make_call_job(call: ActionCall, now: float, *, is_approved: bool = False) -> NewJob:
    """Make the job of carrying a call out.

    Parameters:
        now: Unix seconds.
        is_approved: as of :class:`CallJobPayload`.
    """
    return NewJob(
        id=new_id("job", now),
        kind=KIND,
        ref=call.id,
        payload=CallJobPayload(is_approved),
        created_at=int(now),
        desk=call.desk,
        thread_id=call.thread_id,
        principal=call.asked_by.party,
    )


def make_paid_call_job(call: ActionCall, now: float) -> NewJob:
    """Make the job of going on with a call that is paid now.

    Parameters:
        now: Unix seconds.
    """
    return msgspec.structs.replace(make_call_job(call, now), kind=PAID_KIND)


def read_payload(claim: ClaimedJob) -> CallJobPayload:
    """What such a job carries."""
    return _carried.decode(claim.payload)
