"""Servers in processes of their own, on a free port of the loopback: real desks, and others."""

from __future__ import annotations

import fcntl
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from tests.support.desk.fork_server import Fork, fork
from tests.support.desk.server import SHOP

START_SECONDS = 120
STOP_SECONDS = 60
_TICKS = os.sysconf("SC_CLK_TCK")
_LISTENING = "0A"
"""The state of a socket that accepts connections, in the system's tables."""
_claimed: set[int] = set()


class DidNotStart(Exception):
    """A server ended or kept silent; the message holds what it said."""


class Server:
    """A server that has answered its first request.

    Attributes:
        port: where it listens on 127.0.0.1.
        start_seconds: from the start of its process to its first answer 200.
    """

    def __init__(
        self, process: subprocess.Popen[bytes] | Fork, port: int, start_seconds: float
    ) -> None:
        self._process = process
        self.port = port
        self.start_seconds = start_seconds

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """What the process has used, all its threads, in user and kernel."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_mib(self) -> float:
        """How much memory it holds, in MiB."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def workers(self) -> list[int]:
        """The ids of the processes that it has started, or of itself where there are none."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children] or [pid]

    def stop(self) -> int:
        """End it in good order; return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it at once, as a crash would (kill -9)."""
        self._process.kill()
        self._process.wait()


def free_port() -> int:
    """A port on which nobody listens now, and which no other test is given."""
    return free_ports(1)


def free_ports(count: int) -> int:
    """The first of so many adjacent ports, which are this process's own until it ends.

    They are below those that the system gives to clients.
    """
    while True:
        first = random.randrange(10_000, 30_000)
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                _claim(port)
            return first


def listens(pid: int, port: int) -> bool:
    """Whether a process, or one that it has started, listens on a port."""
    listening = {
        f"socket:[{fields[9]}]"
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port
    }
    started = [pid]
    for one in started:
        with suppress(OSError):  # it has ended meanwhile
            for task in Path(f"/proc/{one}/task").iterdir():
                started += map(int, (task / "children").read_text().split())
            for file in Path(f"/proc/{one}/fd").iterdir():
                with suppress(OSError):
                    if str(file.readlink()) in listening:
                        return True
    return False


def _claim(port: int) -> None:
    """Keep a port from other processes until this one ends.

    Raises:
        OSError: this process or another one has it.
    """
    if port in _claimed:
        raise OSError
    fcntl.lockf(_claims(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    _claimed.add(port)


@cache
def _claims() -> int:
    """The file of which a byte is locked for each port; closing it would end its locks."""
    return os.open(f"/tmp/aitp-desk-test-ports-{os.geteuid()}", os.O_RDWR | os.O_CREAT, 0o600)


def desk_command(data: Path, port: int, *settings: str, folder: Path = SHOP) -> list[str]:
    """The command line of a real desk. Limits are off unless they are set here."""
    command = [sys.executable, "-m", "aitp_desk", "serve", str(folder)]
    command += ["--port", str(port), "--data", str(data)]
    for setting in ("limits.enabled=false", *settings):
        command += ["--set", setting]
    return command


@contextmanager
def serving_process(
    command: Sequence[str],
    port: int,
    *,
    log: Path,
    ready: str = "/health",
    bytecode: Path | None = None,
    within: float = START_SECONDS,
) -> Iterator[Server]:
    """Run a server until the context ends, whatever became of it meanwhile.

    Parameters:
        log: what it says goes here.
        ready: what is asked until the answer is 200.
        bytecode: where compiled modules are kept; where they usually are if None.
        within: how long it may take, in seconds.

    Raises:
        DidNotStart: the process ended, or gave no answer in time.
    """
    environment = {**os.environ}
    if bytecode is not None:
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with log.open("ab") as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    with _answering(process, port, began, command, log=log, ready=ready, within=within) as server:
        yield server


@contextmanager
def serving_fork(
    command: Sequence[str], port: int, *, log: Path, ready: str = "/health"
) -> Iterator[Server]:
    """Run a desk in a process that has imported it already; else as `serving_process`.

    For tests of what befalls a desk, which start many; of its start they show nothing.
    """
    with log.open("ab") as output:
        began = time.perf_counter()
        process = fork(command, output)
    with _answering(process, port, began, command, log=log, ready=ready) as server:
        yield server


@contextmanager
def _answering(
    process: subprocess.Popen[bytes] | Fork,
    port: int,
    began: float,
    command: Sequence[str],
    *,
    log: Path,
    ready: str,
    within: float = START_SECONDS,
) -> Iterator[Server]:
    """Wait until a process answers, and end it when the context ends."""
    try:
        # another server's answer, where that has the port, is not its own
        while not (answers(port, ready) and listens(process.pid, port)):
            if process.poll() is not None or time.perf_counter() - began > within:
                raise DidNotStart(f"{' '.join(command)}\n{log.read_text()}")
            time.sleep(0.005)
        yield Server(process, port, time.perf_counter() - began)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def make_token(data: Path) -> str:
    """An API key of the desk with this data folder, made on the command line."""
    command = [sys.executable, "-m", "aitp_desk", "token", "create", "--data", str(data)]
    command += ["--name", "load", "--scope", "threads"]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return made.stdout.strip().splitlines()[-1]


def answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
