"""A worker process as its supervisor sees it: started, ready, stopped, ended."""

from __future__ import annotations

import asyncio
import socket
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from aitp_desk.app.workers.identity import WorkerIdentity

MAX_REPORT_BYTES = 1024 * 1024

Report = tuple[str, ...]
"""A worker's start-up report, line by line."""


class WorkerProcess:
    """A process that serves the inherited sockets.

    Parameters:
        reader, writer: the supervisor's end of the socket pair.
    """

    def __init__(
        self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def start(
        command: Sequence[str], label: str, listeners: Sequence[socket.socket]
    ) -> WorkerProcess:
        """Start a worker in another session: it gets no signals of a terminal.

        Parameters:
            command: the command line; the identity of the worker is added to it.
            listeners: the sockets that it inherits.
        """
        ours, theirs = socket.socketpair()
        inherited = tuple(sock.fileno() for sock in listeners)
        identity = WorkerIdentity(label, theirs.fileno(), inherited)
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
        return WorkerProcess(process, reader, writer)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def wait_ready(self) -> Report | None:
        """Wait until the worker accepts requests; return None if it ended before that."""
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return msgspec.json.decode(line, type=Report)

    async def wait(self) -> int:
        """Wait for the end; return the exit code, or the negative number of a signal."""
        code = await self._process.wait()
        self._writer.close()
        return code

    def stop(self) -> None:
        """Ask the worker to finish its requests and end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """End the worker at once."""
        with suppress(ProcessLookupError):
            self._process.kill()
