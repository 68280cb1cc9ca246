"""Calls that wait: for an argument, or to be agreed to. Nothing of them was carried out yet.

Each step can be written down at once, or be made part of a unit that writes more.
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
from aitp_desk.model.errors import DeskError
from aitp_desk.store.units.calls.calls import ExtraStatements, move_call


class PendingCalls:
    """Has calls wait, and ends those that are not made.

    Parameters:
        secrets: keeps apart what is secret among arguments.
        new: makes a call that is begun now.
        clock: Unix seconds.
    """

    def __init__(
        self,
        writing: CallRepository,
        secrets: ArgumentSecrets,
        new: Callable[[Principal, Invocation], ActionCall],
        clock: Callable[[], float],
    ) -> None:
        self._writing = writing
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
        """Write down a call that waits for an argument, to be agreed to, or to be paid.

        Parameters:
            memory: what was read so far, and asked for; None where it only is to be agreed to or
                paid.
        """
        call = await self.make_pending(principal, needed, memory)
        await self._writing.move(call, needed.invocation.waiting, say)
        return call

    async def make_pending(
        self, principal: Principal, needed: Requirement, memory: Mapping[str, Any] | None
    ) -> ActionCall:
        """A call as it waits.

        As :meth:`write_pending` writes it down; what is secret is put away.
        """
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
        """End a call that waits, because whoever asked does not want it any more."""
        ended = self.make_declined(call)
        await self._writing.move(ended, call, say)
        return ended

    def make_declined(self, call: ActionCall) -> ActionCall:
        """A call that waited, as :meth:`decline` writes it down."""
        declined = CallError("declined", "It was declined; nothing was done.")
        ended = call.move(CallState.FAILED, error=declined, ended_at=self._now())
        return msgspec.structs.replace(ended, answer=None)

    async def refuse(self, call: ActionCall, error: DeskError, say: WriteMessages) -> None:
        """End a call that waits, because it cannot be made any more."""
        await self._writing.move(self.make_refused(call, error), call, say)

    def make_refused(self, call: ActionCall, error: DeskError) -> ActionCall:
        """A call that waited, and cannot be made any more."""
        return msgspec.structs.replace(mark_failed(call, error, self._now()), answer=None)

    def make_move(self, call: ActionCall, before: ActionCall) -> ExtraStatements:
        """Make the part of a unit that writes down a call of which nothing was carried out.

        It raises PreconditionFailed where the call stands otherwise by then.
        """
        return partial(
            move_call, call=call, before=before.state, turn=None, by=None, now=self._now()
        )

    def _now(self) -> int:
        return int(self._clock())
