"""Python programs in processes that begin as forks of one which has imported the desk.

Such a process is one of its own, to be killed as any: what it has not is the second that imports
and the compiling of patterns take at each start. What a start itself does is tested elsewhere.
"""

from __future__ import annotations

import gc
import os
import runpy
import select
import selectors
import shlex
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, NamedTuple

from aitp_desk.capability import GROUP
from tests.support.desk import fork_client
from tests.support.desk.fork_client import STATUS_BYTES, receive_status, send_program

_LATE = (
    "cryptography.hazmat.backends.openssl.backend",
    "imagesize",
    "uvloop",
    "yaml",
    "aitp_desk.app.process",
    "aitp_desk.actions.declaration.action_builder",
    "aitp_desk.actions.declaration.resource_builder",
    "aitp_desk.actions.loader.imports",
    "aitp_desk.cli.commands.access.token",
    "aitp_desk.cli.commands.serve",
    "aitp_desk.store.engine.sqlite",
)
"""What a desk imports as it starts, with all that these modules import."""
_MOST_BYTES = 1 << 20
"""Of a program's arguments and environment."""
_MOST_FILES = 1024
"""How many the process that forks may have open."""
_STREAMS = 3
_PEER = struct.Struct("3i")
"""The process, user and group at the other end of a Unix socket."""


class _Program(NamedTuple):
    """What a fork is to run, and where."""

    module: str
    arguments: list[str]
    environment: dict[bytes, bytes]
    folder: bytes


@dataclass(eq=False)
class _Running:
    """A fork that has not been waited for.

    Attributes:
        watch: becomes readable when it ends.
        line: gets its exit code; becomes readable when nobody waits for that.
    """

    pid: int
    watch: int
    line: socket.socket
    is_over: bool = False


class Fork:
    """A process that runs a module, with what is used here of `subprocess.Popen`."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._line = line

    def poll(self) -> int | None:
        """Return its exit code; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code: that of a signal is negative.

        Raises:
            TimeoutExpired: it runs after so many seconds.
        """
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            self.returncode = receive_status(self._line)
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended, and was waited for
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def fork(command: Sequence[str], output: IO[bytes]) -> Fork:
    """Run a module as `python -m` does, in this environment and folder.

    Parameters:
        command: of this Python, with `-m`, the module and its arguments.
        output: where it writes to.
    """
    assert list(command[:2]) == [sys.executable, "-m"], command
    with Path(os.devnull).open("rb") as nothing:
        streams = nothing.fileno(), output.fileno(), output.fileno()
        line, pid = send_program(_server()[0], command[2], command[3:], streams)
    return Fork(pid, line)


def write_command(file: Path, module: str) -> None:
    """Write a program for shells that runs a module in a fork, as a command runs its own."""
    words = [sys.executable, "-IS", fork_client.__file__, _server()[0].hex(), module]
    file.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    file.chmod(0o700)


@cache
def _server() -> tuple[bytes, subprocess.Popen[bytes]]:
    """Start the process that forks; it ends, with all that it has forked, when this one does.

    Returns:
        Where it accepts programs, and the process, whose standard input stays open.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("")  # an address that the system chooses, in no folder
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        return listener.getsockname(), process


def _prepare() -> None:
    """Import what a desk imports, and compile what it compiles."""
    for module in _LATE:
        import_module(module)
    from aitp_desk.agent.intents.deeds import find_deeds, list_deed_words
    from aitp_desk.agent.speech.person_request import read_languages
    from aitp_desk.desk.plugins.entry_points import list_entry_points
    from aitp_desk.transports.base import GROUP as TRANSPORTS
    from aitp_desk.web.pages.blocks.article import markdown_parser
    from aitp_desk.web.widget.assets import read_component

    for point in list_entry_points(GROUP):
        point.load()
    list_entry_points(TRANSPORTS)
    for word in list_deed_words():
        find_deeds(word)
    read_languages()
    markdown_parser()
    read_component()
    gc.collect()
    gc.freeze()


def _serve(listener: socket.socket) -> _Program | None:
    """Fork until the standard input ends.

    Return the program that a fork is to run; None in the process that forks.
    """
    running: set[_Running] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                one = key.data
                if key.fd == 0:
                    for each in running:
                        os.kill(each.pid, signal.SIGKILL)
                    return None
                if key.fileobj is listener:
                    line, _ = listener.accept()
                    if not _is_own(line):
                        line.close()
                        continue
                    program, streams = _receive(line)
                    pid = os.fork()
                    if pid == 0:
                        for number, stream in enumerate(streams):
                            os.dup2(stream, number)
                        return program
                    for stream in streams:
                        os.close(stream)
                    _send_status(line, pid)
                    one = _Running(pid, os.pidfd_open(pid), line)
                    running.add(one)
                    selector.register(one.watch, selectors.EVENT_READ, one)
                    selector.register(line, selectors.EVENT_READ, one)
                elif one.is_over:  # its files, whose numbers another may have by now
                    continue
                elif key.fileobj is one.line:
                    selector.unregister(one.line)
                    os.kill(one.pid, signal.SIGKILL)
                else:
                    selector.unregister(one.watch)
                    with suppress(KeyError):  # it was killed, for nobody waits for it
                        selector.unregister(one.line)
                    _report_end(one)
                    running.remove(one)


def _is_own(line: socket.socket) -> bool:
    """Whether the other end is a process of this user."""
    peer = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return bool(_PEER.unpack(peer)[1] == os.geteuid())


def _receive(line: socket.socket) -> tuple[_Program, list[int]]:
    """Receive a program and its streams."""
    message, streams, _, _ = socket.recv_fds(line, _MOST_BYTES, _STREAMS)
    folder, module, count, *words = message.split(b"\0")
    arguments, variables = words[: int(count)], words[int(count) :]
    named = (variable.partition(b"=") for variable in variables)
    environment = {name: value for name, _, value in named}
    return _Program(module.decode(), [*map(os.fsdecode, arguments)], environment, folder), streams


def _send_status(line: socket.socket, status: int) -> None:
    with suppress(OSError):  # nobody waits for it
        line.send(status.to_bytes(STATUS_BYTES, sys.byteorder, signed=True))


def _report_end(one: _Running) -> None:
    _, status = os.waitpid(one.pid, 0)
    _send_status(one.line, os.waitstatus_to_exitcode(status))
    one.line.close()
    os.close(one.watch)
    one.is_over = True


def _run(program: _Program) -> None:
    """Run a module as the interpreter does that has its name."""
    os.closerange(_STREAMS, _MOST_FILES)
    os.environb.clear()
    os.environb.update(program.environment)
    os.chdir(program.folder)
    sys.argv[1:] = program.arguments
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _prepare()
    its_program = _serve(socket.socket(fileno=int(sys.argv[1])))
    if its_program is not None:
        _run(its_program)
