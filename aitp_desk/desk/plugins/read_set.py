"""What capabilities have read for one message, and what they want done, until it is written.

A capability reads as if everything were at hand. What is not raises :class:`RecordUnread`, which
only the desk catches: it reads that and asks again. Since judging is pure nobody can tell.
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
"""What keys begin with that capabilities of one family share, and the name of what keeps them."""
RecordPlace = tuple[str, str]
"""A capability's slug, or the name of what keeps a family's, and a key of its own."""
NO_FAMILIES: Mapping[str, str] = MappingProxyType({})


def make_place(slug: str, family: str, key: str) -> RecordPlace:
    """Where something is kept.

    Parameters:
        family: as of :class:`~aitp_desk.capability.Capability`.
    """
    return (f"{FAMILY}{family}" if family and key.startswith(FAMILY) else slug), key


class RecordUnread(BaseException):
    """A record or counter is looked at that was not read yet. No plug-in is to catch it.

    Parameters:
        place: which.
        is_counter: whether it is a counter.
    """

    def __init__(self, place: RecordPlace, *, is_counter: bool) -> None:
        super().__init__(place)
        self.place = place
        self.is_counter = is_counter


class CallUnread(BaseException):
    """An action's call is looked at that was not read yet; as :class:`RecordUnread`."""

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
    """The records and counters of all capabilities, as one message sees them.

    Parameters:
        families: of the capabilities that have one, by their slugs.

    Attributes:
        records: what was read, None where there is nothing.
        counters: the same.
        calls: the actions' calls that were read, None where there is none.
        components: how the parts of the desk are; None while nobody has looked.
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
        """Forget what is wanted; what was read stays read."""
        self._kept.clear()
        self._counted.clear()
        self._seen.clear()
        self._compared.clear()

    def place(self, slug: str, key: str) -> RecordPlace:
        """Where a capability's record or counter of a key is kept."""
        return make_place(slug, self._families.get(slug, ""), key)

    def record(self, place: RecordPlace) -> Record | None:
        """A record as it is after what is wanted so far.

        Raises:
            Unread: it was not read yet.
        """
        if place in self._kept:
            return self._kept[place][0]
        if place not in self.records:
            raise RecordUnread(place, is_counter=False)
        return self.records[place]

    def counter(self, place: RecordPlace) -> int:
        """A counter as it is after what is wanted so far; :class:`RecordUnread` as above."""
        before = self._before(place)
        self._seen.add(place)
        return before + self._added(place)

    def has(self, place: RecordPlace, least: int) -> bool:
        """Whether a counter would hold so much; raises :class:`RecordUnread` as above.

        Of the counter no more is seen than that.
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
        """A call of an action's as it stands.

        Raises:
            UnreadCall: it was not read yet.
        """
        if call_id not in self.calls:
            raise CallUnread(call_id)
        return self.calls[call_id]

    def put_record(self, slug: str, wish: Keep, thread_id: str | None) -> None:
        """Note that a record is to be written.

        Raises:
            RecordsMoved: it has another version than the capability expects.
            ValueError, TypeError: the key or the value cannot be kept: a fault of the capability.
            Unread: it was not read yet.
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
        """Note that a counter is to be added to. It need not be read for that.

        Raises:
            ValueError: the counter's name cannot be kept.
        """
        place = self.place(slug, _checked(wish.counter))
        counted = self._counted.setdefault(place, _CounterAddition())
        counted.delta += wish.delta
        if wish.minimum is not None:
            least = wish.minimum - counted.delta
            counted.least = least if counted.least is None else max(counted.least, least)

    @property
    def read_records(self) -> tuple[SeenRecord, ...]:
        """Every record that was read, as it was."""
        return tuple(
            SeenRecord(slug, key, 0 if record is None else record.version)
            for (slug, key), record in self.records.items()
        )

    @property
    def read_counters(self) -> tuple[SeenCounter, ...]:
        """Every counter that was looked at, as it was."""
        seen = (SeenCounter(*place, self.counters[place]) for place in self._seen)
        compared = (
            SeenCounter(*place, self.counters[place], least)
            for place, least in self._compared
            if place not in self._seen
        )
        return (*seen, *compared)

    @property
    def written_records(self) -> tuple[NewRecord, ...]:
        """Every record that is to be written, as it will be at last."""
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
    """The records of one capability, and of its family, by exact key."""

    def __init__(self, ledger: ReadSet, slug: str) -> None:
        self._ledger = ledger
        self._slug = slug

    def __getitem__(self, key: str) -> Record:
        found = self._ledger.record(self._ledger.place(self._slug, key))
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("Records are read by exact key; nothing lists them.")

    def __len__(self) -> int:
        raise TypeError("Records are read by exact key; nothing counts them.")


class OwnCounters(Counters):
    """The counters of one capability, and of its family, by exact key."""

    def __init__(self, ledger: ReadSet, slug: str) -> None:
        self._ledger = ledger
        self._slug = slug

    def __getitem__(self, key: str) -> int:
        return self._ledger.counter(self._ledger.place(self._slug, key))

    def has(self, key: str, least: int) -> bool:
        """See :meth:`ReadSet.has`."""
        return self._ledger.has(self._ledger.place(self._slug, key), least)

    def __iter__(self) -> Iterator[str]:
        raise TypeError("Counters are read by exact key; nothing lists them.")

    def __len__(self) -> int:
        raise TypeError("Counters are read by exact key; nothing counts them.")


def _checked(key: str) -> str:
    if not 1 <= len(key) <= MAX_KEY:
        raise ValueError(f"A key has 1 to {MAX_KEY} characters, not {len(key)}.")
    return key
