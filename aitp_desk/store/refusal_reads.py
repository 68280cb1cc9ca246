"""The questions that the desk refused, for the site's owner."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.store.base import Store
from aitp_desk.store.rows import texts_of
from aitp_desk.store.work.folding import read_turn

_ROWS = 200
_AFTER_ALL = "~"
_FOUND = "found"
"""The note of a reply that is ``false`` where it found no answer."""


class Refusal(msgspec.Struct, frozen=True):
    """A question that the content did not answer.

    Parameters:
        at: Unix seconds.
    """

    question: str
    at: int


async def refusals(store: Store) -> AsyncIterator[Refusal]:
    """Read the questions that the site's own desk refused: the newest first, folded ones last.

    It looks through all messages, so it is for commands and not for requests.
    """
    before = _AFTER_ALL
    while rows := await store.read("refusals_before", {"before": before, "limit": _ROWS}):
        for _, at, content in rows:
            yield Refusal("\n".join(texts_of(content)), at)
        before = rows[-1][0]
    before = _AFTER_ALL
    while rows := await store.read("newest_folded_words", {"before": before, "limit": _ROWS}):
        for _, packed in rows:
            turn = read_turn(packed)
            if turn.notes.get(_FOUND) == "false" and not turn.opened_at_desk:
                yield Refusal(turn.question, int(turn.recorded_at))
        before = rows[-1][0]
