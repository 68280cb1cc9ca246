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
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

import msgspec

from aitp_desk.capability import GROUP

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
_STATUS = struct.Struct("i")
_MOST_BYTES = 1 << 20
"""Of a program's arguments and environment."""
_MOST_FILES = 1024
"""How many the process that forks may have open."""


class _Program(msgspec.Struct):
    """What a fork is to run, and where."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str


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
            (self.returncode,) = _STATUS.unpack(self._line.recv(_STATUS.size))
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
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = _Program(command[2], list(command[3:]), {**os.environ}, str(Path.cwd()))
    with its:
        message = msgspec.json.encode(program)
        control, _ = _server()
        socket.send_fds(control, [message], [its.fileno(), output.fileno()])
    (pid,) = _STATUS.unpack(ours.recv(_STATUS.size))
    return Fork(pid, ours)


@cache
def _server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start the process that forks; it ends, with all that it has forked, when this one does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_BYTES)
    with its:
        number = its.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(number)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours, process


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


def _serve(control: socket.socket) -> _Program | None:
    """Fork until the other end of the control socket is closed.

    Return the program that a fork is to run; None in the process that forks.
    """
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in running:
                    selector.unregister(key.fd)
                    _report_end(key.fd, *running.pop(key.fd))
                    continue
                message, files, _, _ = socket.recv_fds(control, _MOST_BYTES, 2)
                if not message:
                    for pid, _ in running.values():
                        os.kill(pid, signal.SIGKILL)
                    return None
                line, output = files
                pid = os.fork()
                if pid == 0:
                    os.dup2(output, 1)
                    os.dup2(output, 2)
                    return msgspec.json.decode(message, type=_Program)
                os.close(output)
                os.write(line, _STATUS.pack(pid))
                watch = os.pidfd_open(pid)
                running[watch] = pid, line
                selector.register(watch, selectors.EVENT_READ)


def _report_end(watch: int, pid: int, line: int) -> None:
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):  # nobody waits for it
        os.write(line, _STATUS.pack(os.waitstatus_to_exitcode(status)))
    os.close(line)
    os.close(watch)


def _run(program: _Program) -> None:
    """Run a module as the interpreter does that has its name."""
    os.closerange(3, _MOST_FILES)
    os.environ.clear()
    os.environ.update(program.environment)
    os.chdir(program.folder)
    sys.argv[1:] = program.arguments
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _prepare()
    its_program = _serve(socket.socket(fileno=int(sys.argv[1])))
    if its_program is not None:
        _run(its_program)
