"""What one address costs a desk: with large JSON, and with answers that it does not read.

    python -m tests.bench.large [--than FOLDER] [--readers 34] [--messages 100]

A desk in a process of its own, with its default limits but for the requests a minute. First
as many clients as `--readers` says ask for the same answer and read nothing of it; then fifteen
bodies of 5.5 MB come at once, of as many values as fit. Printed are the longest answer of `/health`
meanwhile, and the memory that the desk took. With `--than` the same is measured at the desk of
another checkout, and printed as a ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.desk.processes import Server, desk_command, free_port, serving_process
from tests.support.desk.server import SHOP

LONG = "\x01" * 174_000
"""The longest message of characters that take six bytes each."""
BODIES = 15
BODY_BYTES = 5_500_000
PAUSE = 0.02
WATCHED_SECONDS = 12.0
"""How long the memory is watched while nobody reads."""
MANUAL = {"OpenAI-Beta": "assistants=v2"}
SETTINGS = (
    "limits.enabled=true",
    "limits.static_per_minute=100000",
    "limits.converse_per_minute=100000",
    "files.anonymous=true",
)
V1 = {"A2A-Version": "1.0", "Accept": "application/json"}

Figures = dict[str, tuple[float, float]]
"""By what was done: the longest /health in seconds, and the memory taken in MiB."""


class Watch:
    """Asks for ``/health`` all the time, and looks at the memory."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.slowest = 0.0
        self._most = self._least = server.resident_mib()

    @property
    def figures(self) -> tuple[float, float]:
        """The longest answer in seconds, and the memory taken in MiB."""
        return self.slowest, self._most - self._least

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(one()) for one in (self._ask, self._look)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self) -> None:
        async with aiohttp.ClientSession(self._server.url) as http:
            while True:
                began = time.perf_counter()
                try:
                    async with http.get("/health") as answer:
                        await answer.read()
                finally:
                    self.slowest = max(self.slowest, time.perf_counter() - began)
                await asyncio.sleep(PAUSE)

    async def _look(self) -> None:
        while True:
            self._most = max(self._most, self._server.resident_mib())
            await asyncio.sleep(PAUSE)


async def fill(server: Server, messages: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Where large answers are, and with what headers they are asked for."""
    async with aiohttp.ClientSession(server.url) as http:
        return await _fill(http, messages)


async def _fill(
    http: aiohttp.ClientSession, messages: int
) -> dict[str, tuple[str, dict[str, str]]]:
    async with http.post("/v1/threads", json={}, headers=MANUAL) as answer:
        thread = f"/v1/threads/{(await answer.json())['id']}"
    for _ in range(messages):
        said = {"role": "user", "content": LONG}
        async with http.post(f"{thread}/messages", json=said, headers=MANUAL) as answer:
            assert answer.status == 200, await answer.text()
    form = aiohttp.FormData({"purpose": "assistants"})
    form.add_field("file", (b"A line of text.\n" * 655_360)[: 10 * 2**20], filename="a.txt")
    async with http.post("/v1/files", data=form) as answer:
        assert answer.status == 200, await answer.text()
        file = (await answer.json())["id"]
    context = ""
    for _ in range(min(messages, 20)):
        message: dict[str, Any] = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": LONG}]}
        if context:
            message["contextId"] = context
        sent = {"message": message, "configuration": {"returnImmediately": True}}
        async with http.post("/a2a/message:send", json=sent, headers=V1) as answer:
            context = (await answer.json())["task"]["contextId"]
    listed = f"{thread}/messages?limit=100"
    return {
        "a list of messages": (listed, {}),
        "the same as HAC": (listed, {"Accept": "application/vnd.hac+json"}),
        "a transcript": (f"{thread}/transcript", {}),
        "a file of 10 MiB": (f"/v1/files/{file}/content", {}),
        "tasks over A2A": (f"/a2a/tasks?contextId={context}&pageSize=100", V1),
    }


async def send_bodies(server: Server) -> tuple[float, float]:
    """Send many values over A2A, several times at once."""
    body = b'{"x":[' + b"[]," * (BODY_BYTES // 3) + b"[]]}"
    watch = Watch(server)
    headers = {"Content-Type": "application/json"}

    async def send(http: aiohttp.ClientSession) -> None:
        with suppress(aiohttp.ClientError):
            async with http.post("/a2a", data=body, headers=headers) as answer:
                await answer.read()

    async with aiohttp.ClientSession(server.url) as http, watch.watching():
        await asyncio.sleep(10 * PAUSE)
        await asyncio.gather(*(send(http) for _ in range(BODIES)))
    return watch.figures


async def read_nothing(
    server: Server, readers: int, path: str, headers: dict[str, str]
) -> tuple[float, float]:
    """Ask many times, and read nothing of the answers."""
    watch = Watch(server)
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    async with watch.watching(), AsyncExitStack() as stack:
        for _ in range(readers):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
            stack.callback(writer.transport.abort)
            del reader
            writer.write("\r\n".join([*lines, "", ""]).encode())
        await asyncio.sleep(WATCHED_SECONDS)
    return watch.figures


@contextmanager
def of_checkout(folder: Path | None) -> Iterator[None]:
    """Have servers that are started run the code of another checkout."""
    if folder is not None:
        os.environ["PYTHONPATH"] = f"{folder}:{folder / 'capabilities'}"
        os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name, None)


def run(folder: Path | None, readers: int, messages: int) -> Figures:
    """Measure a desk, started again for each figure."""
    shop = SHOP if folder is None else folder / "examples" / "shop"
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as kept, of_checkout(folder):
        data = Path(kept)

        @contextmanager
        def desk() -> Iterator[Server]:
            port = free_port()
            command = desk_command(data / "data", port, *SETTINGS, folder=shop)
            log, bytecode = data / "log", data / "bytecode"
            with serving_process(command, port, log=log, bytecode=bytecode) as server:
                yield server

        with desk() as server:
            answers = asyncio.run(fill(server, messages))
        for name, (path, headers) in answers.items():
            with desk() as server:
                figures[name] = asyncio.run(read_nothing(server, readers, path, headers))
        with desk() as server:
            figures[f"{BODIES} bodies of 5.5 MB"] = asyncio.run(send_bodies(server))
    return figures


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--than", type=Path, help="the checkout of another version")
    parser.add_argument("--readers", type=int, default=34)
    parser.add_argument("--messages", type=int, default=100)
    given = parser.parse_args()
    now = run(None, given.readers, given.messages)
    then = run(given.than, given.readers, given.messages) if given.than else {}
    for name, (slowest, memory) in now.items():
        told = f"{name}: /health {slowest * 1000:.0f} ms at most, {memory:.0f} MiB"
        if name in then:
            was_slowest, was_memory = then[name]
            told += f"; before {was_slowest / slowest:.1f} times as long"
            told += f" and {was_memory / max(memory, 1):.1f} times as much"
        print(told, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
