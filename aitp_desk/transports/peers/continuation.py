"""Follows a call that a partner has accepted, until it ends there.

The reference that the partner gave is stored with the call, so that any later visit finds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import msgspec

from aitp_desk.actions.base import CallContinues, Context, OutcomeUnknown
from aitp_desk.model.error_kind import ErrorKind, FailureCode
from aitp_desk.model.errors import PreconditionFailed, Unavailable
from aitp_desk.transports.peers.partner import Partner
from aitp_desk.visitor.base import EndpointKind, Outcome
from aitp_desk.visitor.errors import (
    BudgetSpent,
    CallFailed,
    SiteFailed,
    SiteRefused,
)
from aitp_desk.visitor.site import Site

PASSING = frozenset({401, 403, 408, 425, 429})
"""The statuses of refusals after which the state of a call may be told later; so may any 5xx."""
_T = TypeVar("_T")
UNKNOWN_THERE = frozenset({ErrorKind.UNAVAILABLE.value, FailureCode.UNKNOWN.value})
"""The codes of failures after which a call may have had its effect."""


class FollowedCall(msgspec.Struct, frozen=True):
    """A call that a partner has accepted.

    Parameters:
        endpoint: the protocol that knows the reference.
        reference: the partner's own name for the call.
    """

    endpoint: EndpointKind
    reference: str


async def wait_shortly(site: Site, outcome: Outcome, seconds: float) -> Outcome:
    """Wait a moment for an accepted call, whose caller waits too.

    Raises:
        CallFailed: it has failed.
    """
    with suppress(TimeoutError, SiteFailed):
        async with asyncio.timeout(seconds):
            while outcome.kind == "waiting" and outcome.reference:
                try:
                    outcome = await site.poll(outcome)
                except CallFailed:
                    raise
                except BudgetSpent:
                    break
                except SiteRefused:  # another visit finds out whether it will tell
                    break
    return outcome


def make_continues(partner: Partner, endpoint: EndpointKind, outcome: Outcome) -> CallContinues:
    """Return that a call goes on at a partner.

    Raises:
        OutcomeUnknown: the partner does not say where its state can be read.
    """
    if not outcome.reference:
        raise OutcomeUnknown(f"{partner.title} has accepted it and does not say how it goes.")
    followed = FollowedCall(endpoint, outcome.reference)
    return CallContinues(msgspec.json.encode(followed).decode(), outcome.retry_after)


async def follow(partner: Partner, context: Context) -> Outcome:
    """Read once how an accepted call goes.

    Raises:
        CallContinues: it has not ended.
        OutcomeUnknown, PreconditionFailed, Unavailable: as :func:`read_there`.
    """
    followed = msgspec.json.decode(context.continued, type=FollowedCall)
    waiting = Outcome("waiting", reference=followed.reference)
    outcome = await read_there(
        partner, context, followed.endpoint, lambda site: site.poll(waiting), acts=True
    )
    if outcome.kind == "waiting":
        context.progress(outcome.text)
        raise make_continues(partner, followed.endpoint, outcome)
    return outcome


async def read_there(
    partner: Partner,
    context: Context,
    endpoint: EndpointKind,
    read: Callable[[Site], Awaitable[_T]],
    *,
    acts: bool = False,
) -> _T:
    """Read once what a partner has not told yet.

    Parameters:
        endpoint: the protocol that knows it.
        acts: whether it is an action that the owner has listed.

    Raises:
        OutcomeUnknown: the partner does not know it any more, or does not know how it ended.
        PreconditionFailed: it has failed.
        Unavailable: it could not be read this time.
    """
    failed: CallFailed | None = None
    pause: float | None = None
    try:
        async with partner.visit(context, acts=acts, protocol=endpoint) as site:
            try:
                return await read(site)
            except CallFailed as error:
                failed = error
            except BudgetSpent as error:
                pause = error.retry_after
                raise
            except SiteRefused as error:
                pause = error.retry_after
                if error.status in PASSING or error.status >= 500:
                    raise
                raise OutcomeUnknown(
                    f"{partner.title} no longer tells how the call went."
                ) from None
    except PreconditionFailed as error:
        told = Unavailable(error.message)
        told.retry_after = None if pause is None else round(pause)
        raise told from None
    if is_unknown(failed):
        raise OutcomeUnknown(f"{partner.title} does not know how the call went.")
    raise partner.describe(failed)


def is_unknown(refused: SiteRefused) -> bool:
    """Return whether a refused call may have had its effect, there or further on."""
    return refused.status >= 500 or refused.recovery in UNKNOWN_THERE
