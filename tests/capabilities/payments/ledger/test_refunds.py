"""Payments that have to go back while the site has too little for that."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any

from aitp_desk.capability import Context, Job, Money, Own, Record, Start
from aitp_payments import Payments
from aitp_payments.ledger import names
from aitp_payments.ledger.journal import balance, move, post
from aitp_payments.records import PaymentRecord, find_payment, keep, payment_key
from aitp_payments.refunds.service import booked
from aitp_payments.settings import PaymentsSettings
from aitp_payments.settlement.lifecycle import received
from tests.support.payments.books import Shelf

SITE = "https://shop.example"


async def test_owners_are_told_of_what_the_site_has_not_enough_to_give_back() -> None:
    shelf, payments = Shelf(), Payments(PaymentsSettings())
    payments.use(Own(SITE, lambda purpose: hashlib.sha256(purpose.encode()).digest()))
    put_in = move(names.outside("cash"), "acct_a", "EUR", 10_000_000)
    shelf.apply(post("cash:1", put_in, kind="credit", at=1))
    payment = PaymentRecord(
        payment_id="pay_1",
        quote_id="q_1",
        method="ledger",
        price=Money(Decimal(5), "EUR"),
        state="settled",
        reference="r",
    )
    shelf.apply([keep(shelf, payment_key("pay_1"), payment)])
    paid = received(payment, "acct_a")
    shelf.apply(post(booked(payment), paid, kind="payment", at=1))
    out = move(names.MERCHANT, names.outside("cash"), "EUR", 1_000_000)
    shelf.apply(post("payout:1", out, kind="payout", at=1))

    shelf.apply(payments.settlement.refunded(shelf, payment, "It went back."))
    assert payments.health() is None

    async def read(key: str) -> Record | None:
        return shelf.record(key)

    for expected in ("refund_due", "refunded"):
        started = next(one for one in reversed(shelf.others) if isinstance(one, Start))
        assert started.outlives
        shelf.now += started.after
        job = Job(
            ref=started.ref, payload=started.payload, now=shelf.now, thread_id=None, read=read
        )
        wanted: Any = await payments.jobs()[started.job].do(job)
        context = Context(
            now=shelf.now,
            thread_id="",
            own=SITE,
            records=shelf.records,
            counters=shelf.counters,
        )
        shelf.apply(wanted(context))
        kept = find_payment(shelf, "pay_1")
        assert kept is not None
        assert kept.state == expected
        health = payments.health()
        assert (health is None) == (expected == "refunded")
        assert health is None or "pay_1" in health.reason
        back = move(names.outside("cash"), names.MERCHANT, "EUR", 1_000_000)
        shelf.apply(post(f"cash:{expected}", back, kind="credit", at=1))
    assert balance(shelf, "acct_a", "EUR") == 10_000_000
    kept = find_payment(shelf, "pay_1")
    assert kept is not None
    told = (kept.confirmation or {})["payment_confirmation"]
    assert told["message"] == "It went back."
