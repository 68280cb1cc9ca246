"""What a worker inherits from its supervisor, and what it reports back.

A worker inherits its listening sockets and one end of a socket pair. Over the pair it reports that
it accepts requests; when the other end closes, its supervisor is gone and it stops.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import msgspec


class WorkerIdentity(msgspec.Struct, frozen=True):
    """Identifies a worker process on the command line.

    Parameters:
        label: its number from 1; that of the process which replaces it is the same.
        control: file descriptor of its end of the socket pair.
        listeners: file descriptors of its listening sockets, the public one first.
    """

    label: str
    control: int
    listeners: tuple[int, ...]

    def to_argument(self) -> str:
        """Return the value of the option ``--worker``."""
        return f"{self.label}:{self.control}:{','.join(map(str, self.listeners))}"

    @staticmethod
    def from_argument(text: str) -> WorkerIdentity:
        """Read the value of the option ``--worker``."""
        label, control, listeners = text.split(":")
        return WorkerIdentity(label, int(control), tuple(map(int, listeners.split(","))))


ReportReady = Callable[[Sequence[str]], None]
"""Tells the supervisor that this worker accepts requests; with the lines of its start-up report."""


class InheritedSockets(msgspec.Struct, frozen=True):
    """The sockets that a worker has inherited.

    Parameters:
        listeners: those to listen on, the public one first.
    """

    listeners: tuple[socket.socket, ...]
    report_ready: ReportReady


@contextmanager
def inherited_sockets(
    identity: WorkerIdentity, lost: Callable[[], object]
) -> Iterator[InheritedSockets]:
    """Use the sockets of a worker for as long as the context lasts.

    Parameters:
        lost: called when the supervisor has ended.
    """
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        control = stack.enter_context(socket.socket(fileno=identity.control))
        listeners = [stack.enter_context(socket.socket(fileno=one)) for one in identity.listeners]

        def on_readable() -> None:
            if not control.recv(1):
                loop.remove_reader(control)
                lost()

        def report_ready(report: Sequence[str]) -> None:
            control.sendall(msgspec.json.encode(report) + b"\n")

        loop.add_reader(control, on_readable)
        stack.callback(loop.remove_reader, control)
        yield InheritedSockets(tuple(listeners), report_ready)
