"""Desks of several worker processes for measurements, and what their parts use."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from tests.support.desk.processes import (
    START_SECONDS,
    STOP_SECONDS,
    DidNotStart,
    answers,
    desk_command,
    free_port,
    free_ports,
)
from tests.support.desk.server import SHOP

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Fleet:
    """The processes of one desk.

    Attributes:
        port: where all of them listen.
        pids: the processes that answer, in the order of their labels.
        ports: where each listens alone.
        start_seconds: from the start of the command until every process has answered.
    """

    def __init__(self, main: int, pids: list[int], port: int, ports: list[int], took: float):
        self._main = main
        self.pids = pids
        self.port = port
        self.ports = ports
        self.start_seconds = took

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """What all processes have used; also those that have ended."""
        return tree_seconds(self._main)

    def resident_mib(self) -> float:
        """How much memory the processes that answer hold together, in MiB."""
        pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids)
        return sum(pages) * _PAGE / 2**20


@contextmanager
def serving_fleet(
    data: Path, url: str, workers: int | None, *settings: str, folder: Path = SHOP, log: Path
) -> Iterator[Fleet]:
    """Serve a site by worker processes until the context ends.

    Parameters:
        url: of the database, which only this desk uses.
        workers: None for one process without the option.
        settings: as ``--set`` takes them; limits are off unless they are set here.
        log: what the desk writes goes here.

    Raises:
        DidNotStart: the desk ended, or one of its processes gave no answer in time.
    """
    count = workers or 1
    port, first = free_port(), free_ports(count)
    ports = [port] if count == 1 else [first + number for number in range(count)]
    given = (f"store.url={url}", f"server.worker_port={first}", *settings)
    command = desk_command(data, port, *given, folder=folder)
    command += [] if workers is None else ["--workers", str(workers)]
    with log.open("ab") as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        while not all(answers(one, "/ready") for one in ports):
            if process.poll() is not None or time.perf_counter() - began > START_SECONDS:
                raise DidNotStart(f"{' '.join(command)}\n{log.read_text()}")
            time.sleep(0.001)
        took = time.perf_counter() - began
        pids = [process.pid] if count == 1 else sorted(list_children(process.pid))
        yield Fleet(process.pid, pids, port, ports, took)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            for pid in (*list_children(process.pid), process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()


async def find_database_server(url: str) -> int | None:
    """Return the process id of a database's server; None if it is not on this machine."""
    connection = await asyncpg.connect(url)
    try:
        return _find_postmaster(await connection.fetchval("SELECT pg_backend_pid()"))
    finally:
        await connection.close()


def _find_postmaster(pid: int) -> int | None:
    """Return the parent of a connection's server process."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists() or "(postgres)" not in stat.read_text():
        return None
    return int(_fields(pid)[1])


def tree_seconds(pid: int) -> float:
    """Return the processor time of a process and all its children, running or ended."""
    used = sum(map(int, _fields(pid)[11:15]))
    for child in list_children(pid):
        try:
            used += sum(map(int, _fields(child)[11:15]))
        except FileNotFoundError:  # it has ended, and its parent's figures have it from now on
            continue
    return used / _TICKS


def list_children(pid: int) -> Sequence[int]:
    """Return the process ids of a process's children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _fields(pid: int) -> list[str]:
    """Return what is known of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
