"""Watches payments without a confirmation: they are never repeated, but reported to the owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.capability import Effect, Health, Job, Start, Work
from aitp_payments.buyer.purchases import Bought, bought_key

LOOK = "buying_look"
"""The job that checks whether a payment was confirmed."""
EVERY = 60 * 60
"""Interval of checks, in seconds."""


def look_at(bought: Bought) -> Start:
    """Start the checks of a sent payment."""
    return Start(LOOK, ref=f"{bought.id}:{bought.moves}:0", payload=bought.id, after=EVERY)


class Unconfirmed:
    """Knows which payees still have to send a confirmation.

    A payment is checked an hour after it was sent, then every hour until it is settled. The result
    is in memory only: after a restart it is known again within an hour.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    def jobs(self) -> Mapping[str, Work]:
        """Return the job that checks."""
        return {LOOK: Work(self._look)}

    def watched(self) -> Mapping[str, Health | None]:
        """Return the health of payees with overdue confirmations."""
        payees = sorted(set(self._waiting.values()))
        why = "A payment has no confirmation: see 'aitp-desk ledger purchases --pending'."
        return {f"payments to {name}": Health("degraded", why) for name in payees}

    async def _look(self, job: Job) -> Sequence[Effect]:
        id, moves, looked = job.ref.split(":")
        record = await job.read(bought_key(id))
        bought = None if record is None else msgspec.convert(record.value, Bought)
        if bought is None or bought.state != "pending" or bought.moves != int(moves):
            self._waiting.pop(id, None)
            return ()
        self._waiting[id] = bought.payee
        return (Start(LOOK, ref=f"{id}:{moves}:{int(looked) + 1}", payload=id, after=EVERY),)
