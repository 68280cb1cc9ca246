"""Having the site's own code look at a call and carry it out, under the deadline of its action."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from aitp_desk.actions.base import Caller, Context, Done, Offered, OfferedResource
from aitp_desk.desk.calls.invocation import Performed
from aitp_desk.desk.calls.metrics import CallCounts
from aitp_desk.desk.calls.outcomes import NOBODY_KNOWS, failed, faults, succeeded, unknown
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import DEADLINE_SECONDS, Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.resource import Resource
from aitp_desk.model.errors import DeskError, PreconditionFailed, Unavailable
from aitp_desk.model.money import Money
from aitp_desk.model.redaction import hide, hide_in, is_hiding
from aitp_desk.store.base import Store
from aitp_desk.store.units.calls.calls import tell_progress


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

    async def look(self, offered: Offered, value: Any, context: Context) -> Money | None:
        """See whether a call can be carried out as things stand, and what it costs.

        Raises:
            Unavailable: that took longer than the call itself may.
        """
        action = offered.action
        with self._looking(action, context):
            async with asyncio.timeout(action.deadline_seconds):
                await offered.check(value, context)
                return await offered.price(value, context) if action.has_price else action.cost

    @contextmanager
    def _looking(self, action: Action, context: Context) -> Iterator[None]:
        try:
            with faults(action.name, context.call_id):
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

        What was paid costs what was paid.

        Raises:
            PreconditionFailed: it cannot, or it costs something else by now.
            Unavailable: as :meth:`look`.
        """
        if call.payment is not None:
            with self._looking(offered.action, context):
                async with asyncio.timeout(offered.action.deadline_seconds):
                    await offered.check(value, context)
            return
        price = await self.look(offered, value, context)
        agreed = call.price
        if price != agreed and not (price and agreed and price.is_same(agreed)):
            raise PreconditionFailed(
                f"It costs {price or 'nothing'} by now, and {agreed or 'nothing'} was agreed to."
                " Nothing was done."
            )

    async def needs_approval(self, offered: Offered, value: Any, context: Context) -> bool:
        """See whether a person of the site has to approve a call before it is carried out.

        Raises:
            Unavailable: as :meth:`look`.
        """
        if offered.action.approval != "sometimes":
            return offered.action.approval == "always"
        with self._looking(offered.action, context):
            async with asyncio.timeout(offered.action.deadline_seconds):
                return await offered.needs_approval(value, context)

    def context(self, call: ActionCall, *, tells: bool = False) -> Context:
        """What the site's own code is told of a call.

        Parameters:
            tells: whether what it says of its progress is kept.
        """

        def tell(text: str) -> None:
            self._store.record(tell_progress, call_id=call.id, progress=hide(text))

        return self.context_of(call.asked_by, call.id, tell if tells else None)

    def context_of(
        self, principal: Principal, id_: str, tell: Callable[[str], None] | None = None
    ) -> Context:
        """What the site's own code is told of what it does for somebody.

        Parameters:
            tell: is told of its progress.
        """
        caller = Caller(principal.owner, tuple(sorted(principal.scopes)))
        return Context(id_, caller, tell, self._clock)

    async def read(
        self, offered: OfferedResource, variables: Mapping[str, str], context: Context
    ) -> Resource:
        """Read a resource.

        Raises:
            Unavailable: that took longer than a call may.
        """
        name = offered.type.name
        try:
            with faults(name, context.call_id):
                async with asyncio.timeout(DEADLINE_SECONDS):
                    return await offered.read(variables, context)
        except TimeoutError:
            raise Unavailable(
                f"{name} could not be read within {DEADLINE_SECONDS:g} seconds."
            ) from None

    async def perform(
        self, offered: Offered, value: Any, call: ActionCall, context: Context
    ) -> Performed:
        """Carry out a call under its deadline."""
        action = offered.action
        try:
            with self._counts.carrying_out(action), faults(action.name, call.id):
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
        if (ticket := done.ticket) is not None:
            return Performed(
                call, ticket=replace(ticket, about=hide(ticket.about), note=hide(ticket.note))
            )
        return Performed(succeeded(call, _hidden(done), self._now()))

    def _now(self) -> int:
        return int(self._clock())


def _hidden(done: Done) -> Done:
    """What a call gave, without what was secret among its arguments."""
    if not is_hiding():
        return done
    effects = tuple(
        replace(effect, description=hide(effect.description)) for effect in done.side_effects
    )
    return replace(done, result=hide_in(done.result), text=hide(done.text), side_effects=effects)
