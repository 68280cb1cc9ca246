"""Operators' notes on a thread. No visitor and no model reads them."""

from __future__ import annotations

import msgspec

NOTE_PREFIX = "note"
"""Prefix of note ids (``model/ids.py``)."""


class Note(msgspec.Struct, frozen=True):
    """A note by an operator.

    Parameters:
        id: ``note_…``.
        thread_id: the thread that it is about.
        operator: the author's name.
        created_at: Unix seconds.
    """

    id: str
    thread_id: str
    operator: str
    words: str
    created_at: int
