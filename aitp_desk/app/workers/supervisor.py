"""The supervisor of several worker processes on one address.

It serves nothing itself and loads nothing of the desk: it starts the workers, starts those again
that died, passes on the signals that stop it, and on SIGHUP replaces one worker after another, by
processes that read the settings and the code again.

The first worker starts alone: it migrates the database and indexes the content; the others find
both done.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

import structlog

from aitp_desk.app.workers.slot import WorkerSlot
from aitp_desk.app.workers.stop_signals import catch_stop_signals, ignore_stop_signals
from aitp_desk.config import Server
from aitp_desk.http.listener import SharedSocket, bind_socket

OWN_HOST = "127.0.0.1"
"""Where each worker can be reached alone."""
SPARE_SECONDS = 10
"""How much longer than their own time limits the workers may take to stop."""

_log = structlog.get_logger()


class WorkersFailed(Exception):
    """No worker could start; the first one has said why.

    Parameters:
        code: its exit code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def supervise(
    settings: Server,
    workers: int,
    command: Sequence[str],
    *,
    announce: Callable[[str], None],
) -> None:
    """Run worker processes until SIGTERM or SIGINT; then let them finish, and return.

    Parameters:
        settings: the address, and the time that requests have to finish.
        workers: how many.
        command: the command line of a worker, without its identity.
        announce: receives the start-up report, line by line, once all workers have started.

    Raises:
        ListenError: the address cannot be listened on.
        WorkersFailed: the first worker could not start.
    """
    await Supervisor(settings, workers, command).run(announce)


class Supervisor:
    """Keeps workers running.

    Parameters:
        settings, workers, command: as :func:`supervise` takes them.
    """

    def __init__(self, settings: Server, workers: int, command: Sequence[str]) -> None:
        self._settings = settings
        self._workers = workers
        self._command = command
        self._public = SharedSocket(settings.host, settings.port)
        self._slots: list[WorkerSlot] = []
        self._stop_seconds = 2 * settings.shutdown_seconds + SPARE_SECONDS
        self._stopped = asyncio.Event()
        self._reload_wanted = asyncio.Event()
        self._had_terminal = _has_terminal()

    async def run(self, announce: Callable[[str], None]) -> None:
        """Run the workers; see :func:`supervise`."""
        catch_stop_signals(self._stopped.set)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._on_hangup)
        tasks: list[asyncio.Task[None]] = []
        try:
            self._open_slots()
            begun = asyncio.create_task(self._begin(announce))
            stopped = asyncio.create_task(self._stopped.wait())
            await asyncio.wait((begun, stopped), return_when=asyncio.FIRST_COMPLETED)
            if begun.done():
                begun.result()
                tasks = [asyncio.create_task(slot.keep()) for slot in self._slots]
                tasks.append(asyncio.create_task(self._reload()))
            await stopped
            _log.info("stopping")
            await asyncio.gather(*(slot.stop(self._stop_seconds) for slot in self._slots))
            begun.cancel()
            _log.info("stopped")
            ignore_stop_signals()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for slot in self._slots:
                slot.close()

    def _open_slots(self) -> None:
        with self._public.open() as public:
            command = [*self._command, "--port", str(public.getsockname()[1])]
            for number in range(1, self._workers + 1):
                bind = partial(self._bind, number)
                slot = WorkerSlot(str(number), self._workers, command, bind)
                self._slots.append(slot)
                slot.open()

    def _on_hangup(self) -> None:
        """Replace the workers; but stop if the signal says that the terminal was closed."""
        if self._had_terminal and not _has_terminal():
            self._stopped.set()
        else:
            self._reload_wanted.set()

    async def _begin(self, announce: Callable[[str], None]) -> None:
        first, *further = self._slots
        report = await first.start()
        if report is None:
            raise WorkersFailed(await first.stop(self._stop_seconds))
        await asyncio.gather(*(slot.start() for slot in further))
        headline, *lines = report
        for line in (headline, f"  workers    {len(self._slots)} processes", *lines):
            announce(line)

    async def _reload(self) -> None:
        while True:
            await self._reload_wanted.wait()
            self._reload_wanted.clear()
            _log.info("replacing_workers")
            for slot in self._slots:
                if not await slot.replace(self._stop_seconds):
                    break  # the others would fail as well
            else:
                _log.info("workers_replaced")

    def _bind(self, number: int) -> Sequence[AbstractContextManager[socket.socket]]:
        bound = [self._public.open()]
        if self._settings.worker_port:
            bound.append(bind_socket(OWN_HOST, self._settings.worker_port + number - 1))
        return bound


def _has_terminal() -> bool:
    """Return whether this process has a controlling terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
