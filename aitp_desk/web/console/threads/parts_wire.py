"""The console's format of structured messages. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.capability import Standing
from aitp_desk.desk.tickets.inbox_parts import ShownPart
from aitp_desk.web.console.objects import ConsolePart, ConsoleStanding
from aitp_desk.web.console.wire import write_optional_timestamp


def write_words(parts: Sequence[ShownPart]) -> str:
    """Write a message as text, one part under another."""
    return "\n\n".join(part.words for part in parts)


def write_parts(parts: Sequence[ShownPart]) -> list[ConsolePart]:
    """Write the parts of a message with a structured part; empty for plain text."""
    return [_write_part(part) for part in parts]


def _write_part(part: ShownPart) -> ConsolePart:
    structure = part.structure
    if structure is None:
        return ConsolePart(part.words)
    return ConsolePart(
        part.words,
        structure.slug,
        structure.version,
        structure.key,
        structure.content,
        None if structure.standing is None else _write_standing(structure.standing),
    )


def _write_standing(standing: Standing) -> ConsoleStanding:
    return ConsoleStanding(
        standing.state,
        write_optional_timestamp(standing.since),
        write_optional_timestamp(standing.until),
        standing.by,
        standing.of,
        standing.answer,
        standing.note,
    )
