"""Calling the site's actions for somebody: the one place that decides who may, and carries it out.

Whoever calls, and at whatever door, a call goes the same way:

    find → permit → read → preconditions → price and consent → a person's approval, where it takes
    one → ``started`` is on disk → the function, under its deadline → the end is on disk, with what
    is said of it

Nothing is on disk before the function may run. What only was read from words, and cannot easily be
undone, is not carried out before whoever asks has said yes to it; neither is anything that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from aitp_desk.actions.base import Context, Offered
from aitp_desk.desk.approving import ask_approval, waiting_for_approval
from aitp_desk.desk.call_counts import CallCounts
from aitp_desk.desk.call_ends import expired, failed, unknown
from aitp_desk.desk.calls import Calls
from aitp_desk.desk.invocation import (
    Accepted,
    Beside,
    ConsentNeeded,
    Ended,
    Invocation,
    Invoked,
    Performed,
    Say,
    call_of,
    has_consent,
    nothing_beside,
    say_nothing,
)
from aitp_desk.desk.offer import Offer
from aitp_desk.desk.performing import Performing
from aitp_desk.desk.results import end_in_words, offer_result
from aitp_desk.desk.scopes import check_open
from aitp_desk.desk.under_way import UnderWay
from aitp_desk.desk.writing_calls import WritingCalls
from aitp_desk.model.action import Action, may_invoke
from aitp_desk.model.audit import AuditKeys, own_auditor
from aitp_desk.model.call import ActionCall, CallError, CallState
from aitp_desk.model.chain import new_salt
from aitp_desk.model.errors import (
    DeskError,
    PreconditionFailed,
    UnknownAction,
)
from aitp_desk.model.ids import new_id
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import Origin
from aitp_desk.store.base import Store, Work
from aitp_desk.store.records import NewMessage
from aitp_desk.store.work.calls import Along, end_accepted, one_after_another

WAITS_SECONDS = 24 * 60 * 60
"""How long a call waits for what it still needs."""


class Invoking:
    """Calls actions within what a caller may do.

    Parameters:
        desk: name of the desk; empty for the site's own.
        actor: id of the desk's own actor.
        offered: the site's actions.
        take_on: what is written with an ``async`` call so that somebody carries it out.
        begun: told of such a call once it is on disk.
        clock: Unix seconds.

    Attributes:
        actions: all actions of the site's own, in the order of their declaration.
        names: what they are called.
        calls: how they stand.
        counts: what became of calls.
        performing: runs the site's own code.
    """

    def __init__(
        self,
        *,
        desk: str,
        actor: str,
        offered: Sequence[Offered],
        store: Store,
        audit: AuditKeys,
        expires_seconds: int,
        clock: Callable[[], float],
        take_on: Callable[[ActionCall], Along] | None = None,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._desk = desk
        self._actor = actor
        self._offered = {one.action.name: one for one in offered}
        self.actions = tuple(one.action for one in offered)
        self.names = frozenset(self._offered)
        self._audit = audit
        self._expires_seconds = expires_seconds
        self._clock = clock
        self._take_on = take_on
        self._begun = begun
        self.calls = Calls(desk, store, clock)
        self.counts = CallCounts()
        self.performing = Performing(store, self.counts, clock)
        self._writing = WritingCalls(store, audit, clock)
        self._under_way = UnderWay[ActionCall]()

    def action(self, name: str) -> Action:
        """An action of the site's own, by its name.

        Raises:
            KeyError: there is none.
        """
        return self._offered[name].action

    def in_words(self, call: ActionCall) -> str:
        """What is said of a call that is over."""
        offered = self._offered.get(call.action)
        return end_in_words(None if offered is None else offered.action, call)

    def offer(self, call: ActionCall) -> Offer:
        """A call that is over as an answer, in the form that its action prefers."""
        offered = self._offered.get(call.action)
        if offered is None:
            return Offer(self.in_words(call), tools_used=(call.action,))
        return offer_result(offered.action, call, (offered.action.answer_types[0], None))

    def open_to(self, principal: Principal) -> tuple[Action, ...]:
        """The actions that a caller may call."""
        return tuple(action for action in self.actions if may_invoke(principal.scopes, action))

    def find(self, principal: Principal, name: str) -> Offered:
        """Find an action for whoever wants to call it.

        Raises:
            UnknownAction: there is none of this name.
            NotAuthenticated: it is not open to callers without a credential.
            ScopeMissing: the caller's credential does not open it.
        """
        offered = self._offered.get(name)
        if offered is None:
            raise UnknownAction(
                f"There is no action named {name[:64]!r}.",
                available=tuple(action.name for action in self.open_to(principal)),
            )
        check_open(principal, offered.action.open_to, name, name)
        return offered

    async def invoke(
        self,
        principal: Principal,
        invocation: Invocation,
        say: Say = say_nothing,
        say_end: Say = say_nothing,
        beside: Beside = nothing_beside,
    ) -> Invoked:
        """Call an action.

        Parameters:
            say: what was said for it; written with the call before it is carried out.
            say_end: what is said of its end; written with that.
            beside: what else is written with either.

        Returns:
            How it ended, that it was taken on, or what must be agreed to first.

        Raises:
            UnknownAction, NotAuthenticated, ScopeMissing: as :meth:`find`.
            InvalidRequest: the arguments break the action's schema; ``param`` is the path.
            PreconditionFailed: it cannot be done as things stand.
            Unavailable: it did not end within its deadline, or cannot be done now.
            InternalError: the site's own code failed.
            DeskError: whatever else the action refuses.
        """
        offered = self.find(principal, invocation.name)
        action = offered.action
        call = self._new_call(principal, invocation)
        context = self.performing.context(call)
        value = offered.read(invocation.arguments)
        price = await self.performing.look(offered, value, context)
        if not has_consent(invocation, action, price):
            return ConsentNeeded(invocation, price)
        call = msgspec.structs.replace(call, price=price)
        if action.kind != "async":
            says = (say, say_end)
            work = self._begin_and_end(offered, value, call, context, invocation, says, beside)
            return Ended(await self._under_way.whole(call.id, work))
        call = msgspec.structs.replace(call, accepted_at=self._now())
        if await self.performing.needs_approval(offered, value, context):
            call = waiting_for_approval(call)
            follows: Along | None = ask_approval(action, call, self._clock())
        else:
            follows = self._along(call)
        along = one_after_another(beside(call, None), follows)
        await self._writing.begin(call, invocation.waiting, say, along)
        self._begun()
        return Accepted(call, await self.calls.eta_seconds(action.name))

    async def look_again(self, call: ActionCall) -> ActionCall | None:
        """See whether a call can still be carried out that a person has approved meanwhile.

        Returns:
            The call as it failed where it cannot; nothing is written of that yet.
        """
        offered = self._offered.get(call.action)
        if offered is None or call.expires_at < self._now():
            return None  # carrying it out says so
        try:
            value = offered.read(call.arguments)
            await self.performing.look_again(offered, value, call, self.performing.context(call))
        except DeskError as error:
            return failed(call, error, self._now())
        return None

    async def carry_out(self, call: ActionCall) -> Performed:
        """Carry out a call that is on disk as started; nothing is written of its end.

        It raises nothing that the action raised: the call says how it ended. It has not where
        people are to carry it out.
        """
        offered = self._offered.get(call.action)
        if offered is None:
            gone = PreconditionFailed("This action is not offered any more.")
            return Performed(failed(call, gone, self._now()))
        if call.expires_at < self._now():
            return Performed(expired(call, self._now()))
        try:
            value = offered.read(call.arguments)
        except DeskError as error:
            return Performed(failed(call, error, self._now()))
        return await self.performing.perform(
            offered, value, call, self.performing.context(call, tells=True)
        )

    def ending(
        self,
        call_id: str,
        end: Callable[[ActionCall], ActionCall],
        along: Callable[[ActionCall], Along | None] = lambda _call: None,
    ) -> Callable[[], Work[None]]:
        """Make the unit that ends a call which goes on by itself, and says so on its thread."""
        now = self._clock()
        return partial(
            end_accepted,
            call_id=call_id,
            end=end,
            say=partial(self._say_end, new_id("msg", now), new_salt()),
            by=own_auditor(self._audit, int(now)),
            now=int(now),
            along=along,
        )

    def cut(self, call: ActionCall) -> ActionCall:
        """A call that was cut short and may not be repeated: nobody knows what became of it."""
        return unknown(call, self._now())

    async def settle(self, calls: Sequence[ActionCall]) -> None:
        """Wait until none of these calls is at work in this process."""
        await self._under_way.settle(call.id for call in calls)

    def may_repeat(self, call: ActionCall) -> bool:
        """Whether a call that was cut short may be carried out again, with the same id."""
        offered = self._offered.get(call.action)
        return offered is not None and offered.action.is_repeatable

    async def wait_for(
        self,
        principal: Principal,
        needed: ConsentNeeded,
        memory: Mapping[str, Any] | None,
        say: Say,
    ) -> ActionCall:
        """Write down a call that waits for an argument, or to be agreed to.

        Parameters:
            memory: what was read so far, and asked for; None where it only is to be agreed to.
        """
        invocation = needed.invocation
        before = invocation.waiting
        call = msgspec.structs.replace(
            before or self._new_call(principal, invocation),
            state=CallState.WAITING_INPUT,
            source=invocation.source,
            arguments=invocation.arguments,
            memory=memory,
            price=needed.price,
            expires_at=self._now() + WAITS_SECONDS,
        )
        await self._writing.move(call, before, say)
        return call

    async def decline(self, call: ActionCall, say: Say) -> ActionCall:
        """End a call that waits, because whoever asked does not want it any more."""
        declined = CallError("declined", "It was declined; nothing was done.")
        ended = call.move(CallState.FAILED, error=declined, ended_at=self._now())
        await self._writing.move(ended, call, say)
        return ended

    def _new_call(self, principal: Principal, invocation: Invocation) -> ActionCall:
        now = self._clock()
        return call_of(
            invocation, principal, self._desk, now=now, expires_at=int(now) + self._expires_seconds
        )

    async def _begin_and_end(
        self,
        offered: Offered,
        value: Any,
        call: ActionCall,
        context: Context,
        invocation: Invocation,
        says: tuple[Say, Say],
        beside: Beside,
    ) -> ActionCall:
        """Write down that a call is begun, carry it out, and write down how it ended.

        Parameters:
            says: what is said for it, and of its end.

        Raises:
            DeskError: why it failed; that is on disk.
        """
        say, say_end = says
        await self._writing.begin(call, invocation.waiting, say, beside(call, None))
        performed = await self.performing.perform(offered, value, call, context)
        along = beside(performed.call, performed.error)
        await self._writing.end(performed.call, call, say_end, along)
        self.counts.note(performed.call)
        if performed.error is not None:
            raise performed.error
        return performed.call

    def _say_end(self, id_: str, salt: bytes, call: ActionCall) -> NewMessage:
        """What is said on its thread of a call that ended by itself."""
        said = self.in_words(call)
        notes = {"calls": call.id, "tools_used": call.action}
        return NewMessage(id_, salt, "assistant", self._actor, Origin.DESK, (said,), metadata=notes)

    def _along(self, call: ActionCall) -> Along | None:
        return None if self._take_on is None else self._take_on(call)

    def _now(self) -> int:
        return int(self._clock())
