"""Calls the site's actions: the only place that authorizes and executes calls.

Every call takes the same path, for every caller and protocol:

    find → authorize → validate → preconditions → price and consent → approval by an operator, if
    required → store ``started`` → the function, under its deadline → store the end and its message

Nothing is stored before the function may run. Arguments read from text need the caller's consent
if the action cannot easily be undone; so does anything that costs. A prepaid call is agreed to
by paying, and then runs in the background (``async_calls.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.actions.base import Context, OfferedAction
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_access
from aitp_desk.desk.access.sealed_values import Sealer
from aitp_desk.desk.calls.approval import make_approval_ticket, make_pending_approval
from aitp_desk.desk.calls.argument_secrets import ArgumentSecrets
from aitp_desk.desk.calls.deferral import DeferredCalls
from aitp_desk.desk.calls.executor import CallExecutor
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    ConsentRequired,
    ExtraWrites,
    Invocation,
    InvocationOutcome,
    PaymentNeeded,
    Requirement,
    WriteMessages,
    has_consent,
    make_call,
    write_no_messages,
)
from aitp_desk.desk.calls.metrics import CallMetrics
from aitp_desk.desk.calls.pending_calls import PendingCalls
from aitp_desk.desk.calls.reader import CallReader
from aitp_desk.desk.calls.repository import CallRepository
from aitp_desk.desk.calls.results import offer_result
from aitp_desk.desk.jobs.shield import TaskShield
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.calls.call import CALL_PREFIX, ActionCall
from aitp_desk.model.errors import UnknownAction
from aitp_desk.model.ids import new_id
from aitp_desk.model.redaction import hide_secrets
from aitp_desk.store.units.calls.calls import ExtraStatements, one_after_another


class ActionInvoker:
    """Calls actions on behalf of a principal, within its permissions.

    Parameters:
        offered: the site's actions.
        sealer: seals secret arguments.
        take_on: builds the statements that enqueue an ``async`` call, stored with it.
        begun: called once such a call is stored.

    Attributes:
        actions: all actions of the site's own, in the order of their declaration.
        names: their names.
        calls: reads stored calls.
        counts: counts of ended calls.
        executor: runs the site's own code.
        secrets: redacts and seals secret arguments.
        pending_calls: stores calls that wait for arguments, consent or payment.
        deferred_calls: executes accepted and interrupted calls.
    """

    def __init__(
        self,
        context: DeskContext,
        offered: Sequence[OfferedAction],
        *,
        sealer: Sealer,
        expires_seconds: int,
        take_on: Callable[[ActionCall], ExtraStatements] | None = None,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._context = context
        self._offered = {one.action.name: one for one in offered}
        self.actions = tuple(one.action for one in offered)
        self.names = frozenset(self._offered)
        self._expires_seconds = expires_seconds
        self._clock = context.clock
        self._take_on = take_on
        self._begun = begun
        self.calls = CallReader(context)
        self.counts = CallMetrics()
        self.executor = CallExecutor(context, self.counts)
        self.secrets = ArgumentSecrets(self.actions, context.store, sealer)
        self._repository = CallRepository(context)
        self.deferred_calls = DeferredCalls(context, self._offered, self.executor, self.secrets)
        self.pending_calls = PendingCalls(
            self._repository, self.secrets, self._new_call, context.clock
        )
        self._shield = TaskShield[ActionCall]()

    def get_action(self, name: str) -> Action:
        """Return an action of the site's own by name.

        Raises:
            KeyError: there is none.
        """
        return self._offered[name].action

    def offer_result(self, call: ActionCall) -> Offer:
        """Return a call that is over as an answer, in its action's preferred type."""
        offered = self._offered.get(call.action)
        if offered is None:
            return Offer(self.deferred_calls.describe_result(call), tools_used=(call.action,))
        return offer_result(offered.action, call, (offered.action.answer_types[0], None))

    def list_callable(self, principal: Principal) -> tuple[Action, ...]:
        """Return the actions that a caller may call."""
        return tuple(action for action in self.actions if may_invoke(principal.scopes, action))

    def find(self, principal: Principal, name: str) -> OfferedAction:
        """Return an action that the caller may call.

        Raises:
            UnknownAction: there is none of this name.
            NotAuthenticated: it is not open to callers without a credential.
            ScopeMissing: the caller's credential does not open it.
        """
        offered = self._offered.get(name)
        if offered is None:
            names = tuple(action.name for action in self.list_callable(principal))
            there = f"; there {'are' if len(names) > 1 else 'is'} {', '.join(names)}"
            raise UnknownAction(
                f"There is no action named {name[:64]!r}{there if names else ''}.", available=names
            )
        check_access(principal, offered.action.open_to, name, name)
        return offered

    async def invoke(
        self,
        principal: Principal,
        invocation: Invocation,
        say: WriteMessages = write_no_messages,
        say_end: WriteMessages = write_no_messages,
        extra: ExtraWrites | None = None,
    ) -> InvocationOutcome:
        """Call an action.

        Parameters:
            say: builds the messages about the request, stored with the call before it is executed.
            say_end: builds the messages about its end, stored with that.
            extra: builds further statements for both commits; None for none.

        Returns:
            How it ended, that it was accepted, or which consent or payment it needs first.

        Raises:
            UnknownAction, NotAuthenticated, ScopeMissing: as :meth:`find`.
            InvalidRequest: the arguments break the action's schema; ``param`` is the path.
            PreconditionFailed: its preconditions do not hold.
            Unavailable: it did not end within its deadline, or cannot be done now.
            InternalError: the site's own code failed.
            DeskError: any other refusal of the action.
        """
        offered = self.find(principal, invocation.name)
        action = offered.action
        call = self._new_call(principal, invocation)
        # references are valid only in a call that waited: its arguments were stored by the desk
        given = invocation.arguments
        if invocation.waiting is not None:
            given = await self.secrets.restore_secrets(call)
        with hide_secrets(self.secrets.list_secret_texts(action.name, given)):
            return await self._invoke(
                principal, offered, given, call, invocation, (say, say_end), extra
            )

    async def _invoke(
        self,
        principal: Principal,
        offered: OfferedAction,
        given: Mapping[str, Any],
        call: ActionCall,
        invocation: Invocation,
        says: tuple[WriteMessages, WriteMessages],
        extra: ExtraWrites | None,
    ) -> InvocationOutcome:
        """Call an action with ``given``, the arguments with secrets in place."""
        action, (say, _) = offered.action, says
        context = self.executor.make_context(call)
        value = offered.read(given)
        price = await self.executor.check_call(offered, value, context)
        if action.is_prepaid and price is not None and price.amount > 0:
            return PaymentNeeded(invocation, price)
        if action.is_prepaid and action.kind != "query" and action.is_open:
            # strangers may change what they pay for: what is free this time is for known callers
            check_access(principal, "actions", action.name, action.name)
        if not has_consent(invocation, action, price):
            return ConsentRequired(invocation, price)
        call = await self.secrets.seal_secrets(msgspec.structs.replace(call, price=price))
        if action.kind != "async":
            work = self._begin_and_end(offered, value, call, context, invocation, says, extra)
            made = await self._shield.run_shielded(call.id, work)
            return CompletedCall(made) if made.is_over else AcceptedCall(made, None)
        call = msgspec.structs.replace(call, accepted_at=self._now())
        if await self.executor.needs_approval(offered, value, context):
            call = make_pending_approval(call)
            follows: ExtraStatements | None = make_approval_ticket(action, call, self._clock())
        else:
            follows = self._along(call)
        extra_statements = one_after_another(None if extra is None else extra(call, None), follows)
        await self._repository.begin(call, invocation.waiting, say, extra_statements)
        self._begun()
        return AcceptedCall(call, await self.calls.eta_seconds(action.name))

    async def wait_idle(self, calls: Sequence[ActionCall]) -> None:
        """Wait until none of these calls is executing in this process."""
        await self._shield.wait_for_all(call.id for call in calls)

    async def renew(self, needed: Requirement) -> Requirement:
        """Return what a call needs: a new one, if its action has refused the pending one."""
        waiting = needed.invocation.waiting
        stands = None if waiting is None else await self.calls.find(waiting.id)
        if stands is None or stands.waits_for_asker:
            return needed
        invocation = msgspec.structs.replace(needed.invocation, waiting=None, id=self.new_call_id())
        return msgspec.structs.replace(needed, invocation=invocation)

    def new_call_id(self) -> str:
        """Return an id for a new call."""
        return new_id(CALL_PREFIX, self._clock())

    def make_context(self, principal: Principal, call: ActionCall | None) -> Context:
        """Return the context of a call, present or new, for the site's code."""
        if call is not None:
            return self.executor.make_context(call)
        return self.executor.make_context_for(principal, self.new_call_id())

    def _new_call(self, principal: Principal, invocation: Invocation) -> ActionCall:
        now = self._clock()
        return make_call(
            invocation,
            principal,
            self._context.name,
            now=now,
            expires_at=int(now) + self._expires_seconds,
        )

    async def _begin_and_end(
        self,
        offered: OfferedAction,
        value: Any,
        call: ActionCall,
        context: Context,
        invocation: Invocation,
        says: tuple[WriteMessages, WriteMessages],
        extra: ExtraWrites | None,
    ) -> ActionCall:
        """Store that a call begins, execute it, and store how it went.

        Raises:
            DeskError: why it failed; the failure is stored.
        """
        say, say_end = says
        extra_statements = None if extra is None else extra(call, None)
        await self._repository.begin(call, invocation.waiting, say, extra_statements)
        performed = await self.executor.execute(offered, value, call, context)
        if performed.continues is not None:
            await self._repository.write_continuing(
                self.deferred_calls.make_continue_unit(performed.call, performed.continues)
            )
            self._begun()
            return await self.calls.find(call.id) or performed.call
        extra_statements = None if extra is None else extra(performed.call, performed.error)
        await self._repository.end(performed.call, call, say_end, extra_statements)
        self.counts.count_call(performed.call)
        if performed.error is not None:
            raise performed.error
        return performed.call

    def _along(self, call: ActionCall) -> ExtraStatements | None:
        return None if self._take_on is None else self._take_on(call)

    def _now(self) -> int:
        return int(self._clock())
