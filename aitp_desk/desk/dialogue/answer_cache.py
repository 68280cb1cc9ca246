"""Caches the answers to first questions.

An answer is cached under everything that it depends on, until it expires, the content changes or
the cache is full. Concurrent callers with one question wait for one answer, so that many of them
cost one agent call. An answer that another process has made is taken over, where processes share
answers (``shared_answers.py``).
"""

from __future__ import annotations

import asyncio
import sys
import unicodedata
from collections import OrderedDict
from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.config import Cache
from aitp_desk.desk.dialogue.shared_answers import SharedAnswers
from aitp_desk.model.errors import Unavailable

Key = tuple[object, ...]
"""What an answer depends on besides the content; equal keys share an answer."""

_FRAME = 1_000
"""Approximate size of an entry without its texts, in bytes."""
_FORM = 500
"""Approximate size of an answer's encoded forms without their texts, in bytes."""

_encode = msgspec.json.Encoder().encode


def normalise_query(query: str) -> str:
    """Return a question without differences in case, white space and Unicode composition.

    The whole text counts, however long it is. Letters are only lower-cased and characters are not
    replaced by similar ones: ``Maße`` is not ``Masse``, and 10² is not 102.
    """
    if not query.isascii():
        query = unicodedata.normalize("NFC", query)
    return " ".join(query.lower().split())


class RenderSlot:
    """Holds encoded forms of a cached answer, so that each is made once.

    Attributes:
        encoded: the response body of a protocol.
        recorded: the parts and metadata of the reply, as they are stored.
    """

    __slots__ = ("encoded", "recorded")

    def __init__(self) -> None:
        self.encoded: bytes | None = None
        self.recorded: tuple[tuple[str, ...], dict[str, str]] | None = None


class CachedAnswer(msgspec.Struct, frozen=True):
    """The answer to a first question.

    Parameters:
        kept: set for an answer from the cache.
        age_seconds: age of a cached answer.
    """

    outcome: Said
    kept: RenderSlot | None = None
    age_seconds: int = 0


class CacheCounts(msgspec.Struct):
    """Counts cache hits, misses and evictions since the desk started.

    Parameters:
        hits: questions answered from the cache.
        misses: questions that an agent answered.
        shared: questions that shared the answer to a concurrent one that could not be cached.
        stored: answers that were cached.
        evicted_for_room, evicted_by_age, evicted_with_content: answers dropped for newer ones, as
            expired, and because the content changed.
        answers, size: cached answers now, and their approximate size in bytes.
        waiting: questions that wait for a concurrent answer now.
    """

    hits: int = 0
    misses: int = 0
    shared: int = 0
    stored: int = 0
    evicted_for_room: int = 0
    evicted_by_age: int = 0
    evicted_with_content: int = 0
    answers: int = 0
    size: int = 0
    waiting: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of first questions answered from the cache, 0 to 1."""
        asked = self.hits + self.misses + self.shared
        return self.hits / asked if asked else 0.0


class _Entry(msgspec.Struct):
    """A cached answer.

    Parameters:
        size: its memory in bytes.
        growth: further bytes once its encoded forms are cached too; 0 when already counted.
    """

    made_at: float
    answer: Answer
    kept: RenderSlot
    size: int
    growth: int


class _PendingEntry(msgspec.Struct, eq=False):
    """An answer that is being made; all None if its first caller disconnected.

    Parameters:
        over: set when it is made; None until another caller waits.
    """

    over: asyncio.Event | None = None
    outcome: Said | None = None
    error: Exception | None = None


class AnswerCache:
    """An LRU cache of first answers, by everything that they depend on.

    Parameters:
        shared: the answers of all processes; None if they share none.

    Attributes:
        counts: hits, misses and evictions; read only.
    """

    def __init__(
        self, settings: Cache, clock: Callable[[], float], shared: SharedAnswers | None = None
    ) -> None:
        self._most = settings.max_answers
        self._most_bytes = settings.max_bytes
        self._ttl = settings.ttl_seconds
        self._clock = clock
        self._shared = shared if settings.max_answers else None
        self._revision = ""
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._pending_entries: dict[tuple[str, Key], _PendingEntry] = {}
        self.counts = CacheCounts()

    @property
    def hit_rate(self) -> float | None:
        """The share of first questions answered from the cache; None if disabled."""
        return self.counts.hit_rate if self._most else None

    async def get_or_make(
        self, revision: str, key: Key, make: Callable[[], Awaitable[Said]]
    ) -> CachedAnswer:
        """Return the cached answer, else the one being made, else a new one.

        A waiting caller is not affected when the first one disconnects. Answers that used tools, or
        that ask for a person, are for one caller and never shared.

        Parameters:
            revision: of the content that the question is asked of.
            key: what else the answer depends on.
            make: makes the answer. :class:`Unavailable` is raised for all who wait; any other error
                concerns its own caller, and the others continue.
        """
        if revision != self._revision:
            self._begin(revision)
        known = self._find(key)
        while known is None:
            making = self._pending_entries.get((revision, key))
            if making is None:
                return await self._make(revision, key, make)
            await self._wait(making)
            if isinstance(making.error, Unavailable):
                raise making.error
            known = self._find(key) if revision == self._revision else None
            if known is None and making.outcome is not None:
                if _acts_for_one(making.outcome):
                    self.counts.misses += 1
                    return CachedAnswer(await make())
                self.counts.shared += 1
                return CachedAnswer(making.outcome)
        return known

    def clear(self) -> None:
        """Drop all answers; those that are being made are not cached."""
        self._drop_all()
        self._revision = ""
        if self._shared is not None:
            self._shared.clear()

    def _find(self, key: Key) -> CachedAnswer | None:
        """Return the cached answer, unless it has expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        age = self._clock() - entry.made_at
        if not 0 <= age <= self._ttl:  # the clock was set back: the age is unknown
            self._drop(key)
            self.counts.evicted_by_age += 1
            return None
        self._entries.move_to_end(key)
        if entry.growth:
            self._grow(entry)
        self.counts.hits += 1
        return CachedAnswer(entry.answer, entry.kept, int(age))

    async def _wait(self, entry: _PendingEntry) -> None:
        self.counts.waiting += 1
        over = entry.over = entry.over or asyncio.Event()
        try:
            await over.wait()
        finally:
            self.counts.waiting -= 1

    async def _make(
        self, revision: str, key: Key, make: Callable[[], Awaitable[Said]]
    ) -> CachedAnswer:
        making = self._pending_entries[revision, key] = _PendingEntry()
        try:
            if (known := await self._take_over(revision, key)) is not None:
                making.outcome = known.outcome
                return known
            self.counts.misses += 1
            outcome = making.outcome = await make()
            may_keep = outcome.fallback is None and not _acts_for_one(outcome)
            if isinstance(outcome, Answer) and may_keep:
                self._put(revision, key, outcome, self._clock())
                if self._shared is not None and revision == self._revision:
                    self._shared.put(revision, key, outcome, self._clock())
        except Exception as error:
            making.error = error
            raise
        finally:
            del self._pending_entries[revision, key]
            if making.over is not None:
                making.over.set()
        return CachedAnswer(outcome)

    async def _take_over(self, revision: str, key: Key) -> CachedAnswer | None:
        """Cache the answer that another process has made, if there is one."""
        if self._shared is None:
            return None
        found = await self._shared.find(revision, key)
        if found is None:
            return None
        self._put(revision, key, found.answer, found.made_at)
        return self._find(key)

    def _put(self, revision: str, key: Key, answer: Answer, made_at: float) -> None:
        """Cache an answer made from the current content."""
        if revision != self._revision or not self._most:
            return
        size, growth = _weigh(key, answer)
        if size + growth > self._most_bytes:
            return
        if key in self._entries:
            self._drop(key)
        self._entries[key] = _Entry(made_at, answer, RenderSlot(), size, growth)
        self.counts.stored += 1
        self.counts.answers += 1
        self.counts.size += size
        self._make_room()

    def _grow(self, entry: _Entry) -> None:
        """Count the encoded forms of an answer, which are cached from now on."""
        entry.size += entry.growth
        self.counts.size += entry.growth
        entry.growth = 0
        self._make_room()

    def _make_room(self) -> None:
        while self.counts.answers > self._most or self.counts.size > self._most_bytes:
            self._drop(next(iter(self._entries)))
            self.counts.evicted_for_room += 1

    def _drop(self, key: Key) -> None:
        self.counts.answers -= 1
        self.counts.size -= self._entries.pop(key).size

    def _begin(self, revision: str) -> None:
        """Drop the answers of an earlier content revision."""
        self.counts.evicted_with_content += len(self._entries)
        self._drop_all()
        self._revision = revision

    def _drop_all(self) -> None:
        self.counts.answers = self.counts.size = 0
        self._entries.clear()


def _acts_for_one(outcome: Said) -> bool:
    """Return whether an outcome is for its caller only, or a mere courtesy."""
    is_of_one = isinstance(outcome, Answer) and (outcome.person is not None or outcome.is_courtesy)
    return bool(outcome.tools_used) or is_of_one


def _weigh(key: Key, answer: Answer) -> tuple[int, int]:
    """Return the approximate size of an entry, and of its encoded forms, in bytes.

    A text takes one, two or four bytes a character, by its widest one, plus its UTF-8 form once it
    was encoded, which happens here first. Titles and addresses belong to the index.
    """
    form = len(_encode(answer))
    texts = [part for part in key if isinstance(part, str)]
    texts += (answer.text, *answer.follow_ups)
    sources = sum(len(source.title) + len(source.url) for source in answer.sources)
    return _FRAME + sum(map(sys.getsizeof, texts)), _FORM + form + sources
