"""What waits on a thread for being paid, as it is kept there."""

from __future__ import annotations

import msgspec

from aitp_desk.capability import Record
from aitp_payments.records import QuoteRecord


class AskedPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quote that was asked of somebody. It belongs to the thread, and is erased with it.

    Parameters:
        quote: as it stands.
        of: as of :class:`~aitp_desk.capability.Asking`.
    """

    quote: QuoteRecord
    of: str = ""


def read_asked(record: Record) -> AskedPayment | None:
    """What a record asks; None once it was erased, and for another kind of record."""
    if record.value is None or not record.key.startswith("asked:"):
        return None
    return msgspec.convert(record.value, AskedPayment)
