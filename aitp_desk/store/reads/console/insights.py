"""Reads what owners learn from conversations. Times are Unix seconds.

Messages are read by their ids, which grow with time, a slice at a time
(``reads/console/threads.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import msgspec

from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Row, Store
from aitp_desk.store.reads.console.refusals import Refusal, read_folded_refusal
from aitp_desk.store.records.threads import FoldedTurn
from aitp_desk.store.rows.threads import read_metadata, read_texts
from aitp_desk.store.units.threads.folded_threads import read_turn

_SLICE = 200
MOST_MARKS = 5_000
"""How many marked questions of a site agent are read."""
_MOST_TICKETS = 5_000


class InsightLine(msgspec.Struct, frozen=True):
    """A message, as far as figures need it.

    Parameters:
        is_question: whether a visitor has said it, in words.
        at: when it was said.
        metadata, sources: of the desk's; the part with the sources, empty without any.
    """

    thread_id: str
    is_question: bool
    is_desk: bool
    actor: str
    at: int
    metadata: Mapping[str, str]
    sources: str


class AskedQuestion(msgspec.Struct, frozen=True):
    """A question whose answer was refused, or was rated down.

    Parameters:
        message_id: of the answer; empty for a folded thread.
        reason: why it was rated down; None if it was refused.
    """

    asked: Refusal
    message_id: str
    reason: str | None = None


async def said_between(store: Store, since: int, before: int) -> AsyncIterator[InsightLine]:
    """Read the messages of a period in order, without the texts of visitors."""
    after, end = first_id("msg", since), first_id("msg", before)
    while True:
        part = {"since": after, "before": end, "limit": _SLICE}
        rows = await store.read("said_between", part)
        # ids of one millisecond are in no order, but the messages of a thread are
        for _, thread_id, _, origin, role, actor, at, metadata, text in sorted(rows, key=_seq):
            is_desk = origin == Origin.DESK.value
            yield InsightLine(
                thread_id,
                not is_desk and role == "user" and text is not None and text != '["{',
                is_desk,
                actor,
                at,
                read_metadata(metadata) if is_desk and metadata != "{}" else {},
                read_texts(text)[-1] if is_desk and text else "",
            )
        if len(rows) < _SLICE:
            return
        after = rows[-1][0]
        await asyncio.sleep(0)


def _seq(row: Row) -> int:
    seq: int = row[2]
    return seq


async def folded_between(store: Store, since: int, before: int) -> AsyncIterator[FoldedTurn]:
    """Read the folded turns of a period in order."""
    after, end = first_id("thread", since), first_id("thread", before)
    while True:
        part = {"since": after, "before": end, "limit": _SLICE}
        rows = await store.read("folded_between", part)
        for _, packed in rows:
            yield read_turn(packed)
        if len(rows) < _SLICE:
            return
        after = rows[-1][0]
        await asyncio.sleep(0)


async def people_asked(store: Store, since: int, before: int) -> list[tuple[str, int]]:
    """Read on which threads a person was asked in a period, and when."""
    period = {"since": since, "before": before, "limit": _MOST_TICKETS}
    return [(thread, at) for thread, at in await store.read("people_asked", period)]


async def count_calls(store: Store, since: int, before: int) -> dict[str, int]:
    """Count the calls of a period by action."""
    period = {"since": first_id("call", since), "before": first_id("call", before)}
    return dict(await store.read("count_calls", period))


async def count_ratings(store: Store, since: int, before: int) -> dict[str, int]:
    """Count the ratings of a period by their names."""
    rows = await store.read("count_ratings", {"since": since, "before": before})
    return dict(rows)


async def open_questions(store: Store, since: int, most: int) -> list[AskedQuestion]:
    """Read the questions since a time that were refused or rated down, newest first.

    Parameters:
        most: how many of each kind are read, the newest.
    """
    refused = {"since": first_id("msg", since), "limit": most}
    found = [
        AskedQuestion(Refusal("\n".join(read_texts(content)), at, thread_id, desk), id_)
        for id_, at, thread_id, desk, content in await store.read("refused_since", refused)
    ]
    rated = await store.read("rated_down_since", {"since": since, "limit": most})
    found += [
        AskedQuestion(Refusal("\n".join(read_texts(content)), at, thread_id, desk), id_, reason)
        for id_, at, thread_id, desk, content, reason in rated
    ]
    found += [AskedQuestion(one, "") for one in await _folded_refusals(store, since, most)]
    return sorted(found, key=lambda one: -one.asked.at)


async def _folded_refusals(store: Store, since: int, most: int) -> list[Refusal]:
    found: list[Refusal] = []
    before, oldest = "~", first_id("thread", since)
    while len(found) < most:
        rows = await store.read("newest_folded_words", {"before": before, "limit": _SLICE})
        kept = [row for row in rows if row[0] > oldest]
        found += filter(None, map(read_folded_refusal, kept))
        if len(kept) < _SLICE:
            break
        before = rows[-1][0]
        await asyncio.sleep(0)
    return found[:most]


async def answered_questions(store: Store, desk: str, since: int) -> dict[bytes, int]:
    """Read when questions of a site agent were marked as answered, since a time."""
    rows = await store.read(
        "answered_questions", {"desk": desk, "since": since, "limit": MOST_MARKS}
    )
    return {bytes(digest): at for digest, at in rows}
