"""Small programs for the supervisor: as a process, and as the workers that it starts.

    python -m tests.support.desk.worker_cluster supervise FOLDER PORT WORKERS LIMITS...

A worker answers each request with its label and its process id. ``/die`` kills it before the
response, ``/block`` blocks its event loop after it; after ``/linger`` it closes everything and does
not end; ``/slow`` says that it has begun, and waits for another line. Where FOLDER holds a file
``broken`` a worker cannot start, with ``held`` it does not yet.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import click
import msgspec
import uvloop

from aitp_desk.app.workers import supervisor, worker_process
from aitp_desk.app.workers.identity import WorkerIdentity, inherited_sockets
from aitp_desk.config import Log, Server
from aitp_desk.http.acceptor import Acceptor
from aitp_desk.observability.logs import set_up_logs

MODULE = "tests.support.desk.worker_cluster"
ROOT = Path(__file__).parents[3]
SECONDS = 120
IMPATIENT = 2
"""So many beats without a start-up report end a worker after SIGUSR1; SIGUSR2 undoes that."""


class Cluster:
    """A supervisor with its workers, in processes of their own."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.log: list[dict[str, object]] = []

    async def until(self, event: str, **fields: object) -> dict[str, object]:
        """Read the log on to an event with these fields."""
        assert self.process.stderr is not None
        async with asyncio.timeout(SECONDS):
            while line := await self.process.stderr.readline():
                self.log.append(entry := msgspec.json.decode(line, type=dict[str, object]))
                if entry["event"] == event and fields.items() <= entry.items():
                    return entry
        raise AssertionError(f"The log ended without {event}: {self.log}")

    async def get(self, path: str = "/") -> tuple[str, int]:
        """Ask on a new connection: the label and process id of the worker that answered."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"GET {path}\n".encode())
            label, pid = (await reader.readline()).split()
            return label.decode(), int(pid)
        finally:
            writer.close()

    async def pause(self, pid: int) -> None:
        """Stop a process, and return once it stands still."""
        os.kill(pid, signal.SIGSTOP)
        async with asyncio.timeout(SECONDS):
            while _state(pid) != "T":  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.01)

    async def until_each(self, event: str, labels: Iterable[str], **fields: object) -> None:
        """Read the log on until each of these workers has had an event."""
        missing = set(labels)
        while missing:
            missing.discard(str((await self.until(event, **fields))["worker"]))

    async def who_answer(self, count: int) -> dict[str, int]:
        """Ask on new connections until so many labels have answered: the pid of each."""
        found: dict[str, int] = {}
        async with asyncio.timeout(SECONDS):
            while len(found) < count:
                label, pid = await self.get()
                found[label] = pid
        return found


@asynccontextmanager
async def slow_request(
    cluster: Cluster,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Send a request that a worker has begun to answer, and that a line lets end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", cluster.port)
    try:
        writer.write(b"GET /slow\n")
        assert await reader.readline() == b"begun\n"
        yield reader, writer
    finally:
        writer.close()


@asynccontextmanager
async def running_cluster(
    folder: Path,
    workers: int,
    *,
    hung_after: int = worker_process.HUNG_AFTER,
    shutdown_seconds: int = 5,
) -> AsyncIterator[Cluster]:
    """Run a supervisor until the context ends; it has announced its start.

    Parameters:
        hung_after: so many missing beats end a worker.
        shutdown_seconds: how long requests may take when a worker stops.
    """
    numbers = map(str, (0, workers, hung_after, shutdown_seconds))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", MODULE, "supervise", str(folder), *numbers),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(SECONDS):
            first = await process.stdout.readline()
            assert first, (await process.communicate())[1].decode()
            second = await process.stdout.readline()
        assert second.decode() == f"  workers    {workers} processes\n"
        yield Cluster(process, int(first))
    finally:
        (folder / "held").unlink(missing_ok=True)  # such a worker has not met its supervisor
        if process.returncode is None:
            process.kill()
        await process.communicate()


def _state(pid: int) -> str:
    """Return the letter that the system has for what a process does."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _supervise(folder: str, port: str, *limits: str) -> None:
    workers, worker_process.HUNG_AFTER, shutdown_seconds = map(int, limits)
    signal.signal(signal.SIGUSR1, lambda *_: setattr(worker_process, "UNREADY_AFTER", IMPATIENT))
    patient = worker_process.UNREADY_AFTER
    signal.signal(signal.SIGUSR2, lambda *_: setattr(worker_process, "UNREADY_AFTER", patient))
    supervisor.SPARE_SECONDS = 1
    set_up_logs(Log(format="json"), worker="supervisor")
    command = [sys.executable, "-m", MODULE, "work", folder]
    server = Server(port=int(port), shutdown_seconds=shutdown_seconds)
    try:
        asyncio.run(supervisor.supervise(server, workers, command, announce=click.echo))
    except supervisor.WorkersFailed as failure:
        sys.exit(failure.code)


async def _work(identity: WorkerIdentity) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    me = f"{identity.label} {os.getpid()}\n".encode()
    lingers: list[bool] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readline()).split()[1]
        if path == b"/die":
            os.kill(os.getpid(), signal.SIGKILL)
        if path == b"/block":
            os.write(writer.get_extra_info("socket").fileno(), me)
            time.sleep(3600)  # noqa: ASYNC251 - the fault itself
        if path == b"/linger":
            stop.set()
            lingers.append(True)
        if path == b"/slow":
            writer.write(b"begun\n")
            await reader.readline()
        writer.write(me)
        await writer.drain()
        writer.close()

    with inherited_sockets(identity, stop.set) as inherited:
        (listener,) = inherited.listeners
        port = listener.socket.getsockname()[1]
        acceptor = Acceptor(
            listener, lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), answer)
        )
        inherited.report_ready([str(port)])
        await stop.wait()
        await acceptor.close()
        # connections that were accepted, whether their answer has begun or not
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
    if lingers:
        time.sleep(3600)  # noqa: ASYNC251 - the fault itself


def _main(role: str, folder: str, *rest: str) -> None:
    if role == "supervise":
        _supervise(folder, *rest)
    elif (Path(folder) / "broken").exists():
        sys.exit(3)
    else:
        while (Path(folder) / "held").exists():
            time.sleep(0.01)
        uvloop.run(_work(WorkerIdentity.from_argument(rest[-1])))


if __name__ == "__main__":
    _main(*sys.argv[1:])
