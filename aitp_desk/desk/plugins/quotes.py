"""By what name a call is paid, until when and how: as the capability says that asks for it."""

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
    """What can be paid for a call just now.

    Parameters:
        enabled: the capability that asks for it.
    """

    enabled: EnabledPlugin
    terms: PaymentTerms


def find_quotes(effects: NewEffects, capabilities: PluginRegistry) -> tuple[NewQuote, ...]:
    """What is asked for calls by the records that are about to be written."""
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
    """What can be paid for a call on a thread just now.

    Parameters:
        now: Unix seconds.

    Returns:
        None while what was paid is looked at, and once nothing is asked any more.
    """
    for slug, record in await capability_reads.open_records(store, thread_id, now):
        asked = _asked(capabilities, slug, record)
        if asked is not None and asked[0] == call_id:
            return asked[1]
    return None


def _asked(capabilities: PluginRegistry, slug: str, record: Record) -> tuple[str, OpenQuote] | None:
    """For which call a record asks money, and how it is paid; None for any other record."""
    enabled = capabilities.get(slug)
    if enabled is None or not enabled.asks or record.open_until is None:
        return None
    try:
        waits = enabled.capability.waiting(record)
    except Exception:  # noqa: BLE001 -- whatever a plug-in does, the others are told
        _log.exception("waiting_failed", capability=slug)
        return None
    if waits is None or waits.call_id is None or waits.terms is None:
        return None
    return waits.call_id, OpenQuote(enabled, waits.terms)
