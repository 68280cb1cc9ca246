"""Counts the outcomes of visitors' questions by the day (UTC).

The figures of past days are kept in memory, as counts without texts. A day is counted from the
conversations that are kept then: what was deleted before is not counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec
from msgspec import field

from aitp_desk.agent.history.message_codec import ASKS_BACK, NOT_FOUND, list_sources
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import insights as reads
from aitp_desk.store.reads.console.insights import InsightLine

MAX_DAYS: Final = 90
"""How many days figures are available for."""
_LATE_SECONDS = 60
"""How long after its end a day's figures may still change."""
_HANDED_SECONDS = 2
"""How long before its reply the ticket of a question may be made."""


class DayFigures(msgspec.Struct, kw_only=True):
    """The outcomes of a day's questions, the ratings, and what was used.

    A question is a visitor's message in words. The desk's next message decides its outcome; without
    one it has none.

    Parameters:
        at: Unix seconds at which the day began.
        refused: the content had no answer.
        asked_back: the desk asked for more.
        handed: a person was asked, or has answered.
        up, down: how many ratings were given that day.
        pages: how often each page was quoted, by its address without the section.
        actions: how often each action was called.
    """

    at: int
    questions: int = 0
    answered: int = 0
    refused: int = 0
    asked_back: int = 0
    handed: int = 0
    up: int = 0
    down: int = 0
    pages: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)

    def count_reply(self, metadata: Mapping[str, str], *, is_handed: bool) -> None:
        """Count the outcome of a question.

        Parameters:
            metadata: of the reply.
            is_handed: whether a person has answered or was asked.
        """
        if is_handed:
            self.handed += 1
        elif NOT_FOUND.items() <= metadata.items():
            self.refused += 1
        elif ASKS_BACK.items() <= metadata.items():
            self.asked_back += 1
        else:
            self.answered += 1

    def count_sources(self, part: str) -> None:
        """Count the pages of a reply's sources, each once."""
        self.pages.update({url.partition("#")[0] for _, url in list_sources(part)})


class FigureReader:
    """Reads the figures of days, of all site agents together.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._days: dict[int, DayFigures] = {}
        self._count_lock = asyncio.Lock()

    @property
    def today(self) -> int:
        """Unix seconds at which the day began (UTC)."""
        return int(self._clock()) // DAY_SECONDS * DAY_SECONDS

    async def read_days(self, days: int) -> tuple[DayFigures, ...]:
        """Return the figures of the newest days, the oldest first.

        Parameters:
            days: 1 to ``MAX_DAYS``; the last one is today.
        """
        today = self.today
        async with self._count_lock:
            for at in [at for at in self._days if at <= today - MAX_DAYS * DAY_SECONDS]:
                del self._days[at]
            first = today - (days - 1) * DAY_SECONDS
            return tuple([await self._read(at) for at in range(first, today + 1, DAY_SECONDS)])

    async def _read(self, at: int) -> DayFigures:
        known = self._days.get(at)
        if known is not None:
            return known
        now = self._clock()
        counted = await _count_day(self._store, at)
        if now >= at + DAY_SECONDS + _LATE_SECONDS:
            self._days[at] = counted
        return counted


def rank_uses(counts: Iterable[Counter[str]]) -> list[tuple[str, int]]:
    """Return the sums of several days' counts, the largest first."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


async def _count_day(store: Store, at: int) -> DayFigures:
    end = at + DAY_SECONDS
    day = DayFigures(at=at)
    asked: defaultdict[str, list[int]] = defaultdict(list)
    for thread_id, made in await reads.people_asked(store, at, end):
        asked[thread_id].append(made)
    waiting: set[str] = set()
    async for said in reads.said_between(store, at, end):
        if said.is_question:
            day.questions += 1
            waiting.add(said.thread_id)
        elif said.is_desk:
            day.count_sources(said.sources)
            if said.thread_id in waiting:
                waiting.discard(said.thread_id)
                day.count_reply(said.metadata, is_handed=_is_handed(said, asked))
    async for turn in reads.folded_between(store, at, end):
        day.questions += 1
        day.count_reply(turn.notes, is_handed=False)
        day.count_sources(turn.reply[-1] if turn.reply else "")
    day.actions.update(await reads.count_calls(store, at, end))
    ratings = await reads.count_ratings(store, at, end)
    day.up, day.down = ratings.get("up", 0), ratings.get("down", 0)
    return day


def _is_handed(said: InsightLine, asked: Mapping[str, list[int]]) -> bool:
    """Return whether a person has answered, or was asked with this reply."""
    if get_operator(said.actor) is not None:
        return True
    return any(0 <= said.at - made <= _HANDED_SECONDS for made in asked.get(said.thread_id, ()))
