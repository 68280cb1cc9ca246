"""Lists threads by their last message, including folded ones.

A thread's position in such a list is its newest message's id, which grows with time; a folded one's
is the thread's id. So no index is needed that each message would have to update. Text is searched
from the newest message back, without a full-text index: that would be written with every message,
and would hold each word a second time, to be erased there too.

Slices and pages are as in ``reads/console/threads.py``. A page reads ``LOOKED_AT`` messages and
folded threads at most; of threads that operators attend to, ``MOST_ATTENDED`` that operators have,
and as many with a waiting ticket.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from aitp_desk.model.conversation.thread import MAX_THREAD_MESSAGES, Origin
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console.threads import line
from aitp_desk.store.records.console import ThreadFilter, ThreadLine
from aitp_desk.store.records.pages import Listing
from aitp_desk.store.rows.threads import read_texts, to_json
from aitp_desk.store.units.threads.folded_threads import read_turn

LOOKED_AT = 5_000
"""How many messages, and folded threads, a page reads."""
LOOKED_THROUGH = 16_384
"""How many characters of a message are searched, from its beginning."""
MOST_LINES = 400
"""How many threads a page reads to apply the filter."""
MOST_ATTENDED = 1_000
SLICE = 100
SAME_THREAD = 500
"""How many messages of a thread are searched for one that an earlier page has found."""

_BEFORE_ALL = "~"
_CURSOR = re.compile(r"([0-9a-z]{1,64})(?:\.([0-9a-z]{1,64}))?")


class _Entry(msgspec.Struct, frozen=True):
    """A position in a list that may hold a thread.

    Parameters:
        key: the id without its prefix, of the message or of the folded thread.
        thread_id: None if no matching thread is there.
        seq: number of the message; 0 for a folded thread.
    """

    key: str
    thread_id: str | None
    seq: int = 0


class _Slice(msgspec.Struct, frozen=True):
    """A part of the positions, newest first.

    Parameters:
        further: where the next part begins; None if there is none.
    """

    entries: list[_Entry]
    further: str | None


_Source = Callable[[str], Awaitable[_Slice]]
"""Reads the positions before one."""


async def threads(
    store: Store, asked: ThreadFilter, after: str | None, limit: int
) -> Listing[ThreadLine]:
    """List threads by their last message, newest first.

    With a text, a thread's place is that of the newest message that contains it.

    Parameters:
        after: the ``next`` of the page before; None for the first.
        limit: maximum number of threads of a page.

    Raises:
        InvalidRequest: ``after`` is no such value.
    """
    place, top = _begin(after)
    if asked.text:
        search = _Search(store, asked.text, place, top)
        return await _page(store, asked, search.newest, search, place, limit)
    source = partial(_attended if asked.is_attended else _spoken_on, store, asked)
    return await _page(store, asked, source, None, place, limit)


async def _page(
    store: Store,
    asked: ThreadFilter,
    source: _Source,
    search: _Search | None,
    place: str,
    limit: int,
) -> Listing[ThreadLine]:
    found: list[tuple[str, ThreadLine]] = []
    seen: set[str] = set()
    looked = 0

    def page(further: str | None) -> Listing[ThreadLine]:
        lines = tuple(one for _, one in found[:limit])
        if further is not None and search is not None:
            further = f"{further}.{search.top}"
        return Listing(lines, further)

    while True:
        part = await source(place)
        for entry in part.entries:
            thread_id = entry.thread_id
            if thread_id is None or thread_id in seen:
                continue
            seen.add(thread_id)
            if search is not None and await search.has_found(entry):
                continue
            one = await line(store, thread_id)
            if one is not None and asked.takes(one):
                found.append((entry.key, one))
            if len(found) > limit:
                return page(found[limit - 1][0])
            if len(seen) >= MOST_LINES:
                return page(entry.key)
            await asyncio.sleep(0)  # a last message may be long
        looked += len(part.entries)
        if part.further is None or looked >= LOOKED_AT:
            return page(part.further)
        place = part.further
        await asyncio.sleep(0)


async def _spoken_on(store: Store, asked: ThreadFilter, place: str) -> _Slice:
    """Return the positions of all threads."""
    said = await store.read("newest_said", {"before": f"msg_{place}", "limit": SLICE})
    folded = await store.read("newest_folded", {"before": f"thread_{place}", "limit": SLICE})
    return _merged(
        [
            _Entry(_key(id_), thread_id if is_last and asked.agent in (None, desk) else None)
            for id_, thread_id, desk, is_last in said
        ],
        [_Entry(_key(id_), id_ if asked.agent in (None, "") else None) for (id_,) in folded],
    )


async def _attended(store: Store, asked: ThreadFilter, place: str) -> _Slice:
    """Return the positions of all threads that operators have or are requested on."""
    bound = {"limit": MOST_ATTENDED}
    taken = await store.read("threads_taken", bound)
    waited_on = (
        []
        if asked.owner == "operator" or asked.mine is not None
        else (await store.read("threads_of_waiting_tickets", bound))
    )
    entries: list[_Entry] = []
    for number, thread_id in enumerate(dict.fromkeys(row[0] for row in (*taken, *waited_on))):
        for id_, desk, origin, operator, asks in await store.read(
            "end_of_thread", {"thread_id": thread_id}
        ):
            if (
                _key(id_) < place
                and asked.agent in (None, desk)
                and (not asked.waiting or asks or origin == Origin.VISITOR.value)
                and (asked.owner is None or (asked.owner == "operator") is (operator is not None))
                and asked.mine in (None, get_operator(operator or ""))
            ):
                entries.append(_Entry(_key(id_), thread_id))
        if number % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return _Slice(sorted(entries, key=lambda entry: entry.key, reverse=True), None)


class _Search:
    """Finds the messages that contain a text.

    Parameters:
        text: the text, case-insensitive.
        place: where the page begins.
        top: the newest position when the first page began; empty for the first.
    """

    def __init__(self, store: Store, text: str, place: str, top: str) -> None:
        self.top = top
        self._store = store
        self._text = text.casefold()
        self._written = to_json(text)[1:-1].casefold()
        self._place = place

    async def newest(self, place: str) -> _Slice:
        """Read the positions before one; matching ones name their threads."""
        before = {"before": f"msg_{place}", "longest": LOOKED_THROUGH, "limit": SLICE}
        said = await self._store.read("newest_words", before)
        before = {"before": f"thread_{place}", "limit": SLICE}
        folded = await self._store.read("newest_folded_words", before)
        found = _merged(
            [
                _Entry(_key(id_), thread_id if self._says(words) else None, seq)
                for id_, thread_id, seq, words in said
            ],
            [_Entry(_key(id_), id_ if self._turn_says(turn) else None) for id_, turn in folded],
        )
        if not self.top and found.entries:
            self.top = found.entries[0].key
        return found

    async def has_found(self, entry: _Entry) -> bool:
        """Return whether an earlier page has found a later message of this thread."""
        if self._place == _BEFORE_ALL or not entry.seq:
            return False
        rows = await self._store.read(
            "words_after",
            {
                "thread_id": entry.thread_id,
                # ids of the same moment have no order
                "seq": entry.seq - MAX_THREAD_MESSAGES,
                "since": f"msg_{self._place}",
                "until": f"msg_{self.top}",
                "longest": LOOKED_THROUGH,
                "limit": SAME_THREAD,
            },
        )
        return any(self._says(words) for (words,) in rows)

    def _says(self, written: str | None) -> bool:
        """Return whether a ``content`` column contains the text, as far as it was read."""
        if written is None or self._written not in written.casefold():
            return False
        is_cut = len(written) >= LOOKED_THROUGH
        return is_cut or any(self._text in text.casefold() for text in read_texts(written))

    def _turn_says(self, packed: bytes) -> bool:
        turn = read_turn(packed)
        return any(self._text in text.casefold() for text in (turn.question, *turn.reply))


def _merged(said: list[_Entry], folded: list[_Entry]) -> _Slice:
    """Merge two lists of positions, as far down as both were read."""
    ends = [entries[-1].key for entries in (said, folded) if len(entries) == SLICE]
    horizon = max(ends, default="")
    entries = [entry for entry in (*said, *folded) if entry.key >= horizon]
    entries.sort(key=lambda entry: entry.key, reverse=True)
    return _Slice(entries, horizon or None)


def _key(id_: str) -> str:
    return id_.partition("_")[2]


def _begin(after: str | None) -> tuple[str, str]:
    """Return where a page begins, and the newest position when its search began; empty for none."""
    if after is None:
        return _BEFORE_ALL, ""
    cursor = _CURSOR.fullmatch(after)
    if cursor is None:
        raise InvalidRequest("`after` must be the `next` of the previous page.", param="after")
    return cursor[1], cursor[2] or ""
