"""Books over plain values: effects are applied as the desk's store applies them, all or none."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from aitp_desk.capability import Add, Effect, Keep, Record


class Moved(Exception):
    """Something is not as it was judged by: in the desk, the message would be judged again."""


class Look:
    """Books as they were read: what was read must be unchanged when it is written."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.now = shelf.now
        self.records: dict[str, Record | None] = {}
        self.counters: dict[str, int] = {}
        self.compared: dict[tuple[str, int], bool] = {}

    def record(self, key: str) -> Record | None:
        return self.records.setdefault(key, self._shelf.record(key))

    def counter(self, key: str) -> int:
        return self.counters.setdefault(key, self._shelf.counter(key))

    def has(self, key: str, least: int) -> bool:
        return self.compared.setdefault((key, least), self._shelf.has(key, least))


class Shelf:
    """Records and counters in memory.

    Attributes:
        others: effects that are neither: what is said, started and noted.
    """

    def __init__(self, now: int = 1_000) -> None:
        self.now = now
        self.records: dict[str, Record] = {}
        self.counters: dict[str, int] = {}
        self.others: list[Effect] = []

    def record(self, key: str) -> Record | None:
        return self.records.get(key)

    def counter(self, key: str) -> int:
        return self.counters.get(key, 0)

    def has(self, key: str, least: int) -> bool:
        return self.counter(key) >= least

    def commit(self, look: Look, effects: Iterable[Effect]) -> None:
        """Apply effects if everything is as they were judged by, or raise Moved."""
        if any(self.records.get(key) != seen for key, seen in look.records.items()):
            raise Moved
        if any(self.counter(key) != seen for key, seen in look.counters.items()):
            raise Moved
        if any(self.has(*compared) != seen for compared, seen in look.compared.items()):
            raise Moved
        self.apply(effects)

    def apply(self, effects: Iterable[Effect]) -> None:
        """Apply effects, or raise Moved and apply none."""
        records, counters, others = dict(self.records), dict(self.counters), list(self.others)
        for effect in effects:
            match effect:
                case Keep(key, value, expected, open_until, outlives):
                    before = records.get(key)
                    version = 0 if before is None else before.version
                    if version != expected:
                        raise Moved(key)
                    assert len(key) <= 200
                    is_of_thread = key.startswith("asked:")
                    assert outlives != is_of_thread, "what is money stays when words are erased"
                    kept = msgspec.json.decode(msgspec.json.encode(value))
                    records[key] = Record(
                        key=key, version=version + 1, value=kept, open_until=open_until
                    )
                case Add(counter, delta, minimum):
                    assert len(counter) <= 200
                    counters[counter] = counters.get(counter, 0) + delta
                    if minimum is not None and counters[counter] < minimum:
                        raise Moved(counter)
                case _:
                    others.append(effect)
        self.records, self.counters, self.others = records, counters, others
