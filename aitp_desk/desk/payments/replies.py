"""Waits for the replies to a payment message.

No run answers it: the plugin has replied on the payment, and the result of the paid call is posted
on the thread when it ends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.threads.reader import NEWEST, ThreadReader
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.store.reads import threads as reads


class PaymentReplies:
    """Waits for the outcome of payments made on threads.

    Parameters:
        settlement, reader: of the same desk.
    """

    def __init__(
        self, context: DeskContext, settlement: PaymentSettlement, reader: ThreadReader
    ) -> None:
        self._settlement = settlement
        self._reader = reader
        self._store = context.store

    async def wait_for_replies(
        self, principal: Principal, said: Message, seconds: float
    ) -> tuple[Message, ...]:
        """Wait up to ``seconds`` for the outcome of a payment.

        Parameters:
            said: the message, as it was posted.

        Returns:
            The desk's messages since then, as far as the caller may read them; empty for a message
                that is no payment.
        """
        thread_id = said.thread_id
        whole = await reads.message(self._store, thread_id, said.id)
        if whole is None or not self._settlement.is_payment(whole.content):
            return ()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                known = await self._settlement.list_paid_since(thread_id, said.created_at)
                # a declined call continues by itself
                meant = [call.id for call in known if call.answer is None]
                for call in await self._settlement.filter_paid(meant):
                    await self._settlement.wait_settled(call, seconds)
        since = await reads.messages_between(
            self._store, thread_id, above=said.seq, below=reads.BEYOND, limit=NEWEST, order="asc"
        )
        replies = [one for one in since.items if one.origin is not Origin.VISITOR]
        return await self._reader.filter_readable(principal, thread_id, replies)
