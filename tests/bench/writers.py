"""The speed of several processes that write to one SQLite database, against one.

    python -m tests.bench.writers [--rounds 5] [--units 6000]

``serve --workers`` refuses SQLite; this measures what it would give. Messages are appended by 32
callers in each process, and each caller waits for its commit:

- one: by one process, as a desk on SQLite does;
- shared: by two processes that open the same file, and wait for each other's commits;
- sent: by two processes that send each unit to a third one over a Unix socket (pickled, many on
  their way), which has the file alone.

The processor time is that of all processes, for a unit.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import pickle
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from statistics import median
from typing import Any, cast

import uvloop

from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.records.threads import NewMessage
from tests.bench.store import append, said

PROCESSES = 2
_LENGTH_BYTES = 4
_processes = multiprocessing.get_context("spawn")


def capped() -> NewMessage:
    return said("Enough.", by_desk=True)


class SentStore:
    """Sends units to the process that has the database."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._sent = 0

    async def run(self, work: Callable[..., Any], /, **arguments: Any) -> Any:
        if "capped" in arguments:
            arguments["capped"] = capped  # a closure cannot be sent
        self._sent += 1
        answer = self._waiting[self._sent] = asyncio.get_running_loop().create_future()
        _send(self._writer, (self._sent, work, arguments))
        return await answer

    async def receive(self) -> None:
        while (found := await _receive(self._reader)) is not None:
            number, result = found
            self._waiting.pop(number).set_result(result)


def _send(writer: asyncio.StreamWriter, given: object) -> None:
    data = pickle.dumps(given)
    writer.write(len(data).to_bytes(_LENGTH_BYTES) + data)


async def _receive(reader: asyncio.StreamReader) -> Any:
    try:
        length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
        return pickle.loads(await reader.readexactly(length))
    except asyncio.IncompleteReadError:
        return None


async def write_here(folder: Path, units: int) -> None:
    """Append to the file that others may append to as well."""
    async with SqliteStore.open(folder / "desk.db") as store:
        await append(store, units)


async def write_there(folder: Path, units: int) -> None:
    """Append through the process that has the file."""
    reader, writer = await asyncio.open_unix_connection(folder / "socket")
    store = SentStore(reader, writer)
    received = asyncio.create_task(store.receive())
    await append(cast("Store", store), units)
    writer.close()
    await received


async def serve_writes(folder: Path, _: int) -> None:
    """Run the units that others send, until the last of them has gone."""
    over = asyncio.Event()
    left = PROCESSES
    async with SqliteStore.open(folder / "desk.db") as store:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal left

            async def run(number: int, work: Callable[..., Any], given: dict[str, Any]) -> None:
                _send(writer, (number, await store.run(work, **given)))

            running: set[asyncio.Task[None]] = set()
            while (found := await _receive(reader)) is not None:
                running.add(task := asyncio.create_task(run(*found)))
                task.add_done_callback(running.discard)
            writer.close()
            left -= 1
            if not left:
                over.set()

        async with await asyncio.start_unix_server(answer, folder / "socket"):
            await over.wait()


Part = Callable[[Path, int], Coroutine[Any, Any, None]]


def run_part(part: Part, folder: Path, units: int, ready: Any, go: Any, used: Any) -> None:
    """Run one of the processes once all have started, and tell its processor time."""
    ready.release()
    if part is not serve_writes:
        go.wait()
    began = time.process_time()
    uvloop.run(part(folder, units))
    used.put(time.process_time() - began)


def measure(parts: list[Part], units: int) -> tuple[float, float]:
    """Return units a second and microseconds of processor time for a unit."""
    writers = sum(part is not serve_writes for part in parts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(write_here(folder, 0))
        ready, go = _processes.Semaphore(0), _processes.Event()
        used = _processes.SimpleQueue()
        given = (folder, units // writers, ready, go, used)
        started = [_processes.Process(target=run_part, args=(part, *given)) for part in parts]
        for process in started:
            process.start()
        for _ in started:
            ready.acquire()
        while serve_writes in parts and not (folder / "socket").exists():
            time.sleep(0.001)
        began = time.perf_counter()
        go.set()
        for process in started:
            process.join()
        took = time.perf_counter() - began
    if any(process.exitcode for process in started):
        raise SystemExit("A process failed.")
    return units / took, sum(used.get() for _ in started) / units * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.writers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--units", type=int, default=6000)
    options = parser.parse_args()
    subjects: dict[str, list[Part]] = {
        "one": [write_here],
        "shared": [write_here] * PROCESSES,
        "sent": [serve_writes, *[write_there] * PROCESSES],
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in subjects}
    for _ in range(options.rounds):
        for name, parts in subjects.items():
            found[name].append(measure(parts, options.units))
    bare = [rate for rate, _ in found["one"]]
    for name, figures in found.items():
        shares = [rate / one for (rate, _), one in zip(figures, bare, strict=True)]
        rate, used = (median(values) for values in zip(*figures, strict=True))
        print(
            f"{name:8}{rate:8,.0f} units/s  {median(shares):.2f} of one"
            f" ({min(shares):.2f}-{max(shares):.2f})  {used:5.0f} us of processor time"
        )


if __name__ == "__main__":
    main()
