"""Reads a call's quote: its id, expiry and terms, from the plugin that asks."""

from __future__ import annotations

import msgspec
import structlog

from aitp_desk.capability import PaymentTerms, Record
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.store.base import Store
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.records.capabilities import NewEffects, NewQuote

_log = structlog.get_logger()


class OpenQuote(msgspec.Struct, frozen=True):
    """The open quote of a call.

    Parameters:
        enabled: the plugin that requests the payment.
    """

    enabled: EnabledPlugin
    terms: PaymentTerms


def find_quotes(effects: NewEffects, capabilities: PluginRegistry) -> tuple[NewQuote, ...]:
    """Return the quotes in the records that are about to be written."""
    found = []
    for record in effects.records:
        kept = Record(
            key=record.key,
            version=record.version,
            value=record.value,
            open_until=record.open_until,
        )
        asked = _asked(capabilities, record.capability, kept)
        if asked is not None:
            call_id, quote = asked
            found.append(NewQuote(call_id, quote.terms.quote_id, quote.terms.expires_at))
    return tuple(found)


async def find_open_quote(
    store: Store, capabilities: PluginRegistry, thread_id: str, call_id: str, now: int
) -> OpenQuote | None:
    """Return the open quote of a call on a thread.

    Parameters:
        now: Unix seconds.

    Returns:
        None while a payment is verified, and once nothing is requested any more.
    """
    for slug, record in await capability_reads.open_records(store, thread_id, now):
        asked = _asked(capabilities, slug, record)
        if asked is not None and asked[0] == call_id:
            return asked[1]
    return None


def _asked(capabilities: PluginRegistry, slug: str, record: Record) -> tuple[str, OpenQuote] | None:
    """Return the call and the quote of a record; None for any other record."""
    enabled = capabilities.get(slug)
    if enabled is None or not enabled.asks or record.open_until is None:
        return None
    try:
        waits = enabled.capability.waiting(record)
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, the others are read
        _log.exception("waiting_failed", capability=slug)
        return None
    if waits is None or waits.call_id is None or waits.terms is None:
        return None
    return waits.call_id, OpenQuote(enabled, waits.terms)
