"""Waits for the outcome of a paid call; used by every protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.calls.reader import CallReader
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.plugins.messages.parts import may_have_structure
from aitp_desk.desk.plugins.messages.plain_text import render_parts, split_parts
from aitp_desk.desk.plugins.quotes import OpenQuote, find_open_quote
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.plugins.resumption import LOOKED_BACK
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads

WAIT_SECONDS = 20.0
"""How long a request that pays waits for the end of the call."""


class PaymentSettlement:
    """Finds calls that wait for payment, and waits for the outcome of paid ones.

    Parameters:
        calls: the calls of the desk.

    Attributes:
        capabilities: the enabled plugins.
    """

    def __init__(
        self,
        context: DeskContext,
        capabilities: PluginRegistry,
        calls: CallReader,
        events: Broadcaster,
    ) -> None:
        self.capabilities = capabilities
        self._store = context.store
        self._calls = calls
        self._events = events
        self._clock = context.clock

    def is_payment(self, content: Sequence[str]) -> bool:
        """Return whether a message contains a part of a plugin that accepts payments."""
        if not may_have_structure(content):
            return False
        spoken = {one.capability for one in split_parts(content, self.capabilities)}
        said = [one for one in self.capabilities.all if one.slug in spoken]
        return any(one.capability.ways_to_pay() for one in said)

    async def list_unpaid(self, thread_id: str) -> tuple[str, ...]:
        """Return the ids of a thread's calls that wait for payment."""
        if not self.capabilities:
            return ()
        waiting = await call_reads.calls_to_pay(self._store, thread_id)
        return tuple(call.id for call in waiting)

    async def list_paid_since(self, thread_id: str, since: int) -> tuple[ActionCall, ...]:
        """Return a thread's calls that wait for payment, or were paid since a time.

        Parameters:
            since: Unix seconds.
        """
        if not self.capabilities:
            return ()
        return await call_reads.calls_to_pay(self._store, thread_id, since)

    async def filter_paid(self, unpaid: Sequence[str]) -> tuple[ActionCall, ...]:
        """Return the calls that are paid, or whose payment is being checked.

        Parameters:
            unpaid: as returned by :meth:`list_unpaid`.
        """
        found = [await self._calls.find(id_) for id_ in unpaid]
        return tuple([call for call in found if call is not None and await self._is_paid(call)])

    async def find_meant_call(self, said: Message, unpaid: Sequence[str]) -> str | None:
        """Return the id of the call that a message paid, or should have.

        None for none.

        Parameters:
            said: the message, as it was posted.
            unpaid: as returned by :meth:`list_unpaid` before that.
        """
        if not unpaid:
            return None
        if paid := await self.filter_paid(unpaid):
            return paid[-1].id
        whole = await reads.message(self._store, said.thread_id, said.id)
        return unpaid[-1] if whole is not None and self.is_payment(whole.content) else None

    async def wait_settled(self, call: ActionCall, seconds: float | None = None) -> ActionCall:
        """Wait for the end of a paid call, or for what prevents it.

        Parameters:
            seconds: the maximum; None for :data:`WAIT_SECONDS`.

        Returns:
            The call in its state then.
        """
        with self._events.watch_thread(call.thread_id or "") as news, suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS if seconds is None else seconds):
                while True:
                    news.clear()
                    call = await self._calls.find(call.id) or call
                    if await self._is_settled(call):
                        break
                    await news.wait()
        return call

    async def get_quote(self, call: ActionCall) -> OpenQuote | None:
        """Return the quote by which a call can be paid now.

        Returns:
            None while a payment is being checked, and once no payment is requested any more.
        """
        return await self._asked(call, int(self._clock()))

    async def is_asked(self, call: ActionCall) -> bool:
        """Return whether a call still waits for a payment, with none being checked.

        An expired quote still counts: a payment for it is rejected at once.
        """
        return await self._asked(call, 0) is not None

    async def read_reply_after(self, thread_id: str, seq: int) -> str:
        """Return the desk's last message after a message, as text.

        Empty for none.

        Parameters:
            seq: of that message; 0 for none.
        """
        newest = await reads.newest_messages(self._store, thread_id, LOOKED_BACK)
        said = [one for one in newest if one.seq > seq > 0 and one.origin is Origin.DESK]
        if not said:
            return ""
        last = max(said, key=lambda one: one.seq)
        return " ".join(render_parts(last.content, self.capabilities))

    async def _is_paid(self, call: ActionCall) -> bool:
        """Return whether a call was paid, or its payment is being checked."""
        if call.payment is None or call.answer is not None:  # a declined call continues by itself
            return False
        is_looked_at = call.state is CallState.WAITING_PAYMENT and not await self.is_asked(call)
        return bool(call.payment.payment_id) or is_looked_at

    async def _asked(self, call: ActionCall, now: int) -> OpenQuote | None:
        if call.thread_id is None or call.state is not CallState.WAITING_PAYMENT:
            return None
        return await find_open_quote(self._store, self.capabilities, call.thread_id, call.id, now)

    async def _is_settled(self, call: ActionCall) -> bool:
        match call.state:
            case CallState.STARTED:
                return False
            case CallState.WAITING_PAYMENT:
                return await self.is_asked(call)
            case _:
                return True
