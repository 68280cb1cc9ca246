"""A place for one worker: keeps it filled after crashes, and replaces its worker on demand.

The place holds the listening sockets; a worker only inherits them. The public one is that of all
places: connections that wait to be accepted outlive a worker that crashed, and a new worker accepts
from the same queue while the old one finishes its requests. The place of a worker that keeps dying
lets go of the sockets until the next attempt; where no other has the public one, visitors are
refused at once, so that a proxy asks another machine.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress

import structlog

from aitp_desk.app.workers.worker_process import Report, WorkerProcess
from aitp_desk.http.listener import ListenError

DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a worker is started again, by how often it has died in short order."""
STEADY_SECONDS = 60.0
"""A worker that lived for longer than this had started well."""

OpenListeners = Callable[[], Sequence[AbstractContextManager[socket.socket]]]
"""Binds the listening sockets of one worker."""

_log = structlog.get_logger()


class Backoff:
    """Counts failures in short order, and returns the delay before the next attempt."""

    def __init__(self) -> None:
        self._failures = 0

    def next_delay(self, lived: float) -> float:
        """Return the seconds to wait.

        Parameters:
            lived: for how many seconds the last attempt went well.
        """
        if lived >= STEADY_SECONDS:
            self._failures = 0
        delay = DELAYS[min(self._failures, len(DELAYS) - 1)]
        self._failures += 1
        return delay


class WorkerSlot:
    """Keeps one worker running.

    Parameters:
        label: the worker's label.
        workers: how many there are.
        command: the command line of a worker.
        open_listeners: binds its sockets.
    """

    def __init__(
        self, label: str, workers: int, command: Sequence[str], open_listeners: OpenListeners
    ) -> None:
        self._label = label
        self._workers = workers
        self._command = command
        self._open_listeners = open_listeners
        self._sockets = ExitStack()
        self._listeners: list[socket.socket] = []
        self._backoff = Backoff()
        self._changed = asyncio.Lock()
        self._stopped = asyncio.Event()
        self._current: WorkerProcess | None = None
        self._processes: set[WorkerProcess] = set()

    def open(self) -> None:
        """Bind the sockets, if they are not bound.

        Raises:
            ListenError: the address is taken or is not this machine's.
        """
        if not self._listeners:
            opened = self._open_listeners()
            self._listeners = [self._sockets.enter_context(one) for one in opened]

    def close(self) -> None:
        """Close the sockets; workers that have inherited them keep theirs."""
        self._sockets.close()
        self._listeners = []

    async def start(self) -> Report | None:
        """Start the worker; return its report, or None if it ended before it was ready."""
        worker = self._current = await self._spawn()
        return await worker.wait_ready()

    async def keep(self) -> None:
        """Start the worker again whenever it has ended, until :meth:`stop`."""
        clock = asyncio.get_running_loop().time
        while not self._stopped.is_set():
            worker, began = self._current, clock()
            if worker is not None:
                code = await worker.wait()
                if worker is not self._current or self._stopped.is_set():
                    continue
                self._current = None
                delay = self._backoff.next_delay(clock() - began)
                if delay:
                    self.close()
                _log.error(
                    "worker_died", worker=self._label, pid=worker.pid, code=code, started_in=delay
                )
                await self._pause(delay)
            async with self._changed:  # a replacement under way fills the place
                if self._current is None and not self._stopped.is_set():
                    await self._refill()

    async def replace(self, seconds: float) -> bool:
        """Start another worker, and stop the present one once the new one accepts requests.

        Parameters:
            seconds: how long the present one may take to stop.

        Returns:
            False if the new one could not start: the present one stays.
        """
        async with self._changed:
            if self._stopped.is_set():
                return False
            try:
                self.open()
                successor = await self._spawn()
            except (OSError, ListenError) as error:
                _log.error("worker_not_replaced", worker=self._label, reason=str(error))
                return False
            if await successor.wait_ready() is None:
                _log.error("worker_not_replaced", worker=self._label, code=await successor.wait())
                return False
            before, self._current = self._current, successor
            _log.info("worker_replaced", worker=self._label, pid=successor.pid)
        if before is not None:
            before.stop()
            await before.end(seconds)
        return True

    async def stop(self, seconds: float) -> int:
        """Stop the worker, after ``seconds`` by force; return its exit code."""
        self._stopped.set()
        processes = tuple(self._processes)
        for worker in processes:
            worker.stop()
        codes = await asyncio.gather(*(worker.end(seconds) for worker in processes))
        return next((code for code in codes if code), 0)

    async def _refill(self) -> None:
        try:
            self.open()
            self._current = await self._spawn()
        except (OSError, ListenError) as error:
            delay = self._backoff.next_delay(0) or DELAYS[1]
            self.close()
            _log.error(
                "worker_not_started", worker=self._label, reason=str(error), started_in=delay
            )
            await self._pause(delay)

    async def _spawn(self) -> WorkerProcess:
        worker = await WorkerProcess.start(
            self._command, self._label, self._workers, self._listeners
        )
        self._processes.add(worker)
        ended = asyncio.ensure_future(worker.wait())
        ended.add_done_callback(lambda _: self._processes.discard(worker))
        _log.info("worker_started", worker=self._label, pid=worker.pid)
        return worker

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
