"""What has to go back and the site has too little for: looked at again until it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.capability import Context, Effect, Health, Job, Wanted, Work
from aitp_payments.records import After, find_payment
from aitp_payments.returning import DUE
from aitp_payments.settling import Settling

DELAYS = (5, 60, 600, 3600, 6 * 3600)
"""Seconds between the attempts to give something back."""


class Due:
    """Books what is due once there is enough; until then owners are told, also after a restart."""

    def __init__(self) -> None:
        self._ids = set[str]()

    def use(self, settling: Settling) -> None:
        """Take the one that books."""
        self._settling = settling

    def jobs(self) -> Mapping[str, Work]:
        """Looking again."""
        return {DUE: Work(self._book, delays=DELAYS)}

    def health(self) -> Health | None:
        """What is still due; None for nothing."""
        if not self._ids:
            return None
        listed = ", ".join(sorted(self._ids))
        why = f"The account merchant is too low to give these payments back: {listed}."
        return Health("degraded", why)

    async def _book(self, job: Job) -> Wanted:
        id, message = msgspec.convert(job.payload, tuple[str, str])

        def decide(context: Context) -> Sequence[Effect]:
            payment = find_payment(context, id)
            effects = () if payment is None else self._settling.refunded(context, payment, message)
            left = find_payment(After(context, effects), id)
            if left is not None and left.state == "refund_due":
                self._ids.add(id)
            else:
                self._ids.discard(id)
            return effects

        return decide
