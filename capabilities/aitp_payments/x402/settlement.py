"""Having a payment settled: asked for once, found out about for as long as it takes, booked once.

Jobs, each begun in the commit of what comes before it. ``ask`` asks the facilitator; what it
says is written down in a record that nobody else writes, so that a yes is never lost to a race.
``book`` then tells the books of it, and may be judged anew as often as it likes. ``remind`` keeps
people in mind of what only they can find out.

A no counts only where nothing can have moved before: once settling was asked for and not answered,
a wallet that holds too few coins, or an authorisation that was used, may be what our own settling
has left. So whether it was sent is kept, and a job that comes to an authorisation at its second
attempt takes it for sent.
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
"""Seconds after which it is known again, at most, that a payment waits for people: also after the
desk was started anew."""
GRACE = 10 * 60
"""For so many seconds after an authorisation has lapsed the facilitator is still asked: what was
sent in time may stand on the network a little later."""
LONGEST_PAUSE = 60
UNDER_WAY = "Whether the payment has gone through is not known yet. Please do not pay again."
UNRESOLVED = (
    "Nobody could say whether the payment has gone through. People of the site find out; please do"
    " not pay again."
)
LAPSED = "The authorisation was valid for so long, and nothing was paid by it."
NOT_REACHED = "The facilitator could not be asked in time. Nothing was paid."


Answer = Settled | Refused | NotTaken | Unknown | Lapsed


class Task(msgspec.Struct, frozen=True):
    """What a job is to do.

    Parameters:
        returned: the transaction by which people have given the payment back; empty where they
            have not.
    """

    payment_id: str
    returned: str = ""


def begin(way: UnderWay) -> Start:
    """Have the facilitator asked."""
    task = Task(way.payment_id)
    return Start(ASK, ref=way.job, payload=task, after=_pause(way.turn), outlives=True)


class X402Jobs:
    """Does the jobs.

    Parameters:
        nodes: by the ids of networks, for those on which the desk can look itself.
        waiting: the payments that wait for people; they are noted here.
    """

    def __init__(
        self,
        facilitator: Facilitator,
        settling: SettlementService,
        nodes: Mapping[str, Node],
        waiting: set[str],
    ) -> None:
        self._facilitator = facilitator
        self._settling = settling
        self._nodes = nodes
        self._waiting = waiting

    async def ask(self, job: Job) -> Sequence[Effect]:
        """Ask the facilitator, and write down what it says."""
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
            if not isinstance(verified, Valid):  # nothing has moved by asking this
                return NotTaken(verified.why)
        answer = await self._facilitator.settle(job.send, question)
        node = self._nodes.get(way.network)
        is_open = way.was_sent or isinstance(answer, Unknown)
        if node is None or not is_open or isinstance(answer, Settled):
            return answer
        found = await node.find(job.send, way)
        return answer if isinstance(found, Unknown) else found

    async def book(self, job: Job) -> Wanted:
        """Tell the books what came of a payment."""
        return partial(self._book, msgspec.convert(job.payload, Task))

    def _book(self, task: Task, context: Context) -> Sequence[Effect]:
        payment = find_payment(context, task.payment_id)
        way = read_way(context.record(way_key(task.payment_id)))
        if payment is None or way is None:
            return ()
        self._waiting.discard(way.payment_id)
        if task.returned:
            words = f"{told_price(payment.price)} went back, by the transaction {task.returned}."
            return self._settling.refunded(context, payment, words)
        match way.state:
            case "settled":
                paid = with_receipt(payment, way)
                return self._settling.settle(context, paid, received(payment, outside("x402")))
            case "refused":
                return self._settling.refuse(context, payment, way.reason)
            case "asking":
                return self._settling.pend(context, payment, UNDER_WAY)
            case "unresolved":
                pended = self._settling.pend(context, payment, UNRESOLVED)
                said = pended or (Say(UNRESOLVED),)
                return (*said, Audit("unresolved"), _remind(way.job))

    def owe(self, payment: PaymentRecord, words: str, context: Context) -> Sequence[Effect]:
        """A payment has to be given back: people do that."""
        owed = self._settling.owed(context, payment, words)
        return (*owed, _remind(payment.payment_id)) if owed else ()

    async def remind(self, job: Job) -> Sequence[Effect]:
        """Note that a payment waits for people, again and again for as long as it does."""
        about, _, times = job.ref.rpartition(":")
        id = about.partition(":")[0]
        way, payment = read_way(await job.read(way_key(id))), await read_payment(job, id)
        if payment is None or way is None or not waits_for_people(payment, way):
            self._waiting.discard(id)
            return ()
        self._waiting.add(id)
        return (_remind(about, int(times) + 1),)


def waits_for_people(payment: PaymentRecord, way: UnderWay) -> bool:
    """Whether only people can say what came of a payment, or give it back."""
    return payment.state == "refund_due" or (
        payment.state == "pending" and way.state == "unresolved"
    )


def _remind(about: str, times: int = 0) -> Start:
    """Note that a payment waits for people.

    Parameters:
        about: its id, or what begins with that and a colon.
        times: how often it was noted before.
    """
    after = REMIND_EVERY if times else 0
    return Start(REMIND, ref=f"{about}:{times}", after=after, outlives=True)


def with_receipt(payment: PaymentRecord, way: UnderWay) -> PaymentRecord:
    """A payment that names the transaction by which it was made, as x402 does."""
    receipt = {
        "success": True,
        "transaction": way.transaction,
        "network": way.network,
        "payer": way.payer,
        "amount": way.value,
    }
    return replace(payment, details={**payment.details, RECEIPT: receipt})


def _after(way: UnderWay, answer: Answer, now: int) -> UnderWay:
    """How a payment stands after an answer."""
    match answer:
        case Settled(transaction):
            return _ended(way, "settled", transaction=transaction)
        case Lapsed():
            return _ended(way, "refused", reason=LAPSED)
        case Refused() if answer.is_for_good or not way.was_sent:
            return _ended(way, "refused", reason=told(answer.reason))
        case Refused(reason):
            way = replace(way, reason=f"The facilitator says {reason or 'no'}.")
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
    """Seconds before a turn: none before the first, then longer and longer."""
    return min(2 ** (turn - 1), LONGEST_PAUSE) if turn else 0
