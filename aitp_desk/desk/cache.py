"""The memory of answers already given to first questions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from aitp_desk.agent.base import Answer
from aitp_desk.config import Cache

_Key = tuple[object, ...]


class Kept:
    """A place beside a cached answer where a door keeps its encoded bytes."""

    __slots__ = ("encoded",)

    def __init__(self) -> None:
        self.encoded: bytes | None = None


class AnswerCache:
    """First answers by everything that they depend on; the oldest make room."""

    def __init__(self, settings: Cache, clock: Callable[[], float]) -> None:
        self._most = settings.max_answers
        self._ttl = settings.ttl_seconds
        self._clock = clock
        self._entries: OrderedDict[_Key, tuple[float, Answer, Kept]] = OrderedDict()

    def get(self, key: _Key) -> tuple[Answer, Kept] | None:
        """The answer given before, unless it is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        put_at, answer, kept = entry
        if self._clock() - put_at > self._ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return answer, kept

    def put(self, key: _Key, answer: Answer) -> None:
        """Remember an answer that read nothing but public content."""
        self._entries[key] = (self._clock(), answer, Kept())
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
