"""Retries due refunds until they are booked, and reports them to owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.capability import Context, Effect, Health, Job, Wanted, Work
from aitp_payments.records import After, find_payment
from aitp_payments.refunds.due_parts import BOOK_PART, book_part, find_due_part
from aitp_payments.refunds.service import BY_HAND, DUE, WATCH
from aitp_payments.settlement.lifecycle import SettlementService

DELAYS = (5, 60, 600, 3600, 6 * 3600)
"""Delays between the attempts of a refund, in seconds."""


class Due:
    """Books due refunds once they are covered; until then owners are warned."""

    def __init__(self) -> None:
        self._short = set[str]()
        self._by_people = set[str]()

    def use(self, settlement: SettlementService) -> None:
        """Receive the settlement service."""
        self._settlement = settlement

    def jobs(self) -> Mapping[str, Work]:
        """Return the jobs that book due refunds and watch those left to people."""
        return {
            DUE: Work(self._book, delays=DELAYS),
            BOOK_PART: Work(self._book_part, delays=DELAYS),
            WATCH: Work(self._watch),
            BY_HAND: Work(self._paid_back, delays=DELAYS),
        }

    def health(self) -> Health | None:
        """Return the refunds that are still due; None for none."""
        reasons = []
        if self._short:
            listed = ", ".join(sorted(self._short))
            reasons.append(
                "The balance of the account merchant is too low to refund these payments:"
                f" {listed}."
            )
        if self._by_people:
            listed = ", ".join(sorted(self._by_people))
            reasons.append(f"People of the site must refund these payments: {listed}.")
        return Health("degraded", " ".join(reasons)) if reasons else None

    async def _book(self, job: Job) -> Wanted:
        id, message = msgspec.convert(job.payload, tuple[str, str])

        def decide(context: Context) -> Sequence[Effect]:
            payment = find_payment(context, id)
            effects = (
                () if payment is None else self._settlement.refunded(context, payment, message)
            )
            _note(self._short, id, is_due=_is_due(After(context, effects), id))
            return effects

        return decide

    async def _book_part(self, job: Job) -> Wanted:
        reference = msgspec.convert(job.payload, str)

        def decide(context: Context) -> Sequence[Effect]:
            effects = book_part(self._settlement, context, reference)
            part = find_due_part(After(context, effects), reference)
            if part is not None:
                _note(self._short, f"{part.payment_id} ({reference})", is_due=part.is_open)
            return effects

        return decide

    async def _watch(self, job: Job) -> Wanted:
        id = msgspec.convert(job.payload, str)

        def decide(context: Context) -> Sequence[Effect]:
            is_due = _is_due(context, id)
            _note(self._by_people, id, is_due=is_due)
            return (self._settlement.watched(context, id),) if is_due else ()

        return decide

    async def _paid_back(self, job: Job) -> Wanted:
        id = msgspec.convert(job.payload, str)

        def decide(context: Context) -> Sequence[Effect]:
            payment = find_payment(context, id)
            effects = () if payment is None else self._settlement.paid_back(context, payment)
            for ids in (self._short, self._by_people):
                _note(ids, id, is_due=id in ids and _is_due(After(context, effects), id))
            return effects

        return decide


def _is_due(books: Context | After, id: str) -> bool:
    payment = find_payment(books, id)
    return payment is not None and payment.state == "refund_due"


def _note(ids: set[str], id: str, *, is_due: bool) -> None:
    if is_due:
        ids.add(id)
    else:
        ids.discard(id)
