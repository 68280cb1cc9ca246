"""Keeps short-lived common state of several processes in Valkey or Redis.

Nothing that must be exact is kept there: the server may be emptied or away at any time. A call then
fails at once with :class:`ValkeyAway`, and its caller goes on with what its own process knows. The
server is tried again after a pause that grows from one attempt to the next.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from aitp_desk.observability.figures import Figure, gauge
from aitp_desk.store.base import StoreError

if TYPE_CHECKING:
    from valkey.asyncio import Valkey

NEEDS_REDIS = "valkey.url needs the extra redis: pip install 'aitp-desk[redis]'."
MAX_CONNECTIONS = 8
ANSWER_SECONDS = 0.5
"""How long the server may take to answer: no caller waits longer for shared state."""
SILENCE_SECONDS = 10.0
"""After so long without a message it is asked whether the connection stands."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 10.0

_log = structlog.get_logger()


class ValkeyAway(Exception):
    """The server did not answer, or it is not asked again yet."""


class Increment(msgspec.Struct, frozen=True):
    """An addition to a common count."""

    key: str
    amount: int


@asynccontextmanager
async def open_valkey(url: str, password: str | None) -> AsyncIterator[ValkeyServer | None]:
    """Prepare the connections to a server, as an async context manager.

    Parameters:
        url: ``redis://``, ``rediss://`` (TLS, verified) or ``unix://``; empty for no server.

    Raises:
        StoreError: the extra ``redis`` is not installed.
    """
    if not url:
        yield None
        return
    try:
        from valkey.asyncio import BlockingConnectionPool, Valkey
        from valkey.asyncio.retry import Retry
        from valkey.backoff import NoBackoff
    except ImportError:
        raise StoreError(NEEDS_REDIS) from None
    pool = BlockingConnectionPool.from_url(
        url,
        password=password,
        max_connections=MAX_CONNECTIONS,
        timeout=ANSWER_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield ValkeyServer(Valkey(connection_pool=pool))
    finally:
        await pool.aclose()


class ValkeyServer:
    """A Valkey or Redis server that may go away and come back.

    Parameters:
        client: connects when it is needed.
        ticks: monotonic seconds.

    Attributes:
        client: the client of the server's library.
    """

    def __init__(self, client: Valkey, ticks: Callable[[], float] = time.monotonic) -> None:
        self.client = client
        self._ticks = ticks
        self._pause = 0.0
        self._retry_at = 0.0

    @property
    def is_away(self) -> bool:
        """Whether the last call failed."""
        return self._pause > 0

    def figures(self) -> tuple[Figure, ...]:
        """Return whether the server answers."""
        return (
            gauge("aitp_desk_valkey_up", "Whether the Valkey server answered.", 1 - self.is_away),
        )

    async def add(self, increments: Sequence[Increment], *, seconds: int) -> list[int]:
        """Add to counts and return the sum of all processes, one for each increment.

        Parameters:
            seconds: how long after its last increment a count is dropped.

        Raises:
            ValkeyAway: some may have been added.
        """
        pipeline = self.client.pipeline(transaction=False)
        for increment in increments:
            pipeline.incrby(increment.key, increment.amount)
            pipeline.expire(increment.key, seconds)
        return [int(total) for total in (await self._ask(pipeline.execute))[::2]]

    async def read_field(self, table: str, field: str) -> bytes | None:
        """Return a field of a table; None if it has none.

        Raises:
            ValkeyAway: the server did not answer.
        """
        found: bytes | None = await self._ask(lambda: self.client.hget(table, field))
        return found

    async def write_fields(self, table: str, fields: dict[str, str], *, seconds: int) -> None:
        """Write fields of a table, which is dropped whole ``seconds`` after its first one.

        Raises:
            ValkeyAway: they may not have been written.
        """
        pipeline = self.client.pipeline(transaction=False)
        pipeline.hsetnx(table, "", "")
        pipeline.hset(table, mapping=fields)
        is_new, *_ = await self._ask(pipeline.execute)
        if is_new:
            await self._ask(lambda: self.client.expire(table, seconds))

    async def drop_table(self, table: str) -> None:
        """Drop a table.

        Raises:
            ValkeyAway: it may still be there.
        """
        await self._ask(lambda: self.client.unlink(table))

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to all who subscribe to a channel now.

        Raises:
            ValkeyAway: it may not have been sent.
        """
        await self._ask(lambda: self.client.publish(channel, message))

    async def subscribe(self, channel: str) -> AsyncIterator[bytes]:
        """Yield the messages of a channel until the connection is lost.

        Raises:
            ValkeyAway: at the end, or at once.
        """
        from valkey.exceptions import ValkeyError

        try:
            async with self.client.pubsub() as subscription:
                await subscription.subscribe(channel)
                while True:
                    found = await subscription.get_message(
                        ignore_subscribe_messages=True, timeout=SILENCE_SECONDS
                    )
                    if found is None:
                        await subscription.ping()
                    else:
                        yield found["data"]
        except (ValkeyError, OSError, TimeoutError) as error:
            raise ValkeyAway from error

    async def _ask(self, call: Callable[[], Any]) -> Any:
        """Make a call, unless the server was away a moment ago."""
        from valkey.exceptions import ValkeyError

        if self._ticks() < self._retry_at:
            raise ValkeyAway
        try:
            answer = await call()
        except (ValkeyError, OSError, TimeoutError) as error:
            if not self.is_away:
                _log.warning("valkey.away", error=type(error).__name__)
            self._pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            self._retry_at = self._ticks() + self._pause
            raise ValkeyAway from error
        if self.is_away:
            self._pause = self._retry_at = 0.0
            _log.info("valkey.back")
        return answer
