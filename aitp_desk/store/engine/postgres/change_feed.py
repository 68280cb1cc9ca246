"""Carries changes between processes by LISTEN and NOTIFY, on a separate connection.

A NOTIFY is sent right after the commit, not in it: notifications within transactions make all
commits of a database wait for each other. Those of one moment go together. Whatever is lost that
way, with a process or a connection, its receivers find by themselves: after each new connection,
and every few seconds, they read on by number.

A pooler of transactions passes no notifications on: behind one, the receivers only look.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec
import structlog
from asyncpg import Connection
from asyncpg.pool import PoolConnectionProxy

from aitp_desk.store.changes import CatchUp, Change, Receive
from aitp_desk.store.engine.postgres.connections import Connections, reason

CHANNEL = "aitp_desk_changes"
MAX_PAYLOAD_BYTES = 7_000
"""PostgreSQL takes 7,999 bytes."""
MAX_UNSENT = 10_000
"""How many changes wait for a connection; receivers find further ones by themselves."""
LOOK_SECONDS = 5.0
"""Interval of looking for changes that were lost."""
POOLED_LOOK_SECONDS = 1.0
"""The same where no change is passed on."""
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
END_SECONDS = 1.0
"""How long the last changes may take to be sent."""

_log = structlog.get_logger()


class _Notice(msgspec.Struct, frozen=True, array_like=True):
    """What one NOTIFY carries.

    Parameters:
        sender: the process that sent it.
    """

    sender: str
    changes: list[Change]


_decode = msgspec.json.Decoder(_Notice).decode


class PostgresChangeFeed:
    """The change feed of the processes on a PostgreSQL database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._sender = secrets.token_hex(4)
        self._unsent: dict[Change, None] = {}
        self._wanted = asyncio.Event()
        self._is_over = False

    def publish(self, change: Change) -> None:
        """Send a change to the other processes soon; call it after the commit."""
        if len(self._unsent) < MAX_UNSENT and not self._connections.is_pooled:
            self._unsent[change] = None
            self._wanted.set()

    @asynccontextmanager
    async def deliver(self, receive: Receive, catch_up: CatchUp) -> AsyncIterator[None]:
        """Receive the changes of other processes for as long as the context lasts."""
        if self._connections.is_pooled:
            task = asyncio.create_task(self._look(catch_up))
        else:
            task = asyncio.create_task(self._keep(receive, catch_up))
        try:
            yield
        finally:
            self._is_over = True
            self._wanted.set()
            await asyncio.wait([task], timeout=END_SECONDS)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _look(self, catch_up: CatchUp) -> None:
        while not self._is_over:
            await self._wait(POOLED_LOOK_SECONDS)
            catch_up()

    async def _keep(self, receive: Receive, catch_up: CatchUp) -> None:
        """Keep a connection; after an interruption make another one."""
        pause = FIRST_PAUSE_SECONDS
        while not self._is_over:
            try:
                connection = await self._connections.connect()
                try:
                    await self._listen(connection, receive)
                    pause = FIRST_PAUSE_SECONDS
                    await self._exchange(connection, catch_up)
                finally:
                    connection.terminate()
            except Exception as error:  # noqa: BLE001 -- another connection is made
                _log.warning("changes_interrupted", reason=reason(error), retried_in=pause)
            if not self._is_over:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _listen(self, connection: Connection, receive: Receive) -> None:
        def on_notice(
            _: Connection | PoolConnectionProxy, _pid: int, _channel: str, payload: object
        ) -> None:
            try:
                notice = _decode(str(payload))
            except msgspec.DecodeError:  # of a newer version, or of another program
                return
            if notice.sender != self._sender:
                for change in notice.changes:
                    receive(change)

        connection.add_termination_listener(lambda _: self._wanted.set())
        await connection.add_listener(CHANNEL, on_notice)

    async def _exchange(self, connection: Connection, catch_up: CatchUp) -> None:
        """Send changes until the connection is lost, and look now and then."""
        loop = asyncio.get_running_loop()
        catch_up()
        next_look = loop.time() + LOOK_SECONDS
        while not connection.is_closed():
            while self._unsent:
                await self._send(connection)
            if self._is_over:
                return
            await self._wait(next_look - loop.time())
            if loop.time() >= next_look:
                await connection.execute("SELECT 1", timeout=LOOK_SECONDS)  # whether it is alive
                catch_up()
                next_look = loop.time() + LOOK_SECONDS

    async def _send(self, connection: Connection) -> None:
        room, sent = MAX_PAYLOAD_BYTES, list[Change]()
        for change in self._unsent:
            room -= len(msgspec.json.encode(change)) + 1
            if room < 0 and sent:
                break
            sent.append(change)
        payload = msgspec.json.encode(_Notice(self._sender, sent)).decode()
        for change in sent:
            del self._unsent[change]  # the same may happen again while this one is sent
        try:
            await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)
        except BaseException:
            self._unsent = {**dict.fromkeys(sent), **self._unsent}
            raise

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await self._wanted.wait()
        self._wanted.clear()
