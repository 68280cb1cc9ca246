"""The console's format of structured messages. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aitp_desk.capability import Standing
from aitp_desk.desk.tickets.inbox_parts import ShownPart
from aitp_desk.web.console.wire import write_optional_timestamp


def write_words(parts: Sequence[ShownPart]) -> str:
    """Write a message as text, one part under another."""
    return "\n\n".join(part.words for part in parts)


def write_parts(parts: Sequence[ShownPart]) -> list[dict[str, Any]]:
    """Write the parts of a message with a structured part; empty for plain text."""
    return [_part_body(part) for part in parts]


def _part_body(part: ShownPart) -> dict[str, Any]:
    body: dict[str, Any] = {"text": part.words}
    if (structure := part.structure) is not None:
        body |= {
            "capability": structure.slug,
            "version": structure.version,
            "key": structure.key,
            "content": structure.content,
            "standing": None if structure.standing is None else _standing(structure.standing),
        }
    return body


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "state": standing.state,
        "since": write_optional_timestamp(standing.since),
        "until": write_optional_timestamp(standing.until),
        "by": standing.by,
        "of": standing.of,
        "answer": standing.answer,
        "note": standing.note,
    }
