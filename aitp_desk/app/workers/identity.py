"""What a worker inherits from its supervisor, and what it reports back.

A worker inherits its listening sockets and one end of a socket pair. Over the pair it reports that
it accepts requests, and from then on that its event loop runs; when the other end closes, its
supervisor is gone and it stops.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import msgspec

from aitp_desk.http.acceptor import Listener

BEAT_SECONDS = 1.0
"""How often a worker reports that its event loop runs."""


class WorkerIdentity(msgspec.Struct, frozen=True):
    """Identifies a worker process on the command line.

    Parameters:
        label: its number from 1; that of the process which replaces it is the same.
        workers: how many there are.
        control: file descriptor of its end of the socket pair.
        listeners: file descriptors of its listening sockets, the public one first.
    """

    label: str
    workers: int
    control: int
    listeners: tuple[int, ...]

    def to_argument(self) -> str:
        """Return the value of the option ``--worker``."""
        listeners = ",".join(map(str, self.listeners))
        return f"{self.label}:{self.workers}:{self.control}:{listeners}"

    @staticmethod
    def from_argument(text: str) -> WorkerIdentity:
        """Read the value of the option ``--worker``."""
        label, workers, control, listeners = text.split(":")
        opened = tuple(map(int, listeners.split(",")))
        return WorkerIdentity(label, int(workers), int(control), opened)


ReportReady = Callable[[Sequence[str]], None]
"""Tells the supervisor that this worker accepts requests; with the lines of its start-up report."""


class InheritedSockets(msgspec.Struct, frozen=True):
    """The sockets that a worker has inherited.

    Parameters:
        listeners: those to listen on, the public one first.
    """

    listeners: tuple[Listener, ...]
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
        public, *own = [
            stack.enter_context(socket.socket(fileno=one)) for one in identity.listeners
        ]
        listeners = (Listener(public, identity.workers), *map(Listener, own))

        timer: asyncio.TimerHandle | None = None

        def on_readable() -> None:
            left = b""
            with suppress(ConnectionError):  # it had beats that it has not read
                left = control.recv(1)
            if not left:
                loop.remove_reader(control)
                lost()

        def report_ready(report: Sequence[str]) -> None:
            control.sendall(msgspec.json.encode(report) + b"\n")
            beat()

        def beat() -> None:
            nonlocal timer
            with suppress(OSError):  # the supervisor reads late, or is gone
                control.send(b"\n", socket.MSG_DONTWAIT)
            timer = loop.call_later(BEAT_SECONDS, beat)

        def stop_beats() -> None:
            if timer is not None:
                timer.cancel()

        loop.add_reader(control, on_readable)
        stack.callback(loop.remove_reader, control)
        stack.callback(stop_beats)
        yield InheritedSockets(listeners, report_ready)
