"""The HTTP server, with bounds on slow clients.

A connection records when a request's head began to arrive; a sweep each second answers heads that
take too long with 408 (RFC 9110, 15.5.9) and closes their connections, as it closes idle ones and
those whose client reads too slowly or not at all. ``connection/received_request.py`` bounds slow
bodies.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

from aitp_desk.config import Server
from aitp_desk.http.acceptor import Acceptor, Listener
from aitp_desk.http.connection.head_cache import HeadCache
from aitp_desk.http.connection.http_connection import HttpConnection
from aitp_desk.http.connection.shared_state import SharedState
from aitp_desk.http.dispatcher import Dispatcher
from aitp_desk.http.limits.connections import ConnectionLimiter
from aitp_desk.http.listener import BACKLOG

KEEP_ALIVE_SECONDS = 75.0
"""How long an idle connection stays open, longer than common proxies keep theirs; also how long a
client may read nothing of its response."""
CROWDED_SECONDS = 5.0
"""How long an idle connection stays open while there are many."""
LINGER_SECONDS = 2.0
"""How long the rest of an unwanted body is read and dropped, so that its response arrives."""
SWEEP_SECONDS = 1.0
STEP_SECONDS = 0.02
FIRST_REQUEST_STEPS = 50
"""How long a new connection may take to send its first request at shutdown: a second."""
WRITE_SECONDS = 1.0
"""How long the last responses may take to be written at shutdown."""

OTHER_FILES = 256
"""How many files may be open in addition to the connections: the database, the content."""


def raise_file_limit(most: int) -> bool:
    """Raise this process's soft limit of open files to allow ``most`` connections.

    The hard limit stays unchanged: it is the operator's.

    Returns:
        Whether the limit suffices.
    """
    wanted = most + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return True
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    return allowed == wanted


@asynccontextmanager
async def serve_sockets(
    front: Dispatcher,
    listeners: Sequence[Listener],
    settings: Server,
    connections: ConnectionLimiter,
) -> AsyncIterator[Callable[[], int]]:
    """Serve bound sockets; at the end stop accepting, and let active requests finish.

    Parameters:
        front: answers requests.
        connections: counts connections.

    Yields:
        A function that returns the number of active requests.
    """
    shared = SharedState(front, settings, connections, HeadCache(), LINGER_SECONDS)
    loop = asyncio.get_running_loop()
    connect = partial(HttpConnection, shared)
    sweep = asyncio.create_task(_close_stale_connections(shared))
    async with AsyncExitStack() as accepting:
        try:
            for listener in listeners:
                if listener.processes > 1:
                    acceptor = Acceptor(listener, connect)
                    accepting.push_async_callback(acceptor.close)
                else:
                    server = await loop.create_server(
                        connect, sock=listener.socket, backlog=BACKLOG
                    )
                    accepting.callback(server.close)
            yield lambda: shared.active
            await accepting.aclose()
            await _drain(shared, settings.shutdown_seconds)
        finally:
            sweep.cancel()
            await accepting.aclose()
            await _close_all(shared)


async def _drain(shared: SharedState, seconds: float) -> None:
    """Close idle connections, and let active requests end, for at most ``seconds``.

    Streams end at once. Bodies that are still arriving are read on. A client that has just
    connected has a moment to send its request, which it would not expect to fail.
    """
    await asyncio.sleep(0)  # lets requests that have arrived begin
    shared.is_ending = True
    for connection in tuple(shared.connections):
        connection.end_streams()
        if connection.is_idle and connection.head_began is None:
            connection.close()
    for _ in range(FIRST_REQUEST_STEPS):
        if not any(one.is_idle and not one.is_closed for one in shared.connections):
            break
        await asyncio.sleep(STEP_SECONDS)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await shared.wait_ended()


async def _close_all(shared: SharedState) -> None:
    """Cancel requests that are still active, and close all connections."""
    shared.is_ending = True
    connections = tuple(shared.connections)
    turns = [one.turn for one in connections if one.turn is not None]
    for turn in turns:
        turn.cancel()
    if turns:
        await asyncio.wait(turns, timeout=WRITE_SECONDS)
    for connection in connections:
        connection.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(WRITE_SECONDS):
            await shared.wait_closed()
    for connection in tuple(shared.connections):
        connection.abort()


async def _close_stale_connections(shared: SharedState) -> None:
    """Refuse slow heads and close idle connections, once a second."""
    unsent, most = 0, shared.settings.max_unsent_bytes
    limiter = shared.limiter
    while True:
        await asyncio.sleep(min(SWEEP_SECONDS, shared.settings.header_seconds))
        now = shared.loop.time()
        patience = CROWDED_SECONDS if limiter.is_crowded else KEEP_ALIVE_SECONDS
        is_crowded = limiter.backlog.is_crowded or 4 * unsent >= 3 * most
        stalled = CROWDED_SECONDS if is_crowded else KEEP_ALIVE_SECONDS
        unsent = 0
        for connection in tuple(shared.connections):
            _check(connection, now, patience, stalled)
            unsent += connection.pace.unsent


def _check(connection: HttpConnection, now: float, patience: float, stalled: float) -> None:
    settings = connection.shared.settings
    grace = None if connection.is_streaming else KEEP_ALIVE_SECONDS
    sent, connection.sent_in_pieces = connection.sent_in_pieces, 0
    if not connection.pace.is_fast_enough(
        now, sent, settings.slowest_rate, patience=stalled, grace=grace
    ):
        connection.drop()
    elif connection.is_closed:
        pass  # its last bytes are still being sent
    elif connection.head_began is not None:
        if connection.head_began < now - settings.header_seconds:
            connection.reject_slow_head(settings.header_seconds)
    elif not connection.is_idle:
        connection.idle_since = now
    elif connection.idle_since < now - patience:
        connection.close()
