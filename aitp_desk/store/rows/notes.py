"""Converts notes to and from columns."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.note import Note
from aitp_desk.store.base import Params, Row


def write_note(note: Note) -> Params:
    """Return the parameters of the statement ``add_note``."""
    return msgspec.structs.asdict(note)


def read_note(row: Row) -> Note:
    """Read a row of the statement ``notes_of_thread``."""
    return Note(*row)
