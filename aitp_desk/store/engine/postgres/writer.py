"""Commits units to PostgreSQL, in groups, on one connection of the event loop.

The units of a group are driven side by side where they share nothing (``wave.py``).

Any number of desks may write to one database. Units read before they write (the end of a thread's
chain, the newest row of the audit log, a counter, an idempotency key), so they must not interleave
with those of another desk. Every group therefore begins by taking one lock, a PostgreSQL advisory
lock that ends with the transaction: groups of all desks commit one after another, exactly as those
of one desk do, and each statement sees everything committed before. A group takes all units that
wait once it has the lock, so the number of commits does not grow with that of units. Reads take no
lock.

The alternatives are worse. In SERIALIZABLE transactions groups of two desks would fail each other
all the time: all units of a group must be repeated for one that conflicts, and the audit log and
its like are in nearly all. Locks on rows would have to know what each unit reads.

A desk that stops in the middle of a group (a paused virtual machine) loses its transaction after
``IDLE_SECONDS``, and with it the lock.

A unit that fails before it has written anything fails alone, and the group continues. One that
fails later, or any error of the database, spoils the transaction: it is rolled back and the units
are driven again, each in a separate transaction. So they are as a whole after a conflict or a lost
connection. Where the connection is lost during COMMIT, the server is asked what became of the
transaction: no unit takes effect twice.

While the server cannot be reached or has no space, callers are refused; records stay first in the
queue until they are committed, since no caller waits that could submit them again. Where it is
slow, a group is committed after a second, as far as it is driven, and callers whose units have
waited too long for a group are refused.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter

import structlog
from asyncpg import Connection
from asyncpg.exceptions import InvalidParameterValueError, PostgresError

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.metrics import CommitMetrics
from aitp_desk.store.engine.postgres.connections import (
    DATABASE_ERRORS,
    Connections,
    describe,
    is_conflict,
    is_exhausted,
    is_lost,
)
from aitp_desk.store.engine.postgres.migration import TAKE_LOCK
from aitp_desk.store.engine.postgres.statements import Statement
from aitp_desk.store.engine.postgres.wave import drive_wave, sort_into_waves
from aitp_desk.store.engine.queue import MAX_UNITS
from aitp_desk.store.engine.unit import Unit

LOCK_SECONDS = 5
"""How long a commit waits for another program that writes."""
IDLE_SECONDS = 3
"""How long a transaction may wait for its desk before the server ends it. Others wait longer."""
STARTED = "extract(epoch FROM pg_postmaster_start_time())::text"
"""When the server has started: another one, or the same after a crash, has another time."""
WAIT_FOR_DISK = (
    "CASE current_setting('synchronous_commit') WHEN 'off'"
    " THEN set_config('synchronous_commit', 'on', true) END"
)
"""A server may be set to report commits that a crash would lose; stricter settings stay."""
NUMBER_AND_LOCK = (
    f"SELECT pg_current_xact_id()::text || ' ' || {STARTED}, {TAKE_LOCK}, {WAIT_FOR_DISK}"
)
"""Returns a transaction's number and its server's start once it has the lock, in one round trip."""
MOST_TRIES = 5
"""How often a group is driven before its units fail."""
BACK_OFF_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""How long the writer waits before it connects again."""
OUTCOME_SECONDS = 30.0
"""How long it asks what became of a transaction."""
GROUP_SECONDS = 1.0
"""After so long a group is committed as far as it is driven: several processes wait for it."""
QUEUE_SECONDS = 30.0
"""How long a unit may wait for its group."""
OVERDUE_SECONDS = 1.0
"""Interval of looking for units that have waited longer."""

_log = structlog.get_logger()


class _OutcomeUnknown(StoreError):
    """The connection was lost during a COMMIT, and the server does not answer."""


class GroupWriter:
    """Commits units in the order in which they were submitted.

    Parameters:
        connection: used by nobody else from now on.
        statements: by name.
        on_settled: called with settled units.

    Attributes:
        commits: metrics of the commits.
    """

    def __init__(
        self,
        connections: Connections,
        connection: Connection,
        *,
        statements: Mapping[str, Statement],
        on_settled: Callable[[list[Unit]], object],
    ) -> None:
        self._connections = connections
        self._connection: Connection | None = connection
        self._statements = statements
        self._on_settled = on_settled
        self.commits = CommitMetrics()
        self._submitted: list[Unit] = []
        self._arrived = asyncio.Event()
        self._is_stopping = False
        self._failures = 0
        self._loop = asyncio.get_running_loop()
        self._later_waves: deque[list[Unit]] = deque()
        """Of the present group, those that are not driven yet."""
        self._refused: set[Unit] = set()
        """Units that were settled while others of their group were driven."""
        self._begin = (
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;"
            f" SET LOCAL statement_timeout = '{connections.seconds:g}s';"
            f" SET LOCAL lock_timeout = '{LOCK_SECONDS}s';"
            f" SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"
        )
        self._task = asyncio.create_task(self._serve(), name="aitp-desk store writer")

    def enqueue(self, units: list[Unit]) -> None:
        """Submit units; the list belongs to the writer from now on."""
        now = perf_counter()
        for unit in units:
            unit.submitted_at = now
        self._submitted += units
        self._arrived.set()

    async def stop(self) -> None:
        """Return once everything submitted has been settled, even if the caller is cancelled."""
        self._is_stopping = True
        self._arrived.set()
        cancelled: asyncio.CancelledError | None = None
        while not self._task.done():
            try:
                await asyncio.shield(self._task)
            except asyncio.CancelledError as error:
                cancelled = error
        await self._disconnect()
        if cancelled is not None:
            raise cancelled

    async def _serve(self) -> None:
        late: list[Unit] = []
        while True:
            await self._wait(is_late=bool(late))
            if not self._submitted and not late:
                return
            units = late + self._take(MAX_UNITS)
            begun = [unit for unit in units if not _refuse_overdue(unit)]
            self._timer = self._loop.call_later(OVERDUE_SECONDS, self._refuse_waiting)
            try:
                left = await self._write(begun, units)
            finally:
                self._timer.cancel()
            self._submitted[:0] = left
            again = set(left)
            late = [unit for unit in units if _waits(unit) and unit not in again]
            if self._is_stopping:
                late = []
            if not late:
                self._failures = 0
            others = {*again, *late, *self._refused}
            self._refused.clear()
            self._on_settled([unit for unit in units if unit not in others])

    def _refuse_waiting(self) -> None:
        """Refuse callers that wait too long behind others, again and again."""
        self._timer = self._loop.call_later(OVERDUE_SECONDS, self._refuse_waiting)
        for waiting in (self._submitted, *self._later_waves):
            if overdue := [unit for unit in waiting if _refuse_overdue(unit)]:
                self._refused.update(overdue)
                waiting[:] = [unit for unit in waiting if unit not in self._refused]
                self._on_settled(overdue)

    async def _wait(self, *, is_late: bool) -> None:
        """Wait for units; after a failure, also until the next try is due."""
        if is_late:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._back_off()):
                    await self._arrive()
        else:
            await self._arrive()

    async def _arrive(self) -> None:
        while not self._submitted and not self._is_stopping:
            self._arrived.clear()
            await self._arrived.wait()

    def _back_off(self) -> float:
        return BACK_OFF_SECONDS[min(self._failures, len(BACK_OFF_SECONDS) - 1)]

    def _take(self, most: int) -> list[Unit]:
        taken = self._submitted[:most]
        del self._submitted[:most]
        return taken

    async def _write(self, units: list[Unit], group: list[Unit] | None = None) -> list[Unit]:
        """Commit the units together, or else each alone.

        Parameters:
            group: is extended, as the units are, by those that came until the lock was taken; None
                to add none.

        Returns:
            Those that are left for the next group.
        """
        if not units:
            return []
        for attempt in range(1, MOST_TRIES + 1):
            began = perf_counter()
            try:
                connection = await self._connect()
                number = await self._open_transaction(connection)
            except Exception as error:  # noqa: BLE001 - it is passed to the callers
                if not await self._is_worth_a_try(error) or attempt > 1:
                    self._fail(units, error)
                    return []
                continue
            if group is not None:
                gathered = self._take(MAX_UNITS - len(group))
                units += gathered
                group += gathered
            left: list[Unit] = []
            try:
                left = await self._drive(connection, units)
                await self._commit(connection, number)
            except _OutcomeUnknown as error:
                not_driven = set(left)
                driven = [unit for unit in units if unit not in not_driven]
                self.commits.failed += len(driven)
                for unit in driven:
                    unit.error = error
                return left
            except Exception as error:  # noqa: BLE001 - it is passed to the callers
                was_lost = is_lost(error) or connection.is_closed()
                await self._roll_back(was_lost=was_lost)
                if attempt < MOST_TRIES and (was_lost or is_conflict(error)):
                    continue
                if len(units) == 1:
                    self._fail_alone(units[0], error)
                    return []
                break
            self.commits.note(len(units) - len(left), perf_counter() - began)
            return left
        await self._write_each(units)
        return []

    async def _drive(self, connection: Connection, units: list[Unit]) -> list[Unit]:
        """Drive units in waves; return those for which there was no time."""
        until = perf_counter() + GROUP_SECONDS
        waves = self._later_waves = deque(
            sort_into_waves([unit for unit in units if unit not in self._refused])
        )
        try:
            while waves:
                await drive_wave(connection, self._statements, waves.popleft())
                if perf_counter() > until:
                    return [unit for wave in waves for unit in wave]
            return []
        finally:
            self._later_waves = deque()

    async def _write_each(self, units: list[Unit]) -> None:
        """Commit each unit alone, for as long as others may wait."""
        until = perf_counter() + QUEUE_SECONDS
        for unit in units:
            if perf_counter() > until:
                unit.error = _too_slow()
            elif unit not in self._refused and not _refuse_overdue(unit):
                await self._write([unit])

    async def _connect(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connections.connect()
            _log.info("store.connected_again")
        return self._connection

    async def _is_worth_a_try(self, error: BaseException) -> bool:
        """Return whether to begin again at once: the connection was lost since the last group."""
        connection = self._connection
        if connection is None or _is_of_use(connection, error):
            return False
        await self._disconnect()
        return True

    def _fail_alone(self, unit: Unit, error: Exception) -> None:
        """Give up a unit that was driven alone."""
        self.commits.failed += isinstance(error, DATABASE_ERRORS)
        if is_exhausted(error):
            self._note_failure("store.exhausted", error)
        unit.error = describe(error)

    def _note_failure(self, event: str, error: Exception) -> None:
        """Log the first of several failures, and count it."""
        if self._failures == 0:
            _log.warning(event, reason=str(error) or type(error).__name__)
        self._failures += 1

    def _fail(self, units: list[Unit], error: Exception) -> None:
        """Give up a group that was not begun."""
        self._note_failure("store.unreachable", error)
        self.commits.failed += len(units)
        for unit in units:
            unit.error = describe(error)

    async def _open_transaction(self, connection: Connection) -> str:
        """Begin a transaction that holds the lock; return its number and the server's start."""
        try:
            await connection.execute(self._begin)
            number: str = await connection.fetchval(NUMBER_AND_LOCK)
        except Exception as error:
            if _is_of_use(connection, error):
                with suppress(Exception):
                    await connection.execute("ROLLBACK")
            raise
        return number

    async def _commit(self, connection: Connection, number: str) -> None:
        """Commit the transaction of a number.

        Raises:
            _OutcomeUnknown: it is not known what was written; after any other error nothing was.
        """
        try:
            await connection.execute("COMMIT")
        except Exception as error:
            await self._disconnect()
            if not await self._was_committed(number, error):
                raise

    async def _was_committed(self, number: str, error: Exception) -> bool:
        """Ask the server what became of a transaction.

        A server that has restarted, or has taken over, may not know the number, and may give it to
        another transaction. Only that it is not committed can be believed then.

        Raises:
            _OutcomeUnknown: the server does not answer, or cannot know.
        """
        number, _, started = number.partition(" ")
        with suppress(TimeoutError):
            async with asyncio.timeout(OUTCOME_SECONDS):
                for seconds in _back_offs():
                    with suppress(Exception):
                        connection = await self._connect()
                        async with connection.transaction(readonly=True):
                            server = await connection.fetchval(f"SELECT {STARTED}")
                            try:
                                outcome = await connection.fetchval(
                                    "SELECT pg_xact_status($1::text::xid8)", number
                                )
                            except InvalidParameterValueError:  # a number of the future
                                return False
                        if outcome == "committed" and server != started:
                            break
                        if outcome != "in progress":
                            return bool(outcome == "committed")
                    await asyncio.sleep(seconds)
        raise _OutcomeUnknown(
            "The database was lost while it committed, and it is not known what was written."
        ) from error

    async def _roll_back(self, *, was_lost: bool) -> None:
        """End the transaction; give up the connection if that is not possible."""
        if self._connection is None:  # it was lost during COMMIT
            return
        if not was_lost:
            with suppress(Exception):
                await self._connection.execute("ROLLBACK")
                return
        await self._disconnect()

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                await connection.close(timeout=1)


def _is_of_use(connection: Connection, error: BaseException) -> bool:
    """Return whether the server answered by an error and awaits the next statement."""
    answered = isinstance(error, PostgresError) and not is_lost(error)
    return answered and not connection.is_closed()


def _back_offs() -> list[float]:
    return [*BACK_OFF_SECONDS, *([BACK_OFF_SECONDS[-1]] * int(OUTCOME_SECONDS))]


def _refuse_overdue(unit: Unit) -> bool:
    """Refuse a caller that has waited too long; return whether it has."""
    if unit.future is None or perf_counter() - unit.submitted_at <= QUEUE_SECONDS:
        return False
    unit.error = _too_slow()
    return True


def _too_slow() -> StoreBusy:
    return StoreBusy("The database is slow, and many wait for it. Try again.", retry_after=5)


def _waits(unit: Unit) -> bool:
    """Return whether a unit stays queued: no caller waits for it, and the server did not answer."""
    return unit.future is None and isinstance(unit.error, StoreBusy)
