"""Defines the store interface and its guarantees.

A *unit of work* is a generator function: it yields ``(statement name, parameters)``, is sent that
statement's rows, and returns its result. A tuple of parameters runs the statement once for each, in
their order, and all rows are sent together. The rules of the desk's data are units (``units/``) and
are written once; an engine only drives them. Statements are named in ``queries/``.

The guarantees:

Atomicity
    A unit's writes are all committed or none is. A unit that raises leaves nothing behind, and what
    it raised reaches its caller unchanged. Units commit together in groups, but one unit's failure
    never fails another.
Order
    Units of one thread take effect in the order in which they were handed over, whether by
    :meth:`Store.run` or by :meth:`Store.record`. A unit sees everything committed or taken before
    it. Every thread's ``seq`` and event numbers are 1, 2, 3 … without a gap; a deleted thread has
    no events after a day.
Durability
    :meth:`Store.run` returns after the commit: what it returned survives ``kill -9``.
    :meth:`Store.record` returns at once and is committed within 100 ms, unless the store
    :attr:`~Store.is_behind` or another program holds the database; no later, in any case, than
    whatever is handed over after it. A crash may lose it whole, never in part.
Retries
    An engine may run a unit again from its start (its group was rolled back, a serialization
    failure). So a unit is deterministic: ids, time and salts are arguments; it does no I/O and
    raises every refusal before its first write. (A folded thread that it names is unfolded before
    that; a refusal then rolls the unfolding back.)
Pressure
    When more units wait than the queue holds, both methods raise :class:`StoreBusy` and nothing of
    that unit is written.
Reading
    :meth:`Store.read` sees every unit whose :meth:`Store.run` has returned. It is for bounded,
    indexed reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar

import msgspec

T = TypeVar("T")
P = ParamSpec("P")

Row = tuple[Any, ...]
Params = Mapping[str, Any]
ParamSets = Params | tuple[Params, ...]
Work = Generator[tuple[str, ParamSets], list[Row], T]
"""The running form of a unit: yields (statement, parameters), is sent rows, returns T."""

PAGE_BYTES = 1024 * 1024
"""Maximum total size of the rows of one page, in bytes.

JSON columns count as stored, with their escapes, so a page is about as long when it is sent. The
first row of a page may be longer.
"""


class StoreError(Exception):
    """The store cannot be opened or used.

    The message says why and what to do.
    """


class StoreTooNew(StoreError):
    """The database was written by a newer version of the desk."""


class StoreChanged(StoreError):
    """A migration that was applied is not the one that this version carries."""


class RowPage(msgspec.Struct, frozen=True):
    """A page of the rows that a statement finds.

    Parameters:
        has_more: whether there are rows after these.
    """

    rows: list[Row]
    has_more: bool


class Reader(Protocol):
    """Reads stored data; implemented by a store and by a read-only view of one."""

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        """Run one reading statement by its name and return its rows.

        Raises:
            StoreError: the database failed.
        """

    async def read_page(
        self, statement: str, params: Params, /, *, limit: int, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """Run one reading statement that ends in ``LIMIT :limit`` and return its first rows.

        Parameters:
            params: those of the statement without ``limit``.
            limit: maximum number of rows.
            most_bytes: maximum total size of the rows; there is at least one row in any case.

        Raises:
            StoreError: the database failed.
        """


class Store(Reader, Protocol):
    """A durable store of threads and related data.

    The module states its guarantees.
    """

    @property
    def name(self) -> str:
        """The engine and location, for people: ``SQLite, /srv/desk/desk.db``; no credential."""

    @property
    def is_behind(self) -> bool:
        """Whether more units wait than a few commits can take.

        Callers that can wait should wait then.
        """

    async def run(self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one unit and return its result after its commit.

        Raises:
            StoreBusy: the queue is full; nothing was written.
            StoreError: the database failed; nothing was written.
            whatever the unit raised; nothing was written.
        """

    async def run_apart(
        self, work: Callable[P, Work[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run one unit ahead of all that waits, and return its result.

        For signs of life: each statement may be committed alone, and a crash of the database may
        lose it. Its rows belong to no thread, and no unit that waits changes them.

        Raises:
            StoreBusy, StoreError: the database failed.
        """

    def record(self, work: Callable[P, Work[Any]], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Hand one unit over without waiting for it; it is committed within 100 ms.

        For records of answers already given. A failure is logged, not raised.

        Raises:
            StoreBusy: the queue is full; nothing was written.
        """

    async def settled(self) -> None:
        """Return once everything submitted before this call has been committed or has failed.

        Raises:
            StoreBusy: neither is possible yet, because another program holds the database.
            StoreError: the database failed.
        """


class Opened(msgspec.Struct, frozen=True):
    """The result of opening a store, for the start-up report.

    Parameters:
        version: number of the newest migration applied.
        migrated: how many migrations this start applied.
    """

    version: int
    migrated: int
