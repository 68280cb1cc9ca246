"""Runs accepted calls as jobs; a call and its job end in one commit.

A call whose job is claimed a second time was interrupted, by a crash or a missed deadline. A
repeatable call is executed again with the same id; any other ends with an unknown outcome. An
approved or paid call is checked again before it runs, because its preconditions may have changed,
and a paid call that needs approval then waits for an operator. A call that was accepted elsewhere
is followed by another job until it ends or expires. The outcome is sent to the caller's callback
address (``desk/jobs/callbacks.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from aitp_desk.desk.access.revocation import was_revoked
from aitp_desk.desk.calls.approval import make_approval_ticket, make_pending_approval
from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.outcomes import make_fixed_end, mark_failed
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.jobs.call_kinds import (
    FOLLOW_KIND,
    KIND,
    PAID_KIND,
    CallJobPayload,
    find_pause,
    make_call_job,
    read_payload,
    read_reference,
)
from aitp_desk.desk.jobs.callbacks import make_callback_writes
from aitp_desk.desk.jobs.kinds import Finish, GiveUp, JobKind, Retry, Unfinished
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.ticket import Ticket, TicketKind
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import Forbidden
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.calls.calls import ExtraStatements, move_call
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.tickets.tickets import hand_call_to_people, ticket_of_call

DELAYS = (10, 60, 300)
"""Seconds before each retry of an interrupted call."""
MAX_AT_ONCE = 16
MAX_OF_ONE_CALLER = 12
"""How many of these may belong to one caller."""
_PASSING = {ErrorKind.UNAVAILABLE.value, ErrorKind.INTERNAL.value}
"""Error kinds that another attempt may not meet."""
REVOKED = "The caller's credential was revoked before the call began. Nothing was done."
_NO_DESK = "The site agent of the call is no longer in desk.toml."
FOLLOW_DELAYS = (1, 30, 300, 3600, 31 * 24 * 60 * 60)
"""Seconds before each retry after a fault; no pause that another site asks for is longer."""
ROOM_SECONDS = 10
"""How much longer than the call itself its job may take."""


class AsyncCalls:
    """Executes ``async`` calls in the background.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        store: Store,
        jobs: JobQueue,
        events: Broadcaster,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._events = events
        self._clock = clock
        self._tell = partial(make_callback_writes, clock)
        self._invokers: Mapping[str, ActionInvoker] = {}

    def register_desks(self, invokers: Mapping[str, ActionInvoker]) -> None:
        """Register the job kinds for the calls of these desks, keyed by name.

        Call it before the job queue starts.
        """
        self._invokers = invokers
        longest = [a.deadline_seconds for one in invokers.values() for a in one.actions]
        for name, handler, delays in (
            (KIND, self._carry_on, DELAYS),
            (PAID_KIND, self._carry_on_paid, DELAYS),
            (FOLLOW_KIND, self._follow, FOLLOW_DELAYS),
        ):
            self._jobs.register_kinds(
                JobKind(
                    name=name,
                    handler=handler,
                    deadline=max(longest, default=0.0) + ROOM_SECONDS,
                    delays=delays,
                    at_once=MAX_AT_ONCE,
                    of_one=MAX_OF_ONE_CALLER,
                    given_up=self._give_up,
                )
            )

    def enqueue(self, call: ActionCall) -> ExtraStatements:
        """Return the statements that store a call's job with the call."""
        return partial(enqueue_job, make_call_job(call, self._clock()))

    def start_now(self) -> None:
        """Wake the job queue."""
        self._jobs.wake()

    async def _carry_on_paid(self, claim: ClaimedJob) -> Finish | None:
        """Continue a paid call: wait for approval if it needs one, else execute it."""
        call = await call_reads.call_by_id(self._store, claim.ref)
        invoker = None if call is None else self._invokers.get(call.desk)
        if call is None or invoker is None:
            return await self._carry_on(claim)
        if call.state is CallState.STARTED and await invoker.deferred_calls.needs_approval(call):
            action = invoker.get_action(call.action)
            waits = make_pending_approval(call)
            asking = make_approval_ticket(action, waits, self._clock())
            return Finish(
                partial(
                    move_call,
                    call=waits,
                    before=CallState.STARTED,
                    turn=None,
                    by=None,
                    now=int(self._clock()),
                    extra_statements=asking,
                ),
                partial(self._waits_for_person, waits),
            )
        return await self._carry_on(claim)

    def _waits_for_person(self, call: ActionCall) -> None:
        """Notify the followers of the call's thread."""
        self._jobs.wake()
        if call.thread_id is not None:
            self._events.notify_change(call.thread_id)

    async def _find_call(self, claim: ClaimedJob) -> tuple[ActionCall, ActionInvoker] | None:
        """Return a job's call and what carries it out; None if it has ended.

        Raises:
            GiveUp: its desk is not served any more.
        """
        call = await call_reads.call_by_id(self._store, claim.ref)
        if call is None or call.state is not CallState.STARTED:
            return None
        invoker = self._invokers.get(call.desk)
        if invoker is None:
            raise GiveUp(_NO_DESK)
        return call, invoker

    async def _carry_on(self, claim: ClaimedJob) -> Finish | None:
        found = await self._find_call(claim)
        if found is None:
            return None
        call, invoker = found
        calls = invoker.deferred_calls
        if claim.attempt > 1 and not calls.is_repeatable(call):
            return self._finish(calls.end_interrupted(call))
        if claim.attempt == 1:
            refused = await self._look_again(calls, call, read_payload(claim))
            if refused is not None:
                return self._finish(refused)
        performed = await calls.execute(call)
        if performed.ticket is not None:
            return self._ask_people(call, performed.ticket)
        if performed.continues is not None:
            goes_on = calls.make_continue_unit(performed.call, performed.continues)
            return Finish(goes_on, self._jobs.wake)
        ended = performed.call
        is_passing = ended.error is not None and ended.error.kind in _PASSING
        # the caller of a paid call that is not async waits for its outcome: no retry
        is_async = invoker.get_action(call.action).kind == "async" if is_passing else False
        if is_async and calls.is_repeatable(call) and claim.failures < len(DELAYS):
            raise Retry("The action was not available.")
        return self._finish(ended)

    async def _follow(self, claim: ClaimedJob) -> Finish | None:
        """Find out how a call goes that was accepted elsewhere."""
        found = await self._find_call(claim)
        if found is None:
            return None
        call, invoker = found
        performed = await invoker.deferred_calls.follow(call, read_reference(claim))
        if performed.continues is not None:
            pause = find_pause(call, performed.continues.after, self._clock())
            raise Unfinished("The other site has not ended the call.", after=pause)
        return self._finish(performed.call)

    async def _look_again(
        self, calls: DeferredCalls, call: ActionCall, carried: CallJobPayload
    ) -> ActionCall | None:
        """Return the call as failed if it may no longer begin, else None."""
        is_paid = call.payment is not None
        if carried.is_approved:
            return await calls.recheck(call)
        if await was_revoked(self._store, call.asked_by.id, call.accepted_at or call.created_at):
            return mark_failed(call, Forbidden(REVOKED), int(self._clock()))
        return await calls.recheck(call) if is_paid else None

    def _ask_people(self, call: ActionCall, ticket: Ticket) -> Finish:
        """Hand a call to operators until it expires."""
        now = int(self._clock())
        kept = ticket_of_call(call, TicketKind.ACTION, ticket, now, call.expires_at)
        return Finish(partial(hand_call_to_people, call_id=call.id, ticket=kept))

    def _give_up(self, claim: ClaimedJob, _reason: str) -> Finish:
        """End a call that has used all its attempts."""
        invoker = self._invokers.get(claim.desk)
        if invoker is None:  # the site agent is gone; a retry needs it configured again
            return Finish()
        calls = invoker.deferred_calls
        ending = calls.make_end_unit(claim.ref, calls.end_interrupted, self._tell)
        return Finish(ending, self._jobs.wake)

    def _finish(self, ended: ActionCall) -> Finish:
        ending = self._invokers[ended.desk].deferred_calls.make_end_unit(
            ended.id, make_fixed_end(ended), self._tell
        )
        return Finish(ending, partial(self._ended, ended))

    def _ended(self, ended: ActionCall) -> None:
        """Count the call, and notify its caller and the followers of its thread."""
        self._invokers[ended.desk].counts.count_call(ended)
        self._jobs.wake()
        self._events.notify_end(ended.id)
        if ended.thread_id is not None:
            self._events.notify_change(ended.thread_id)
