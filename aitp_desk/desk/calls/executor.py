"""Runs the site's own code for a call, under the deadline of its action."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from aitp_desk.actions.base import (
    ActionResult,
    CallContinues,
    Caller,
    Context,
    OfferedAction,
    OfferedResource,
    OutcomeUnknown,
    no_precondition,
)
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.calls.invocation import ActionOutput
from aitp_desk.desk.calls.metrics import CallMetrics
from aitp_desk.desk.calls.outcomes import (
    OUTCOME_UNKNOWN,
    hide_faults,
    mark_failed,
    mark_succeeded,
    mark_unknown,
)
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import DEADLINE_SECONDS, Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.resource import Resource
from aitp_desk.model.errors import DeskError, InternalError, PreconditionFailed, Unavailable
from aitp_desk.model.ids import digest_thread
from aitp_desk.model.money import Money
from aitp_desk.model.redaction import is_hiding, redact_json, redact_text
from aitp_desk.model.text import write_count
from aitp_desk.store.units.calls.calls import tell_progress


class CallExecutor:
    """Runs the site's own code: checks, prices, approval rules and actions.

    Parameters:
        counts: receives how long executions took.
    """

    def __init__(self, context: DeskContext, counts: CallMetrics) -> None:
        self._store = context.store
        self._counts = counts
        self._clock = context.clock

    async def check_call(
        self, offered: OfferedAction, value: Any, context: Context
    ) -> Money | None:
        """Check the preconditions of a call, and return its price.

        Raises:
            DeskError: the site's code refuses the call.
            Unavailable: the check took longer than the action's deadline.
        """
        action = offered.action
        if offered.check is no_precondition and not action.has_price:
            return action.cost
        with self._looking(action, context):
            async with asyncio.timeout(action.deadline_seconds):
                await offered.check(value, context)
                return await offered.price(value, context) if action.has_price else action.cost

    @contextmanager
    def _looking(self, action: Action, context: Context) -> Iterator[None]:
        try:
            with hide_faults(action.name, context.call_id):
                yield
        except TimeoutError:
            raise Unavailable(
                f"{action.name} could not be checked within"
                f" {write_count(action.deadline_seconds, 'second')}. Nothing was done."
            ) from None

    async def recheck_call(
        self, offered: OfferedAction, value: Any, call: ActionCall, context: Context
    ) -> None:
        """Check whether a call that was checked earlier can still be executed.

        The price of a paid call is not checked again: it costs what was paid.

        Raises:
            PreconditionFailed: it cannot, or its price has changed.
            Unavailable: as :meth:`check_call`.
        """
        if call.payment is not None:
            with self._looking(offered.action, context):
                async with asyncio.timeout(offered.action.deadline_seconds):
                    await offered.check(value, context)
            return
        price = await self.check_call(offered, value, context)
        agreed = call.price
        if price != agreed and not (price and agreed and price.is_same(agreed)):
            raise PreconditionFailed(
                f"It now costs {price or 'nothing'}, but the agreed price was"
                f" {agreed or 'nothing'}. Nothing was done."
            )

    async def needs_approval(self, offered: OfferedAction, value: Any, context: Context) -> bool:
        """Return whether an operator must approve a call before it is executed.

        Raises:
            Unavailable: as :meth:`check_call`.
        """
        if offered.action.approval != "sometimes":
            return offered.action.approval == "always"
        with self._looking(offered.action, context):
            async with asyncio.timeout(offered.action.deadline_seconds):
                return await offered.needs_approval(value, context)

    def make_context(self, call: ActionCall, *, tells: bool = False) -> Context:
        """Return the context of a call for the site's own code.

        Parameters:
            tells: whether progress that the code reports is stored.
        """

        def tell(text: str) -> None:
            self._store.record(tell_progress, call_id=call.id, progress=redact_text(text))

        return self.make_context_for(
            call.asked_by, call.id, tell if tells else None, call.thread_id
        )

    def make_context_for(
        self,
        principal: Principal,
        id_: str,
        tell: Callable[[str], None] | None = None,
        thread_id: str | None = None,
    ) -> Context:
        """Return the context of work for a principal, for the site's own code.

        Parameters:
            tell: receives the progress that the code reports.
            thread_id: opens the thread, so the code receives a digest of it.
        """
        caller = Caller(principal.owner, tuple(sorted(principal.scopes)), principal.via)
        conversation = "" if thread_id is None else digest_thread(thread_id)
        return Context(id_, caller, tell, self._clock, conversation)

    async def read_resource(
        self, offered: OfferedResource, variables: Mapping[str, str], context: Context
    ) -> Resource:
        """Read a resource.

        Raises:
            Unavailable: reading took longer than the deadline.
        """
        name = offered.type.name
        try:
            with hide_faults(name, context.call_id):
                async with asyncio.timeout(DEADLINE_SECONDS):
                    return await offered.read(variables, context)
        except TimeoutError:
            raise Unavailable(
                f"{name} could not be read within {DEADLINE_SECONDS:g} seconds."
            ) from None

    async def execute(
        self, offered: OfferedAction, value: Any, call: ActionCall, context: Context
    ) -> ActionOutput:
        """Execute a call under the deadline of its action."""
        perform = self._follow if context.continued else self._perform
        output = await perform(offered, value, call, context)
        if context.spent is None:
            return output
        return replace(output, call=replace(output.call, spent=context.spent))

    async def _perform(
        self, offered: OfferedAction, value: Any, call: ActionCall, context: Context
    ) -> ActionOutput:
        action = offered.action
        try:
            with self._counts.measure_call(action), hide_faults(action.name, call.id):
                async with asyncio.timeout(action.deadline_seconds):
                    done = await offered.perform(value, context)
        except TimeoutError:
            late = (
                f"{action.name} took longer than {write_count(action.deadline_seconds, 'second')}."
            )
            if action.is_repeatable:
                error = Unavailable(late)
                return ActionOutput(mark_failed(call, error, int(self._clock())), error)
            late = f"{late} {OUTCOME_UNKNOWN}"
            return ActionOutput(mark_unknown(call, int(self._clock())), Unavailable(late))
        except CallContinues as continues:
            return ActionOutput(call, continues=continues)
        except OutcomeUnknown as unknown:
            told = Unavailable(f"{unknown} {OUTCOME_UNKNOWN}")
            return ActionOutput(mark_unknown(call, int(self._clock())), told)
        except DeskError as error:
            return ActionOutput(mark_failed(call, error, int(self._clock())), error)
        if (ticket := done.ticket) is not None:
            return ActionOutput(
                call,
                ticket=replace(
                    ticket, about=redact_text(ticket.about), note=redact_text(ticket.note)
                ),
            )
        done = _redact(done) if is_hiding() else done
        return ActionOutput(mark_succeeded(call, done, int(self._clock())))

    async def _follow(
        self, offered: OfferedAction, value: Any, call: ActionCall, context: Context
    ) -> ActionOutput:
        """Read how an accepted call goes elsewhere; failing to ends nothing."""
        again = CallContinues(context.continued)
        try:
            with hide_faults(offered.action.name, call.id):
                async with asyncio.timeout(offered.action.deadline_seconds):
                    done = await offered.perform(value, context)
        except CallContinues as continues:
            return ActionOutput(call, continues=continues)
        except (TimeoutError, InternalError):
            return ActionOutput(call, continues=again)
        except Unavailable as error:
            again.after = error.retry_after
            return ActionOutput(call, continues=again)
        except OutcomeUnknown:
            return ActionOutput(mark_unknown(call, int(self._clock())))
        except DeskError as error:
            return ActionOutput(mark_failed(call, error, int(self._clock())), error)
        done = _redact(done) if is_hiding() else done
        return ActionOutput(mark_succeeded(call, done, int(self._clock())))


def _redact(done: ActionResult) -> ActionResult:
    """Return a result with the call's secret arguments redacted."""
    effects = tuple(
        replace(effect, description=redact_text(effect.description)) for effect in done.side_effects
    )
    return replace(
        done, result=redact_json(done.result), text=redact_text(done.text), side_effects=effects
    )
