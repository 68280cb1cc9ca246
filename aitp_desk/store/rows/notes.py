"""How notes stand in columns."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.note import Note
from aitp_desk.store.base import Params, Row


def write_note(note: Note) -> Params:
    """A note as the statement ``add_note`` takes it."""
    return msgspec.structs.asdict(note)


def read_note(row: Row) -> Note:
    """Read a note as the statement ``notes_of_thread`` gives it."""
    return Note(*row)
