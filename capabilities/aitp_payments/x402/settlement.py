"""Settles a payment: requested once, retried until its result is known, booked once.

Jobs, each started in the commit of the previous one. ``ask`` calls the facilitator; the response is
stored in a record that no other code writes, so that a success is never lost to a race. ``book``
then books it, and may be judged again any number of times. ``remind`` reminds people of results
that only they can find out.

A refusal counts only if nothing can have moved before: once settlement was requested without a
response, too few coins or a used authorisation may be the result of that request. So the request is
recorded, and a job in its second attempt assumes that it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Audit, Context, Effect, Job, Say, Start, Wanted
from aitp_payments.ledger.names import outside
from aitp_payments.records import RECEIPT, PaymentRecord, find_payment, read_payment
from aitp_payments.settlement.confirmations import told as told_price
from aitp_payments.settlement.lifecycle import SettlementService, received
from aitp_payments.x402.chain import Lapsed, Node
from aitp_payments.x402.facilitator import (
    Facilitator,
    NotTaken,
    Refused,
    Settled,
    Unknown,
    Valid,
)
from aitp_payments.x402.payload import LEAST_LEFT
from aitp_payments.x402.reasons import told
from aitp_payments.x402.records import UnderWay, keep_way, read_way, way_key

ASK, BOOK, REMIND = "x402_ask", "x402_book", "x402_remind"
REMIND_EVERY = 15 * 60
"""Maximum seconds until a waiting payment is known again after a restart."""
GRACE = 10 * 60
"""Seconds after an authorisation's expiry in which the facilitator is still asked: a transfer in
time may appear on the network a little later.
"""
LONGEST_PAUSE = 60
UNDER_WAY = "The result of the payment is not known yet. Please do not pay again."
UNRESOLVED = (
    "The result of the payment could not be determined. People of the site check it; please do"
    " not pay again."
)
LAPSED = "The authorisation has expired, and nothing was paid by it."
NOT_REACHED = "The facilitator did not respond in time. Nothing was paid."


Answer = Settled | Refused | NotTaken | Unknown | Lapsed


class Task(msgspec.Struct, frozen=True):
    """The payload of a job.

    Parameters:
        returned: the transaction by which people have refunded the payment; empty for none.
    """

    payment_id: str
    returned: str = ""


def begin(way: UnderWay) -> Start:
    """Start the job that calls the facilitator."""
    task = Task(way.payment_id)
    return Start(ASK, ref=way.job, payload=task, after=_pause(way.turn), outlives=True)


class X402Jobs:
    """Runs the jobs.

    Parameters:
        nodes: by network id, for networks that the desk can query itself.
        waiting: collects the payments that wait for people.
    """

    def __init__(
        self,
        facilitator: Facilitator,
        settlement: SettlementService,
        nodes: Mapping[str, Node],
        waiting: set[str],
    ) -> None:
        self._facilitator = facilitator
        self._settlement = settlement
        self._nodes = nodes
        self._waiting = waiting

    async def ask(self, job: Job) -> Sequence[Effect]:
        """Call the facilitator, and store its response."""
        task = msgspec.convert(job.payload, Task)
        record = await job.read(way_key(task.payment_id))
        way = read_way(record)
        if way is None or way.question is None or way.state != "asking" or way.job != job.ref:
            return ()
        known = replace(way, was_sent=True) if job.attempt > 1 else way
        after = _after(known, await self._answer(job, known, way.question), job.now)
        effects: list[Effect] = [keep_way(record, after)]
        if after.state == "asking":
            effects.append(begin(after))
        if after.state != "asking" or (after.was_sent and not way.was_sent):
            ref = f"{after.job}:{after.state}"
            effects.append(Start(BOOK, ref=ref, payload=Task(way.payment_id), outlives=True))
        return effects

    async def _answer(self, job: Job, way: UnderWay, question: Mapping[str, Any]) -> Answer:
        if not way.was_sent:
            verified = await self._facilitator.verify(job.send, question)
            if isinstance(verified, Refused):
                return verified
            if not isinstance(verified, Valid):  # the question has moved nothing
                return NotTaken(verified.why)
        answer = await self._facilitator.settle(job.send, question)
        node = self._nodes.get(way.network)
        is_open = way.was_sent or isinstance(answer, Unknown)
        if node is None or not is_open or isinstance(answer, Settled):
            return answer
        found = await node.find(job.send, way)
        return answer if isinstance(found, Unknown) else found

    async def book(self, job: Job) -> Wanted:
        """Book the result of a payment."""
        return partial(self._book, msgspec.convert(job.payload, Task))

    def _book(self, task: Task, context: Context) -> Sequence[Effect]:
        payment = find_payment(context, task.payment_id)
        way = read_way(context.record(way_key(task.payment_id)))
        if payment is None or way is None:
            return ()
        self._waiting.discard(way.payment_id)
        if task.returned:
            words = f"{told_price(payment.price)} were refunded by the transaction {task.returned}."
            return self._settlement.refunded(context, payment, words)
        match way.state:
            case "settled":
                paid = with_receipt(payment, way)
                return self._settlement.settle(context, paid, received(payment, outside("x402")))
            case "refused":
                return self._settlement.refuse(context, payment, way.reason)
            case "asking":
                return self._settlement.pend(context, payment, UNDER_WAY)
            case "unresolved":
                pended = self._settlement.pend(context, payment, UNRESOLVED)
                said = pended or (Say(UNRESOLVED),)
                return (*said, Audit("unresolved"), _remind(way.job))

    def owe(self, payment: PaymentRecord, words: str, context: Context) -> Sequence[Effect]:
        """Leave a due refund to people."""
        owed = self._settlement.owed(context, payment, words)
        return (*owed, _remind(payment.payment_id)) if owed else ()

    async def remind(self, job: Job) -> Sequence[Effect]:
        """Record that a payment waits for people, repeatedly as long as it does."""
        about, _, times = job.ref.rpartition(":")
        id = about.partition(":")[0]
        way, payment = read_way(await job.read(way_key(id))), await read_payment(job, id)
        if payment is None or way is None or not waits_for_people(payment, way):
            self._waiting.discard(id)
            return ()
        self._waiting.add(id)
        return (_remind(about, int(times) + 1),)


def waits_for_people(payment: PaymentRecord, way: UnderWay) -> bool:
    """Return whether only people can resolve a payment, or refund it."""
    return payment.state == "refund_due" or (
        payment.state == "pending" and way.state == "unresolved"
    )


def _remind(about: str, times: int = 0) -> Start:
    """Return the job that records that a payment waits for people.

    Parameters:
        about: its id, optionally followed by a colon and further text.
        times: the number of earlier records.
    """
    after = REMIND_EVERY if times else 0
    return Start(REMIND, ref=f"{about}:{times}", after=after, outlives=True)


def with_receipt(payment: PaymentRecord, way: UnderWay) -> PaymentRecord:
    """Add the transaction to a payment, as x402's settlement response."""
    receipt = {
        "success": True,
        "transaction": way.transaction,
        "network": way.network,
        "payer": way.payer,
        "amount": way.value,
    }
    return replace(payment, details={**payment.details, RECEIPT: receipt})


def _after(way: UnderWay, answer: Answer, now: int) -> UnderWay:
    """Return the state of a payment after a response."""
    match answer:
        case Settled(transaction):
            return _ended(way, "settled", transaction=transaction)
        case Lapsed():
            return _ended(way, "refused", reason=LAPSED)
        case Refused() if answer.is_for_good or not way.was_sent:
            return _ended(way, "refused", reason=told(answer.reason))
        case Refused(reason):
            way = replace(way, reason=f"The facilitator reports {reason or 'no'}.")
        case NotTaken(why):
            if not way.was_sent and now + LEAST_LEFT >= way.valid_before:
                return _ended(way, "refused", reason=NOT_REACHED)
            way = replace(way, reason=why)
        case Unknown(why, transaction):
            known = transaction or way.transaction
            way = replace(way, was_sent=True, reason=why, transaction=known)
    if now >= way.valid_before + GRACE:
        return replace(way, state="unresolved")
    return replace(way, turn=way.turn + 1)


def _ended(way: UnderWay, state: Any, *, transaction: str = "", reason: str = "") -> UnderWay:
    return replace(way, state=state, question=None, transaction=transaction, reason=reason)


def _pause(turn: int) -> int:
    """Return the delay of a turn in seconds: none for the first, then growing."""
    return min(2 ** (turn - 1), LONGEST_PAUSE) if turn else 0
