"""Reads the calls of one desk, within what a caller may see."""

from __future__ import annotations

import math
from statistics import median

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.revocation import is_still_valid
from aitp_desk.model.access.call_access import CallThread, is_call_of, may_reach_call
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads


class CallReader:
    """Reads the calls of one desk."""

    def __init__(self, context: DeskContext) -> None:
        self._desk = context.name
        self._store = context.store
        self._clock = context.clock
        self._etas: dict[str, int] = {}

    async def find_in_session(self, session_id: str, principal: Principal) -> ActionCall | None:
        """Return the newest accepted call of a session, if the caller may see it."""
        call = await call_reads.call_of_session(self._store, session_id)
        return call if call is not None and await self.can_reach(principal, call) else None

    async def list_in_run(self, run_id: str) -> tuple[ActionCall, ...]:
        """Return a run's calls in order, without those that wait for the visitor."""
        made = await call_reads.calls_of_run(self._store, run_id)
        return tuple(call for call in made if not call.waits_for_asker)

    async def find_ended(self, call_id: str) -> ActionCall | None:
        """Return a call that is over; None for any other id."""
        call = await call_reads.call_by_id(self._store, call_id)
        return call if call is not None and call.is_over else None

    async def find(self, call_id: str) -> ActionCall | None:
        """Return a call of any caller; None if it does not exist."""
        return await call_reads.call_by_id(self._store, call_id)

    async def find_by_quote(self, quote_id: str) -> ActionCall | None:
        """Return this desk's call with a quote id, of any caller, or None."""
        call = await call_reads.call_quoted(self._store, quote_id)
        return call if call is not None and call.desk == self._desk else None

    async def can_reach(self, principal: Principal, call: ActionCall) -> bool:
        """Return whether a caller who knows a call's id may see the call now."""
        if call.desk != self._desk:
            return False
        return may_reach_call(principal, call, await self._thread_of(principal, call))

    async def is_owner(self, principal: Principal, call: ActionCall) -> bool:
        """Return whether a call belongs to an identified caller, by identity alone."""
        thread = await self._thread_of(principal, call)
        return is_call_of(principal, call, thread)

    async def may_notify(self, call: ActionCall) -> bool:
        """Return whether a call's end may be sent to its callback address."""
        asker, asked_at = call.asked_by, call.accepted_at or call.created_at
        if not await is_still_valid(self._store, asker.id, asked_at, self._clock()):
            return False
        if asker.party is None:
            return await self.can_reach(asker, call)
        return await self.is_owner(asker, call)

    async def _thread_of(self, principal: Principal, call: ActionCall) -> CallThread | None:
        if call.thread_id is None:
            return None
        here = msgspec.structs.replace(principal, desk=self._desk)  # a run's principal lost it
        found = await reads.owner_and_access(
            self._store, call.thread_id, here, 0, now=int(self._clock())
        )
        return None if found is None else CallThread(*found)

    async def find_direct_call(
        self, call_id: str, name: str, principal: Principal
    ) -> ActionCall | None:
        """Return a caller's direct call of an action by id; None for none.

        A direct call was made on no thread; one that is paid first may have a thread.
        """
        call = await self.find(call_id)
        if call is None:
            return None
        if call.payment is None and (call.session_id or call.run_id or call.thread_id):
            return None
        return call if call.action == name and await self.can_reach(principal, call) else None

    async def find_pending(self, call_id: str, principal: Principal) -> ActionCall | None:
        """Return a pending call that the caller may resume, or None."""
        call = await call_reads.call_by_id(self._store, call_id)
        if call is None or not call.waits_for_asker or call.expires_at < self._clock():
            return None
        return call if await self.can_reach(principal, call) else None

    async def list_answered(self, thread_id: str) -> tuple[ActionCall, ...]:
        """Return the answered calls of a thread that have not resumed yet, in order."""
        calls = await call_reads.answered_calls(self._store, thread_id)
        return tuple(call for call in calls if call.desk == self._desk)

    async def list_interrupted(self, limit: int) -> tuple[ActionCall, ...]:
        """Return the oldest executing calls whose caller waits: after a start, interrupted ones."""
        return await call_reads.calls_cut_short(self._store, self._desk, limit)

    async def list_held(self, limit: int) -> tuple[ActionCall, ...]:
        """Return the oldest executing calls whose caller waits, except those of unfinished runs."""
        return await call_reads.calls_held(self._store, self._desk, limit)

    async def eta_seconds(self, name: str) -> int | None:
        """Return the median duration of an action's latest calls; None if none has ended."""
        measured = await call_reads.seconds_taken(self._store, self._desk, name)
        if not measured:
            return None
        self._etas[name] = eta = max(0, math.ceil(median(measured)))  # a clock may be set back
        return eta

    @property
    def longest_eta(self) -> int | None:
        """The longest of the durations that were last computed, in seconds."""
        return max(self._etas.values(), default=None)

    async def seconds_left(self, call: ActionCall) -> int | None:
        """Return the expected remaining seconds of a call; None if unknown."""
        takes = await self.eta_seconds(call.action)
        if takes is None or call.accepted_at is None:
            return None
        return max(0, takes - (int(self._clock()) - call.accepted_at))
