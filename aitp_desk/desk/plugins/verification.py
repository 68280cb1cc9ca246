"""Verifies a payment before anything of it is written.

It serves callers who know only the id of a quote: an invalid payment must leave no trace on the
thread of the quote.
"""

from __future__ import annotations

from functools import partial

from aitp_desk.capability import Job, Record, Send
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.plugins.judge import Judge, JudgedMessages, SpokenMessage
from aitp_desk.desk.plugins.messages.plain_text import render_parts
from aitp_desk.desk.plugins.messages.speakers import read_parties, read_speakers
from aitp_desk.desk.plugins.read_set import make_place
from aitp_desk.desk.plugins.registry import EnabledPlugin
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.reads import threads as reads

NOT_PAID = "The payment is not valid."


class PaymentVerifier:
    """Verifies payments.

    Parameters:
        send: sends HTTP requests for plugins.
    """

    def __init__(self, context: DeskContext, judge: Judge, send: Send) -> None:
        self._judge = judge
        self._store = context.store
        self._send = send
        self._clock = context.clock

    async def find_problem(
        self, principal: Principal, call: ActionCall, draft: Draft
    ) -> str | None:
        """Return why a message does not pay a call; None if it pays.

        Raises:
            InvalidRequest: the message breaks its schema.
            DeskError: a plugin refuses it.
        """
        thread_id = call.thread_id or ""
        kept = await reads.thread(self._store, thread_id)
        if kept is None:
            return NOT_PAID
        parts = self._judge.read_parts(draft.content)
        names = await read_speakers(self._store, principal, kept)
        said = SpokenMessage(new_id("msg", self._clock()), draft, names[0], parts, names=names)
        parties = await read_parties(self._store, kept)
        judged = await self._judge.judge_and_write(
            principal, thread_id, parties, (said,), _unwritten
        )
        effects = judged.effects
        if any(paid.call_id == call.id for paid in effects.payments):
            return None
        if effects.jobs:  # the plugin settles it in a job, unless it verifies now
            for placed in parts:
                job = self._job(placed.enabled, call)
                return await placed.enabled.capability.verify_payment(placed.part, job)
        told = [render_parts(one.content, self._judge.capabilities) for one in effects.said]
        return " ".join(text for texts in told for text in texts) or NOT_PAID

    def _job(self, enabled: EnabledPlugin, call: ActionCall) -> Job:
        return Job(
            ref=call.id,
            payload=None,
            now=int(self._clock()),
            thread_id=call.thread_id,
            read=partial(self._read, enabled),
            send=self._send,
        )

    async def _read(self, enabled: EnabledPlugin, key: str) -> Record | None:
        place = make_place(enabled.slug, enabled.capability.family, key)
        return await capability_reads.read_record(self._store, *place)


async def _unwritten(judged: JudgedMessages) -> JudgedMessages:
    return judged
