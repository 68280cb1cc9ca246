"""The jobs that continue calls after they were accepted."""

from __future__ import annotations

import msgspec

from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.jobs import ClaimedJob, NewJob

KIND = "call"
PAID_KIND = "paid_call"
"""The same for calls that were paid first. A call has at most one job of either kind: a paid call
may then wait for an operator's approval, and continues with the other kind.
"""
KINDS = (KIND, PAID_KIND)


class CallJobPayload(msgspec.Struct, frozen=True):
    """The payload of such a job.

    Parameters:
        is_approved: whether an operator has approved the call, some time after it was requested.
    """

    is_approved: bool = False


_carried = msgspec.json.Decoder(CallJobPayload)


def make_call_job(call: ActionCall, now: float, *, is_approved: bool = False) -> NewJob:
    """Create the job that executes a call.

    Parameters:
        now: Unix seconds.
        is_approved: as in :class:`CallJobPayload`.
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
    """Create the job that continues a call that was just paid.

    Parameters:
        now: Unix seconds.
    """
    return msgspec.structs.replace(make_call_job(call, now), kind=PAID_KIND)


def read_payload(claim: ClaimedJob) -> CallJobPayload:
    """Return the payload of such a job."""
    return _carried.decode(claim.payload)
