"""The memory of answers already given to first questions.

An answer is kept under everything that it depends on, for a while, as long as the content does not
change and there is room. Who asks what is being answered to somebody else at this moment waits for
that answer, so that many who come at once with one question cost one answer.
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
from aitp_desk.model.errors import Unavailable

Key = tuple[object, ...]
"""What an answer depends on, beside the content; two that are equal may share one."""

_FRAME = 1_000
"""What an entry takes beside its texts, in bytes, about."""
_FORM = 500
"""What an answer's forms take that it does not say itself, in bytes, about."""

_encode = msgspec.json.Encoder().encode


def normalise_query(query: str) -> str:
    """A question without what makes no other question of it: case, white space, composition.

    All of it counts, however long it is. Letters are not folded further than to lower case, nor
    are signs replaced by what they resemble: ``Maße`` is not ``Masse``, and 10² is not 102.
    """
    if not query.isascii():
        query = unicodedata.normalize("NFC", query)
    return " ".join(query.lower().split())


class RenderSlot:
    """A place beside a cached answer for what is made of it each time.

    Attributes:
        encoded: a door's bytes.
        recorded: the parts of the reply and its metadata, as they are written down.
    """

    __slots__ = ("encoded", "recorded")

    def __init__(self) -> None:
        self.encoded: bytes | None = None
        self.recorded: tuple[tuple[str, ...], dict[str, str]] | None = None


class CachedAnswer(msgspec.Struct, frozen=True):
    """What a first question is answered.

    Parameters:
        kept: set for an answer from the cache.
        age_seconds: how long ago that one was made.
    """

    outcome: Said
    kept: RenderSlot | None = None
    age_seconds: int = 0


class CacheCounts(msgspec.Struct):
    """What became of first questions and of kept answers since the desk started.

    Parameters:
        hits: questions that were answered from the cache.
        misses: questions that an agent was asked.
        shared: questions that were answered together with another's, which could not be kept.
        stored: answers that were kept.
        evicted_for_room, evicted_by_age, evicted_with_content: answers that were dropped: for newer
            ones, as too old, and because the content had changed.
        answers, size: how many are kept now, and about how many bytes they take.
        waiting: questions that wait for another's answer now.
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
        """The share of first questions that were answered from the cache, 0 to 1."""
        asked = self.hits + self.misses + self.shared
        return self.hits / asked if asked else 0.0


class _Entry(msgspec.Struct):
    """An answer that is kept.

    Parameters:
        size: how many bytes of memory it takes.
        growth: how many more when it is given again and its forms are kept beside it; 0 once they
            are counted.
    """

    made_at: float
    answer: Answer
    kept: RenderSlot
    size: int
    growth: int


class _PendingEntry(msgspec.Struct, eq=False):
    """An answer that is being made. All is None where whoever asked first went away.

    Parameters:
        over: set when it is made; None until somebody waits.
    """

    over: asyncio.Event | None = None
    outcome: Said | None = None
    error: Exception | None = None


class AnswerCache:
    """First answers by everything that they depend on; those not asked for longest make room.

    Attributes:
        counts: what became of questions and answers, to be read and not written.
    """

    def __init__(self, settings: Cache, clock: Callable[[], float]) -> None:
        self._most = settings.max_answers
        self._most_bytes = settings.max_bytes
        self._ttl = settings.ttl_seconds
        self._clock = clock
        self._revision = ""
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._making: dict[tuple[str, Key], _PendingEntry] = {}
        self.counts = CacheCounts()

    @property
    def hit_rate(self) -> float | None:
        """The share of first questions that were answered from here; None where none can be."""
        return self.counts.hit_rate if self._most else None

    async def get_or_make(
        self, revision: str, key: Key, make: Callable[[], Awaitable[Said]]
    ) -> CachedAnswer:
        """The answer given before, else the one that is being made, else a new one.

        Whoever waits for another's answer is not hurt when the other goes away, and shares nothing
        that was made with tools, or has a person asked: that is for one caller.

        Parameters:
            revision: of the content that the question is asked of.
            key: what else the answer depends on.
            make: makes the answer. All who wait for it are told that it is :class:`Unavailable`;
                what else it raises is about its own caller, and they go on without it.
        """
        if revision != self._revision:
            self._begin(revision)
        known = self._find(key)
        while known is None:
            making = self._making.get((revision, key))
            if making is None:
                return CachedAnswer(await self._make(revision, key, make))
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
        """Drop all answers; those that are being made are not kept."""
        self._drop_all()
        self._revision = ""

    def _find(self, key: Key) -> CachedAnswer | None:
        """The answer given before, unless it is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        age = self._clock() - entry.made_at
        if not 0 <= age <= self._ttl:  # of one from the time to come nobody knows how old it is
            self._drop(key)
            self.counts.evicted_by_age += 1
            return None
        self._entries.move_to_end(key)
        if entry.growth:
            self._grow(entry)
        self.counts.hits += 1
        return CachedAnswer(entry.answer, entry.kept, int(age))

    async def _wait(self, making: _PendingEntry) -> None:
        self.counts.waiting += 1
        over = making.over = making.over or asyncio.Event()
        try:
            await over.wait()
        finally:
            self.counts.waiting -= 1

    async def _make(self, revision: str, key: Key, make: Callable[[], Awaitable[Said]]) -> Said:
        making = self._making[revision, key] = _PendingEntry()
        try:
            self.counts.misses += 1
            outcome = making.outcome = await make()
            may_keep = outcome.fallback is None and not _acts_for_one(outcome)
            if isinstance(outcome, Answer) and may_keep:
                self._put(revision, key, outcome)
        except Exception as error:
            making.error = error
            raise
        finally:
            del self._making[revision, key]
            if making.over is not None:
                making.over.set()
        return outcome

    def _put(self, revision: str, key: Key, answer: Answer) -> None:
        """Remember an answer that read nothing but public content, the present content."""
        if revision != self._revision or not self._most:
            return
        size, growth = _weigh(key, answer)
        if size + growth > self._most_bytes:
            return
        if key in self._entries:
            self._drop(key)
        self._entries[key] = _Entry(self._clock(), answer, RenderSlot(), size, growth)
        self.counts.stored += 1
        self.counts.answers += 1
        self.counts.size += size
        self._make_room()

    def _grow(self, entry: _Entry) -> None:
        """Count what is kept beside an answer from now on, the newest of all."""
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
        """Forget what was said of other content."""
        self.counts.evicted_with_content += len(self._entries)
        self._drop_all()
        self._revision = revision

    def _drop_all(self) -> None:
        self.counts.answers = self.counts.size = 0
        self._entries.clear()


def _acts_for_one(outcome: Said) -> bool:
    """Whether an outcome did something for the caller, or only returns a courtesy."""
    is_of_one = isinstance(outcome, Answer) and (outcome.person is not None or outcome.is_courtesy)
    return bool(outcome.tools_used) or is_of_one


def _weigh(key: Key, answer: Answer) -> tuple[int, int]:
    """How many bytes an entry takes, about, and how many more its forms will.

    A text has one, two or four bytes a character, as its widest one needs, and beside it its UTF-8
    once it was encoded, which is done here first. Titles and addresses are the index's own.
    """
    form = len(_encode(answer))
    texts = [part for part in key if isinstance(part, str)]
    texts += (answer.text, *answer.follow_ups)
    sources = sum(len(source.title) + len(source.url) for source in answer.sources)
    return _FRAME + sum(map(sys.getsizeof, texts)), _FORM + form + sources
