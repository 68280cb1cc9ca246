"""Having the site's own code look at a call and carry it out, under the deadline of its action."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aitp_desk.actions.base import Caller, Context, Offered
from aitp_desk.desk.call_counts import CallCounts
from aitp_desk.desk.call_ends import NOBODY_KNOWS, failed, faults, succeeded, unknown
from aitp_desk.desk.invocation import Performed
from aitp_desk.model.action import Action
from aitp_desk.model.call import ActionCall
from aitp_desk.model.errors import DeskError, PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from aitp_desk.store.base import Store
from aitp_desk.store.work.calls import tell_progress


class Performing:
    """Runs the site's own code.

    Parameters:
        counts: what is told of how long that took.
        clock: Unix seconds.
    """

    def __init__(self, store: Store, counts: CallCounts, clock: Callable[[], float]) -> None:
        self._store = store
        self._counts = counts
        self._clock = clock

    async def look(
        self, offered: Offered, value: Any, call: ActionCall, context: Context
    ) -> Money | None:
        """See whether a call can be carried out as things stand, and what it costs.

        Raises:
            Unavailable: that took longer than the call itself may.
        """
        action = offered.action
        with self._looking(action, call):
            async with asyncio.timeout(action.deadline_seconds):
                await offered.check(value, context)
                return await offered.price(value, context) if action.has_price else action.cost

    @contextmanager
    def _looking(self, action: Action, call: ActionCall) -> Iterator[None]:
        try:
            with faults(action, call):
                yield
        except TimeoutError:
            raise Unavailable(
                f"{action.name} could not be looked into within {action.deadline_seconds:g}"
                " seconds. Nothing was done."
            ) from None

    async def look_again(
        self, offered: Offered, value: Any, call: ActionCall, context: Context
    ) -> None:
        """See whether a call that was looked into some time ago can still be carried out.

        Raises:
            PreconditionFailed: it cannot, or it costs something else by now.
            Unavailable: as :meth:`look`.
        """
        try:
            price = await self.look(offered, value, call, context)
        except PreconditionFailed as error:
            helps = "" if error.recovery is None else f" {error.recovery.description}"
            raise PreconditionFailed(f"{error.message}{helps}", param=error.param) from None
        agreed = call.price
        if price != agreed and not (price and agreed and price.is_same(agreed)):
            raise PreconditionFailed(
                f"It costs {price or 'nothing'} by now, and {agreed or 'nothing'} was agreed to."
                " Nothing was done."
            )

    async def needs_approval(
        self, offered: Offered, value: Any, call: ActionCall, context: Context
    ) -> bool:
        """See whether a person of the site has to approve a call before it is carried out.

        Raises:
            Unavailable: as :meth:`look`.
        """
        if offered.action.approval != "sometimes":
            return offered.action.approval == "always"
        with self._looking(offered.action, call):
            async with asyncio.timeout(offered.action.deadline_seconds):
                return await offered.needs_approval(value, context)

    def context(self, call: ActionCall, *, tells: bool = False) -> Context:
        """What the site's own code is told of a call.

        Parameters:
            tells: whether what it says of its progress is kept.
        """
        by = call.asked_by
        caller = Caller(by.owner, tuple(sorted(by.scopes)))

        def tell(text: str) -> None:
            self._store.record(tell_progress, call_id=call.id, progress=text)

        return Context(call.id, caller, tell if tells else None, self._clock)

    async def perform(
        self, offered: Offered, value: Any, call: ActionCall, context: Context
    ) -> Performed:
        """Carry out a call under its deadline."""
        action = offered.action
        try:
            with self._counts.carrying_out(action), faults(action, call):
                async with asyncio.timeout(action.deadline_seconds):
                    done = await offered.perform(value, context)
        except TimeoutError:
            late = f"{action.name} took longer than {action.deadline_seconds:g} seconds."
            if action.is_repeatable:
                error = Unavailable(late)
                return Performed(failed(call, error, self._now()), error)
            late = f"{late} {NOBODY_KNOWS}"
            return Performed(unknown(call, self._now()), Unavailable(late))
        except DeskError as error:
            return Performed(failed(call, error, self._now()), error)
        if done.ticket is not None:
            return Performed(call, ticket=done.ticket)
        return Performed(succeeded(call, done, self._now()))

    def _now(self) -> int:
        return int(self._clock())
