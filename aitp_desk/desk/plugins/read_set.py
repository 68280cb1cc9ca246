"""Tracks what plugins read and write for one message, until it is stored.

Plugins read as if everything were loaded. An unread record raises :class:`RecordUnread`, which only
the desk catches: it reads the record and judges again. Judging is pure, so repeating it has no
effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from aitp_desk.capability import Add, Keep, Record
from aitp_desk.capability.effects import MAX_KEY
from aitp_desk.capability.messages import Counters
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.component import Component
from aitp_desk.store.records.capabilities import (
    Addition,
    NewRecord,
    RecordsMoved,
    SeenCounter,
    SeenRecord,
)

FAMILY = "family:"
"""Prefix of keys that plugins of one family share, and of their place."""
RecordPlace = tuple[str, str]
"""A plugin's slug, or the shared place of its family, and a key."""
NO_FAMILIES: Mapping[str, str] = MappingProxyType({})


def make_place(slug: str, family: str, key: str) -> RecordPlace:
    """Return the place of a record or counter.

    Parameters:
        family: as of :class:`~aitp_desk.capability.Capability`.
    """
    return (f"{FAMILY}{family}" if family and key.startswith(FAMILY) else slug), key


class RecordUnread(BaseException):
    """Signals a record or counter not read yet; plugins must not catch it."""

    def __init__(self, place: RecordPlace, *, is_counter: bool) -> None:
        super().__init__(place)
        self.place = place
        self.is_counter = is_counter


class CallUnread(BaseException):
    """Signals a call that is not read yet, as :class:`RecordUnread` does."""

    def __init__(self, call_id: str) -> None:
        super().__init__(call_id)
        self.call_id = call_id


class _CounterAddition(msgspec.Struct):
    """What is added to a counter so far.

    Parameters:
        least: what it must hold before that; None for any.
    """

    delta: int = 0
    least: int | None = None


class ReadSet:
    """The records and counters of all plugins, as one message sees them.

    Parameters:
        families: families by plugin slug, of plugins that have one.

    Attributes:
        records: the records read; None for those that do not exist.
        counters: the counters read.
        calls: the calls read; None for those that do not exist.
        components: the desk's components; None while not read.
    """

    def __init__(self, families: Mapping[str, str] = NO_FAMILIES) -> None:
        self._families = families
        self.calls: dict[str, ActionCall | None] = {}
        self.components: tuple[Component, ...] | None = None
        self.records: dict[RecordPlace, Record | None] = {}
        self.counters: dict[RecordPlace, int] = {}
        self._kept: dict[RecordPlace, tuple[Record, bool]] = {}
        self._counted: dict[RecordPlace, _CounterAddition] = {}
        self._seen: set[RecordPlace] = set()
        self._compared: set[tuple[RecordPlace, int]] = set()

    def reset(self) -> None:
        """Discard the collected writes; what was read stays."""
        self._kept.clear()
        self._counted.clear()
        self._seen.clear()
        self._compared.clear()

    def place(self, slug: str, key: str) -> RecordPlace:
        """Return where a plugin's record or counter is kept."""
        return make_place(slug, self._families.get(slug, ""), key)

    def record(self, place: RecordPlace) -> Record | None:
        """Return a record with the writes so far applied.

        Raises:
            RecordUnread: it was not read yet.
        """
        if place in self._kept:
            return self._kept[place][0]
        if place not in self.records:
            raise RecordUnread(place, is_counter=False)
        return self.records[place]

    def counter(self, place: RecordPlace) -> int:
        """Return a counter with the additions so far applied.

        Raises:
            RecordUnread: it was not read yet.
        """
        before = self._before(place)
        self._seen.add(place)
        return before + self._added(place)

    def has(self, place: RecordPlace, least: int) -> bool:
        """Return whether a counter would hold at least this much.

        Only the comparison counts as read: a concurrent change that keeps its result does not
        conflict.

        Raises:
            RecordUnread: it was not read yet.
        """
        before, needed = self._before(place), least - self._added(place)
        self._compared.add((place, needed))
        return before >= needed

    def _before(self, place: RecordPlace) -> int:
        if place not in self.counters:
            raise RecordUnread(place, is_counter=True)
        return self.counters[place]

    def _added(self, place: RecordPlace) -> int:
        counted = self._counted.get(place)
        return 0 if counted is None else counted.delta

    def call(self, call_id: str) -> ActionCall | None:
        """Return a call in its present state; None if it does not exist.

        Raises:
            CallUnread: it was not read yet.
        """
        if call_id not in self.calls:
            raise CallUnread(call_id)
        return self.calls[call_id]

    def put_record(self, slug: str, wish: Keep, thread_id: str | None) -> None:
        """Add a record to what is to be written.

        Raises:
            RecordsMoved: its version is not the one that the plugin expects.
            ValueError, TypeError: the key or the value cannot be stored: a fault of the plugin.
            RecordUnread: it was not read yet.
        """
        place = self.place(slug, _checked(wish.key))
        before = self.record(place)
        version = 0 if before is None else before.version
        if version != wish.expected_version:
            raise RecordsMoved
        written = Record(
            key=wish.key,
            version=version + 1,
            value=msgspec.json.decode(msgspec.json.encode(wish.value)),
            thread_id=None if wish.outlives else thread_id,
            open_until=wish.open_until,
        )
        self._kept[place] = written, wish.outlives

    def add(self, slug: str, wish: Add) -> None:
        """Add to a counter, which need not be read for that.

        Raises:
            ValueError: the counter's name cannot be stored.
        """
        place = self.place(slug, _checked(wish.counter))
        counted = self._counted.setdefault(place, _CounterAddition())
        counted.delta += wish.delta
        if wish.minimum is not None:
            least = wish.minimum - counted.delta
            counted.least = least if counted.least is None else max(counted.least, least)

    @property
    def read_records(self) -> tuple[SeenRecord, ...]:
        """Every record that was read, with its version."""
        return tuple(
            SeenRecord(slug, key, 0 if record is None else record.version)
            for (slug, key), record in self.records.items()
        )

    @property
    def read_counters(self) -> tuple[SeenCounter, ...]:
        """Every counter that was read or compared, with its value."""
        seen = (SeenCounter(*place, self.counters[place]) for place in self._seen)
        compared = (
            SeenCounter(*place, self.counters[place], least)
            for place, least in self._compared
            if place not in self._seen
        )
        return (*seen, *compared)

    @property
    def written_records(self) -> tuple[NewRecord, ...]:
        """Every record to be written, in its last version."""
        return tuple(
            NewRecord(slug, key, record.version, record.value, record.open_until, outlives)
            for (slug, key), (record, outlives) in self._kept.items()
        )

    @property
    def additions(self) -> tuple[Addition, ...]:
        """What is to be added, once for each counter."""
        return tuple(
            Addition(
                slug,
                key,
                counted.delta,
                None if counted.least is None else counted.least + counted.delta,
            )
            for (slug, key), counted in self._counted.items()
        )


class OwnRecords(Mapping[str, Record]):
    """The records of one plugin, and of its family, by exact key."""

    def __init__(self, ledger: ReadSet, slug: str) -> None:
        self._ledger = ledger
        self._slug = slug

    def __getitem__(self, key: str) -> Record:
        found = self._ledger.record(self._ledger.place(self._slug, key))
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("Records are read by exact key; they cannot be listed.")

    def __len__(self) -> int:
        raise TypeError("Records are read by exact key; they cannot be counted.")


class OwnCounters(Counters):
    """The counters of one plugin, and of its family, by exact key."""

    def __init__(self, ledger: ReadSet, slug: str) -> None:
        self._ledger = ledger
        self._slug = slug

    def __getitem__(self, key: str) -> int:
        return self._ledger.counter(self._ledger.place(self._slug, key))

    def has(self, key: str, least: int) -> bool:
        """See :meth:`ReadSet.has`."""
        return self._ledger.has(self._ledger.place(self._slug, key), least)

    def __iter__(self) -> Iterator[str]:
        raise TypeError("Counters are read by exact key; they cannot be listed.")

    def __len__(self) -> int:
        raise TypeError("Counters are read by exact key; they cannot be counted.")


def _checked(key: str) -> str:
    if not 1 <= len(key) <= MAX_KEY:
        raise ValueError(f"A key must have 1 to {MAX_KEY} characters, not {len(key)}.")
    return key
