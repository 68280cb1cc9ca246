"""A worker process as its supervisor sees it: started, ready, hung, stopped, ended."""

from __future__ import annotations

import asyncio
import socket
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import structlog

from aitp_desk.app.workers.identity import BEAT_SECONDS, WorkerIdentity

MAX_REPORT_BYTES = 1024 * 1024
HUNG_AFTER = 15
"""After so many beats that did not come a worker hangs."""
UNREADY_AFTER = 600
"""After so many beats without a start-up report it hangs: new content takes minutes to read."""

Report = tuple[str, ...]
"""A worker's start-up report, line by line."""

_log = structlog.get_logger()


class WorkerProcess:
    """A process that serves the inherited sockets.

    It is killed if it no longer beats: it is paused, or its event loop is blocked, and so are all
    the connections that it has accepted.

    Parameters:
        reader, writer: the supervisor's end of the socket pair.
    """

    def __init__(
        self,
        process: Process,
        label: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._label = label
        self._reader = reader
        self._writer = writer
        self._ready: asyncio.Future[Report | None] = asyncio.get_running_loop().create_future()
        self._watched = asyncio.create_task(self._watch())

    @staticmethod
    async def start(
        command: Sequence[str], label: str, workers: int, listeners: Sequence[socket.socket]
    ) -> WorkerProcess:
        """Start a worker in another session: it gets no signals of a terminal.

        Parameters:
            command: the command line; the identity of the worker is added to it.
            workers: how many there are.
            listeners: the sockets that it inherits.
        """
        ours, theirs = socket.socketpair()
        inherited = tuple(sock.fileno() for sock in listeners)
        identity = WorkerIdentity(label, workers, theirs.fileno(), inherited)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *command,
                "--worker",
                identity.to_argument(),
                stdin=DEVNULL,
                pass_fds=(theirs.fileno(), *inherited),
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_REPORT_BYTES)
        return WorkerProcess(process, label, reader, writer)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def wait_ready(self) -> Report | None:
        """Wait until the worker accepts requests; return None if it ended before that."""
        return await asyncio.shield(self._ready)

    async def wait(self) -> int:
        """Wait for the end; return the exit code, or the negative number of a signal."""
        code = await self._process.wait()
        self._writer.close()
        self._watched.cancel()
        return code

    def stop(self) -> None:
        """Ask the worker to finish its requests and end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    async def end(self, seconds: float) -> int:
        """Wait for the end, and force it after ``seconds``; return the exit code."""
        try:
            async with asyncio.timeout(seconds):
                return await self.wait()
        except TimeoutError:
            self.kill()
            return await self.wait()

    def kill(self) -> None:
        """End the worker at once."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def _watch(self) -> None:
        """Kill the worker once it hangs: before its report, between beats, or at its end."""
        missed = 0  # counted, so that a supervisor which was paused itself misses one
        while missed < (HUNG_AFTER if self._ready.done() else UNREADY_AFTER):
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._hear()
                missed = 0
            except TimeoutError:
                missed += 1
            if self._process.returncode is not None:
                return
        _log.error("worker_hung", worker=self._label, pid=self.pid, beats_missed=missed)
        self.kill()
        self._give_up()

    async def _hear(self) -> None:
        """Wait for the report, then for a beat; where none can come, for the end."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            if not self._ready.done():
                line = await self._reader.readuntil(b"\n")
                self._ready.set_result(msgspec.json.decode(line, type=Report))
                return
            if await self._reader.read(MAX_REPORT_BYTES):
                return
        self._give_up()
        await self._process.wait()

    def _give_up(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)
