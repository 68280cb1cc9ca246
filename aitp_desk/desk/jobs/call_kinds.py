"""The jobs that continue calls after they were accepted."""

from __future__ import annotations

import math
import random

import msgspec

from aitp_desk.actions.base import CallContinues
from aitp_desk.desk.jobs.kinds import JITTER
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.ids import new_id
from aitp_desk.store.records.jobs import ClaimedJob, NewJob

KIND = "call"
PAID_KIND = "paid_call"
"""The same for calls that were paid first. A call has at most one job of either kind: a paid call
may then wait for an operator's approval, and continues with the other kind.
"""
KINDS = (KIND, PAID_KIND)
FOLLOW_KIND = "followed_call"
"""Finds out how a call goes that was accepted elsewhere, until it ends or expires."""
FIRST_SECONDS = 1
LONGEST_SECONDS = 300
PART = 0.25
"""The pause before the state is read is this part of the time that the call has taken so far."""


class CallJobPayload(msgspec.Struct, frozen=True):
    """The payload of such a job.

    Parameters:
        is_approved: whether an operator has approved the call, some time after it was requested.
    """

    is_approved: bool = False


class FollowedCall(msgspec.Struct, frozen=True):
    """The payload of a job that follows a call.

    Parameters:
        reference: by which the call is found elsewhere.
    """

    reference: str


_followed = msgspec.json.Decoder(FollowedCall)
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


def make_follow_job(call: ActionCall, continues: CallContinues, now: float) -> NewJob:
    """Create the job that follows a call that was accepted elsewhere.

    Parameters:
        now: Unix seconds.
    """
    return msgspec.structs.replace(
        make_call_job(call, now),
        kind=FOLLOW_KIND,
        payload=FollowedCall(continues.reference),
        available_at=int(now) + find_pause(call, continues.after, now),
    )


def find_pause(call: ActionCall, after: float | None, now: float) -> int:
    """Return the seconds until a followed call is looked at, no sooner than ``after``.

    When the call expires, it is over in any case.

    Parameters:
        after: what the other side asks for; None for nothing.
        now: Unix seconds.
    """
    own = min(max(FIRST_SECONDS, PART * (now - call.created_at)), LONGEST_SECONDS)
    wait = max(own, after or 0.0) * (1 + JITTER * random.random())  # noqa: S311 -- no secret
    # one more: times are stored in whole seconds
    return math.ceil(max(1, min(wait + 1, call.expires_at + 1 - now)))


def read_reference(claim: ClaimedJob) -> str:
    """Return by what the call of such a job is found elsewhere."""
    return _followed.decode(claim.payload).reference


def read_payload(claim: ClaimedJob) -> CallJobPayload:
    """Return the payload of such a job."""
    return _carried.decode(claim.payload)
