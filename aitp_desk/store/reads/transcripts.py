"""Reads the keys, proofs and signatures of transcripts."""

from __future__ import annotations

from aitp_desk.model.conversation.chain import FIRST_LINK
from aitp_desk.store.base import Reader
from aitp_desk.store.records.transcripts import ProvenMessage, StoredCountersignature, StoredKey


async def keys(reader: Reader) -> tuple[StoredKey, ...]:
    """Read the keys that sign transcripts or have signed some, the oldest first."""
    return tuple(StoredKey(*row) for row in await reader.read("transcript_keys", {}))


async def link_at(reader: Reader, thread_id: str, seq: int) -> bytes | None:
    """Read the link of a message of an unfolded thread.

    The message may be deleted.

    Returns:
        For 0 what the first message is linked to; None if there is no such message.
    """
    if seq == 0:
        return FIRST_LINK
    rows = await reader.read("message_link", {"thread_id": thread_id, "seq": seq})
    return rows[0][0] if rows else None


async def proven_messages(
    reader: Reader, thread_id: str, *, after: int, upto: int, limit: int, most_bytes: int
) -> tuple[ProvenMessage, ...]:
    """Read messages of a thread in order, including deleted ones.

    Parameters:
        after, upto: the position before the first, and that of the last.
        limit, most_bytes: bounds of the part; it has at least one message.
    """
    page = {"thread_id": thread_id, "after": after, "upto": upto}
    found = await reader.read_page("proven_messages", page, limit=limit, most_bytes=most_bytes)
    return tuple(ProvenMessage(*row) for row in found.rows)


async def erased_places(reader: Reader, thread_id: str, upto: int) -> tuple[int, ...]:
    """Read the numbers of a thread's deleted messages, up to a position."""
    rows = await reader.read("erased_places", {"thread_id": thread_id, "upto": upto})
    return tuple(row[0] for row in rows)


async def countersignatures(reader: Reader, thread_id: str) -> tuple[StoredCountersignature, ...]:
    """Read the signatures of a thread's heads, the oldest first."""
    rows = await reader.read("countersignatures", {"thread_id": thread_id})
    return tuple(StoredCountersignature(*row) for row in rows)
