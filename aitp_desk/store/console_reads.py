"""What operators read: one bounded, indexed look each."""

from __future__ import annotations

from aitp_desk.model.note import Note
from aitp_desk.store.base import Store
from aitp_desk.store.note_rows import note_of

MOST_NOTES = 200
"""How many notes beside a thread are read at once."""


async def notes(store: Store, thread_id: str, after: str = "") -> tuple[Note, ...]:
    """Read the oldest notes beside a thread after one, at most ``MOST_NOTES``."""
    place = {"thread_id": thread_id, "after": after, "limit": MOST_NOTES}
    return tuple(map(note_of, await store.read("notes_of_thread", place)))
