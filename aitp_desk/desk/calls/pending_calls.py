"""Stores calls that wait for an argument, consent or payment.

Nothing of them was executed yet. Each step can be stored at once, or become part of a larger unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from aitp_desk.desk.calls.argument_secrets import ArgumentSecrets
from aitp_desk.desk.calls.invocation import Invocation, PaymentNeeded, Requirement, WriteMessages
from aitp_desk.desk.calls.outcomes import mark_failed
from aitp_desk.desk.calls.repository import CallRepository
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import WAITS_SECONDS, ActionCall, CallError, CallPayment, CallState
from aitp_desk.model.error_kind import FailureCode
from aitp_desk.model.errors import DeskError
from aitp_desk.store.units.calls.calls import (
    ExtraStatements,
    begin_call,
    forgetting_answer,
    move_call,
)


class PendingCalls:
    """Stores pending calls, and ends those that are declined or refused.

    Parameters:
        new: builds a call that begins now.
        clock: Unix seconds.
    """

    def __init__(
        self,
        repository: CallRepository,
        secrets: ArgumentSecrets,
        new: Callable[[Principal, Invocation], ActionCall],
        clock: Callable[[], float],
    ) -> None:
        self._repository = repository
        self._secrets = secrets
        self._new = new
        self._clock = clock

    async def write_pending(
        self,
        principal: Principal,
        needed: Requirement,
        memory: Mapping[str, Any] | None,
        say: WriteMessages,
    ) -> ActionCall:
        """Store a call that waits for an argument, consent or payment.

        Parameters:
            memory: the values read and the questions asked so far; None if it waits only for
                consent or payment.
        """
        call = await self.make_pending(principal, needed, memory)
        await self._repository.move(call, needed.invocation.waiting, say)
        return call

    async def make_pending(
        self, principal: Principal, needed: Requirement, memory: Mapping[str, Any] | None
    ) -> ActionCall:
        """Return the call that :meth:`write_pending` stores; its secrets are sealed."""
        invocation = needed.invocation
        new = self._new(principal, invocation)
        is_to_pay = isinstance(needed, PaymentNeeded)
        waits = msgspec.structs.replace(
            invocation.waiting or new,
            state=CallState.WAITING_PAYMENT if is_to_pay else CallState.WAITING_INPUT,
            payment=CallPayment(new.expires_at - self._now()) if is_to_pay else None,
            callback_url=new.callback_url,
            source=invocation.source,
            arguments=invocation.arguments,
            memory=memory,
            price=needed.price,
            expires_at=self._now() + WAITS_SECONDS,
            answer=None,
        )
        return await self._secrets.seal_secrets(waits)

    async def decline(self, call: ActionCall, say: WriteMessages) -> ActionCall:
        """End a pending call that its caller no longer wants."""
        ended = self.make_declined(call)
        await self._repository.move(ended, call, say)
        return ended

    def make_declined(self, call: ActionCall) -> ActionCall:
        """Return the call that :meth:`decline` stores."""
        declined = CallError(FailureCode.DECLINED.value, "It was declined; nothing was done.")
        ended = call.move(CallState.FAILED, error=declined, ended_at=self._now())
        return msgspec.structs.replace(ended, answer=None)

    async def refuse(self, call: ActionCall, error: DeskError, say: WriteMessages) -> None:
        """End a pending call that can no longer be made."""
        await self._repository.move(self.make_refused(call, error), call, say)

    def make_refused(self, call: ActionCall, error: DeskError) -> ActionCall:
        """Return the call that :meth:`refuse` stores."""
        return msgspec.structs.replace(mark_failed(call, error, self._now()), answer=None)

    def make_move(self, call: ActionCall, before: ActionCall) -> ExtraStatements:
        """Return the statements that store the new state of a call not executed.

        They raise PreconditionFailed if the state of the call has changed meanwhile.
        """
        return partial(
            move_call, call=call, before=before.state, turn=None, by=None, now=self._now()
        )

    def make_begin(self, pending: ActionCall, after: ActionCall) -> ExtraStatements:
        """Return the statements that store a new call, which waits.

        Parameters:
            after: the ended call that it repeats.
        """
        return partial(
            begin_call,
            call=pending,
            turn=None,
            by=None,
            now=self._now(),
            extra_statements=forgetting_answer(after.id),
        )

    def _now(self) -> int:
        return int(self._clock())
