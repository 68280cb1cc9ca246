"""Notes: what operators write to each other beside a thread. No visitor and no model reads them."""

from __future__ import annotations

import msgspec

NOTE_PREFIX = "note"
"""What the ids of notes begin with (``model/ids.py``)."""


class Note(msgspec.Struct, frozen=True):
    """A note of an operator's.

    Parameters:
        id: ``note_…``.
        thread_id: beside which it stands.
        operator: the name of who wrote it.
        created_at: Unix seconds.
    """

    id: str
    thread_id: str
    operator: str
    words: str
    created_at: int
