"""Reads the questions that the desk refused, for the site's owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from aitp_desk.store.base import Row, Store
from aitp_desk.store.rows.threads import read_texts
from aitp_desk.store.units.threads.folded_threads import read_turn

_ROWS = 200
_AFTER_ALL = "~"
_FOUND = "found"
"""The metadata key of a reply that is ``false`` if it found no answer."""


class Refusal(msgspec.Struct, frozen=True):
    """A question that the content did not answer.

    Parameters:
        at: Unix seconds.
        desk: name of the further site agent; empty for the site's own.
    """

    question: str
    at: int
    thread_id: str
    desk: str = ""


async def refusals(store: Store) -> AsyncIterator[Refusal]:
    """Read the questions that the site's own desk refused, newest first.

    Folded threads come last. It looks through all messages, so it is for commands and not for
    requests.
    """
    before = _AFTER_ALL
    while rows := await store.read("refusals_before", {"before": before, "limit": _ROWS}):
        for _, at, thread_id, content in rows:
            yield Refusal("\n".join(read_texts(content)), at, thread_id)
        before = rows[-1][0]
    before = _AFTER_ALL
    while rows := await store.read("newest_folded_words", {"before": before, "limit": _ROWS}):
        for refusal in map(read_folded_refusal, rows):
            if refusal is not None and not refusal.desk:
                yield refusal
        before = rows[-1][0]


async def newest_refusals(store: Store, most: int) -> list[Refusal]:
    """Read the questions that any site agent refused lately: newest first, folded ones last.

    Parameters:
        most: how many of the newest messages, and of the newest folded turns, are read.
    """
    found: list[Refusal] = []
    for statement, read in (
        ("newest_refused", _refused),
        ("newest_folded_words", read_folded_refusal),
    ):
        before = _AFTER_ALL
        for _ in range(0, most, _ROWS):
            rows = await store.read(statement, {"before": before, "limit": _ROWS})
            found += filter(None, map(read, rows))
            if len(rows) < _ROWS:
                break
            before = rows[-1][0]
            await asyncio.sleep(0)
    return found


def _refused(row: Row) -> Refusal | None:
    _, at, thread_id, desk, content = row
    return None if content is None else Refusal("\n".join(read_texts(content)), at, thread_id, desk)


def read_folded_refusal(row: Row) -> Refusal | None:
    """Return the question of a folded turn, if it was refused."""
    thread_id, packed = row
    turn = read_turn(packed)
    if turn.notes.get(_FOUND) != "false":
        return None
    return Refusal(turn.question, int(turn.recorded_at), thread_id, turn.opened_at_desk)
