"""How a desk serves many visitors who open its chat at the same moment and ask something.

    python -m tests.bench.widgets [--visitors 500]

Each visitor sends what the component sends in a browser, from an address of its own: it loads the
script, the code and the texts, opens a thread with a question, and follows the thread until the
answer is there. Printed are the times from the first request on, and how often anything failed;
exits with 1 then. Visitors and the desk share the machine's processors.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

import aiohttp
import msgspec

from tests.support.desk.processes import Server, desk_command, free_port, serving_process

QUESTIONS = (
    "What is your return policy?",
    "Do you ship to Canada?",
    "How do I wash a down jacket?",
    "When is the store in Bend open?",
)
SECONDS = 120
SETTINGS = ("limits.enabled=true", "server.trusted_proxies=['127.0.0.1']")
"""The limits of a public desk are on; each visitor's address comes from the proxy's header."""
_VERSION = re.compile(r'"version":\s*"([0-9a-f]+)"')


class Visit(msgspec.Struct):
    """What one visitor has seen, in seconds from the first request on.

    Parameters:
        loaded: the component is there.
        posted: the question is acknowledged.
        answered: the answer is there.
        fault: what failed; empty if nothing did.
    """

    loaded: float = 0.0
    posted: float = 0.0
    answered: float = 0.0
    fault: str = ""


async def visit(server: Server, number: int) -> Visit:
    """Open the chat, ask and read the answer."""
    seen, began = Visit(), time.perf_counter()
    address = f"198.51.{100 + number // 250}.{number % 250 + 1}"
    headers = {"X-Forwarded-For": address, "Origin": "http://127.0.0.1:8081"}
    async with aiohttp.ClientSession(server.url, headers=headers) as web:
        try:
            async with asyncio.timeout(SECONDS):
                await _load(web)
                seen.loaded = time.perf_counter() - began
                thread = await _ask(web, QUESTIONS[number % len(QUESTIONS)])
                seen.posted = time.perf_counter() - began
                await _read_answer(web, thread)
                seen.answered = time.perf_counter() - began
        except (aiohttp.ClientError, TimeoutError) as error:
            seen.fault = f"{type(error).__name__} {getattr(error, 'status', '')}".strip()
    return seen


async def _load(web: aiohttp.ClientSession) -> None:
    async with web.get("/widget.js", raise_for_status=True) as response:
        found = _VERSION.search(await response.text())
    assert found is not None, "the script names no version"
    for name in ("chat.js", "texts/en.txt"):
        async with web.get(f"/widget/{found[1]}/{name}", raise_for_status=True) as response:
            await response.read()


async def _ask(web: aiohttp.ClientSession, question: str) -> str:
    body = {"messages": [{"role": "user", "content": question}], "metadata": {"chat": "open"}}
    async with web.post("/v1/threads", json=body, raise_for_status=True) as response:
        thread: str = (await response.json())["id"]
    return thread


async def _read_answer(web: aiohttp.ClientSession, thread: str) -> None:
    """Follow a thread from its first event until the run has answered."""
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "0"}
    path = f"/v1/threads/{thread}/events"
    async with web.get(path, raise_for_status=True, headers=headers) as response:
        async for line in response.content:
            if line == b"event: run.completed\n":
                return
    raise aiohttp.ClientError("the stream ended before the answer")


async def measure(visitors: int) -> bool:
    """Print what all visitors have seen; return whether nothing failed."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = desk_command(Path(folder) / "data", port, *SETTINGS)
        with serving_process(command, port, log=Path(folder) / "log", ready="/ready") as server:
            seen = await asyncio.gather(*(visit(server, number) for number in range(visitors)))
    faults = Counter(one.fault for one in seen if one.fault)
    for name in ("loaded", "posted", "answered"):
        times = sorted(getattr(one, name) for one in seen if not one.fault)
        if times:
            print(f"{name}: median {median(times):.2f} s, last {times[-1]:.2f} s")
    print(f"{visitors} visitors, faults: {dict(faults) or 'none'}")
    return not faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.widgets")
    parser.add_argument("--visitors", type=int, default=500)
    sys.exit(0 if asyncio.run(measure(parser.parse_args().visitors)) else 1)
