"""What comes of calls that are paid: waited for by whoever has just paid, at every door alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from aitp_desk.desk.calls.reader import CallReader
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.plugins.messages.plain_text import render_parts, split_parts
from aitp_desk.desk.plugins.quotes import OpenQuote, find_open_quote
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.plugins.resumption import LOOKED_BACK
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.store.base import Store
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import threads as reads

WAIT_SECONDS = 20.0
"""So long the end of a call is waited for that is paid with its request."""


class PaymentSettlement:
    """Looks at calls that wait to be paid, and waits for what comes of those that are.

    Parameters:
        calls: those of the desk.
        clock: Unix seconds.
    """

    def __init__(
        self,
        capabilities: PluginRegistry,
        *,
        store: Store,
        calls: CallReader,
        following: Broadcaster,
        clock: Callable[[], float],
    ) -> None:
        self._capabilities = capabilities
        self._store = store
        self._calls = calls
        self._following = following
        self._clock = clock

    def is_payment(self, content: Sequence[str]) -> bool:
        """Whether what was said holds a message of a capability by which something is paid."""
        spoken = {one.capability for one in split_parts(content, self._capabilities)}
        said = [one for one in self._capabilities.all if one.slug in spoken]
        return any(one.capability.ways_to_pay() for one in said)

    async def list_unpaid(self, thread_id: str) -> tuple[str, ...]:
        """The calls on a thread that wait to be paid, by their ids."""
        if not self._capabilities:
            return ()
        waiting = await call_reads.calls_to_pay(self._store, thread_id)
        return tuple(call.id for call in waiting)

    async def list_paid_since(self, thread_id: str, since: int) -> tuple[ActionCall, ...]:
        """The calls on a thread that wait to be paid, or were paid since then.

        Parameters:
            since: Unix seconds.
        """
        if not self._capabilities:
            return ()
        return await call_reads.calls_to_pay(self._store, thread_id, since)

    async def filter_paid(self, unpaid: Sequence[str]) -> tuple[ActionCall, ...]:
        """Those of the calls that waited which are paid by now, or are being paid.

        Parameters:
            unpaid: as :meth:`list_unpaid` gives them.
        """
        found = [await self._calls.find(id_) for id_ in unpaid]
        return tuple([call for call in found if call is not None and await self._is_paid(call)])

    async def find_meant_call(self, said: Message, unpaid: Sequence[str]) -> str | None:
        """The call that a message has paid for, or was to pay for; None for no call.

        Parameters:
            said: the message, as it was posted.
            unpaid: as :meth:`list_unpaid` gave them before that.
        """
        if not unpaid:
            return None
        if paid := await self.filter_paid(unpaid):
            return paid[-1].id
        whole = await reads.message(self._store, said.thread_id, said.id)
        return unpaid[-1] if whole is not None and self.is_payment(whole.content) else None

    async def wait_settled(self, call: ActionCall, seconds: float | None = None) -> ActionCall:
        """Wait a while for the end of a call that is paid, or for what keeps it from that.

        Parameters:
            seconds: how long at most; None for `WAIT_SECONDS`.

        Returns:
            The call as it stands then.
        """
        with self._following.watch_thread(call.thread_id or "") as news, suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS if seconds is None else seconds):
                while True:
                    news.clear()
                    call = await self._calls.find(call.id) or call
                    if await self._is_settled(call):
                        break
                    await news.wait()
        return call

    async def get_quote(self, call: ActionCall) -> OpenQuote | None:
        """What can be paid for a call just now.

        Returns:
            None while what was paid is looked at, and once nothing is asked any more.
        """
        return await self._asked(call, int(self._clock()))

    async def read_reply_after(self, thread_id: str, seq: int) -> str:
        """What the desk has said last on a thread after a message, in words; empty for nothing.

        Parameters:
            seq: of that message; 0 for none.
        """
        newest = await reads.newest_messages(self._store, thread_id, LOOKED_BACK)
        said = [one for one in newest if one.seq > seq > 0 and one.origin is Origin.DESK]
        if not said:
            return ""
        last = max(said, key=lambda one: one.seq)
        return " ".join(render_parts(last.content, self._capabilities))

    async def _is_paid(self, call: ActionCall) -> bool:
        """Whether a call was paid, or what was paid for it is looked at."""
        if call.payment is None or call.answer is not None:  # it is declined, and goes on by that
            return False
        is_looked_at = call.state is CallState.WAITING_PAYMENT and not await self._is_asked(call)
        return bool(call.payment.payment_id) or is_looked_at

    async def _is_asked(self, call: ActionCall) -> bool:
        """Whether a call is to be paid yet, and nothing that was paid is looked at.

        A quote whose time is over is still asked: what was offered for it in vain is told at once.
        """
        return await self._asked(call, 0) is not None

    async def _asked(self, call: ActionCall, now: int) -> OpenQuote | None:
        if call.thread_id is None or call.state is not CallState.WAITING_PAYMENT:
            return None
        return await find_open_quote(self._store, self._capabilities, call.thread_id, call.id, now)

    async def _is_settled(self, call: ActionCall) -> bool:
        match call.state:
            case CallState.STARTED:
                return False
            case CallState.WAITING_PAYMENT:
                return await self._is_asked(call)
            case _:
                return True
