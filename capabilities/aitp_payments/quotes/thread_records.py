"""The record of an open quote on a thread."""

from __future__ import annotations

import msgspec

from aitp_desk.capability import Record
from aitp_payments.records import QuoteRecord


class AskedPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open quote. It belongs to the thread, and is erased with it.

    Parameters:
        quote: the whole quote.
        of: as of :class:`~aitp_desk.capability.Asking`.
    """

    quote: QuoteRecord
    of: str = ""


def read_asked(record: Record) -> AskedPayment | None:
    """Return the open quote of a record; None if erased, and for another record."""
    if record.value is None or not record.key.startswith("asked:"):
        return None
    return msgspec.convert(record.value, AskedPayment)
