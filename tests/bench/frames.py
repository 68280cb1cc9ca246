"""The functions of the desk that one request enters: counted, and listed.

    python -m tests.bench.frames [--list] [REQUEST ...]

A desk over `examples/shop` runs in this process. Each request is sent until its path is warm, then
once more under a profile function. Counted are the Python functions that are entered in the thread
of the event loop, until the first bytes of the answer are sent: those of the desk and of the
capability packages, the files in which they stand, and next to them those of the store's writer
thread and of libraries. A coroutine or a generator counts once, however often it resumes.

`--list` prints the desk's functions in the order in which they are entered, indented by depth; what
is entered again and again in one place stands on one line with its count. The figures are of work,
not of time, so they are the same on every machine.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby, islice, repeat
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, Self

import msgspec

import aitp_desk
from tests.bench.harness.comparison import Load
from tests.bench.harness.load import request
from tests.bench.mcp import ERAS, tool_call
from tests.support.desk.server import SHOP, serving

ROOT = Path(aitp_desk.__file__).parent.parent
OWN = tuple(f"{ROOT / folder}/" for folder in ("aitp_desk", "capabilities"))
WARM_UP = 4
QUIET_SECONDS = 0.5
"""After what time nothing is left to do of the requests before."""
ROUNDS = 5
"""How often each is traced at most; the least counts, for background work of the desk may add."""
SETTINGS = ("content.meaning.enabled=false", "threads.max_auto_replies=1000000")
QUESTION = "What is your return policy?"


class Trace:
    """The frames that are entered in the thread that makes it, and in threads begun after that.

    It is a context manager, which ends the tracing.

    Attributes:
        port: an answer on it ends one trace.
    """

    def __init__(self) -> None:
        self.port = 0
        self._is_on = False
        self._loop: list[FrameType] = []
        self._threads: list[FrameType] = []
        self._thread = threading.get_ident()

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def start(self) -> None:
        """Start one trace."""
        self._loop.clear()
        self._threads.clear()
        self._is_on = True

    def _note(self, frame: FrameType, event: str, what: Any) -> None:
        if not self._is_on:
            return
        if event == "call":
            is_loop = threading.get_ident() == self._thread
            (self._loop if is_loop else self._threads).append(frame)
        elif event == "c_call" and what.__name__ == "send":
            sock = what.__self__
            self._is_on = not (
                isinstance(sock, socket.socket)
                and sock.family == socket.AF_INET
                and sock.getsockname()[1] == self.port
            )

    def counts(self) -> Counts:
        """What was entered."""
        entered = {id(frame): frame for frame in self._loop}  # frames are held, so ids differ
        own = [frame for frame in entered.values() if _is_own(frame)]
        others = {id(frame) for frame in self._threads if _is_own(frame)}
        return Counts(own, len(others), len(entered) - len(own))


class Counts(msgspec.Struct, frozen=True):
    """What one request enters.

    Parameters:
        own: the desk's frames in the thread of the event loop, in their order.
        threads: how many frames of the desk are entered in other threads.
        libraries: how many frames of others in the thread of the event loop.
    """

    own: list[FrameType]
    threads: int
    libraries: int

    @property
    def files(self) -> int:
        """In how many files the desk's functions stand."""
        return len({frame.f_code.co_filename for frame in self.own})

    def lines(self) -> Iterator[str]:
        """The desk's functions in their order."""
        held = {id(frame) for frame in self.own}
        told = (f"{'  ' * _depth(frame, held)}{_name(frame)}" for frame in self.own)
        for line, same in groupby(told):
            times = len(list(same))
            yield line if times == 1 else f"{line} x{times}"


def port_of(url: str) -> int:
    """Return the port of a desk's address."""
    return int(url.rpartition(":")[2])


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(OWN)


def _name(frame: FrameType) -> str:
    code = frame.f_code
    file = Path(code.co_filename).relative_to(ROOT)
    return f"{file}:{code.co_firstlineno} {code.co_qualname}"


def _depth(frame: FrameType, held: set[int]) -> int:
    depth, above = 0, frame.f_back
    while above is not None:
        depth += id(above) in held
        above = above.f_back
    return depth


class Client:
    """A client of the desk on one kept connection, each of whose requests is one write."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, load: Load) -> dict[str, Any]:
        """Post it and return the answer."""
        self._socket.sendall(request("POST", load.path, load.headers, load.body))
        response = http.client.HTTPResponse(self._socket, method="POST")
        response.begin()
        body = response.read()
        assert response.status in (200, 201), body
        answer: dict[str, Any] = json.loads(body)
        return answer


def converse(_client: Client) -> Iterator[Load]:
    """A question over AHP that is answered from the cache."""
    asked = {"ahp": "0.1", "capability": "content_search", "query": QUESTION}
    return repeat(Load("/agent/converse", json.dumps(asked).encode(), {}))


def post_message(client: Client) -> Iterator[Load]:
    """Messages on one thread; the runs that they start come after their answers."""
    return repeat(_message(client, {}))


def run(client: Client) -> Iterator[Load]:
    """The first message of a thread, answered once its run is completed."""
    while True:
        yield _message(client, {"Prefer": "wait=20"})


def _message(client: Client, headers: dict[str, str]) -> Load:
    thread = client.send(Load("/v1/threads", b"{}", {}))["id"]
    body = json.dumps({"role": "user", "content": QUESTION}).encode()
    return Load(f"/v1/threads/{thread}/messages", body, headers)


def mcp(era: str) -> Callable[[Client], Iterator[Load]]:
    """A call of an action of the shop over MCP."""

    def load(_client: Client) -> Iterator[Load]:
        call = tool_call(era, "product_search", {"words": "stove"})
        del call.headers["Content-Type"]  # every request is sent with it
        return repeat(call)

    return load


REQUESTS: dict[str, Callable[[Client], Iterator[Load]]] = {
    "converse": converse,
    "message": post_message,
    "run": run,
    **{f"mcp-{era}": mcp(era) for era in ERAS},
}


def trace_all(
    trace: Trace, port: int, names: Sequence[str], enough: Mapping[str, int] = MappingProxyType({})
) -> Iterator[tuple[str, Counts]]:
    """Trace each of the requests, in another thread than that of the desk.

    Parameters:
        enough: the number of functions, by request, at which it is not traced again.
    """
    sys.setprofile(None)  # of this thread
    trace.port = port
    with closing(Client(port)) as client:
        for name in names:
            loads = REQUESTS[name](client)
            for load in islice(loads, WARM_UP):
                client.send(load)
            least = _trace(trace, client, next(loads))
            for _ in range(ROUNDS - 1):
                if len(least.own) <= enough.get(name, 0):
                    break
                least = min(least, _trace(trace, client, next(loads)), key=_size)
            yield name, least


def _trace(trace: Trace, client: Client, load: Load) -> Counts:
    time.sleep(QUIET_SECONDS)
    trace.start()
    client.send(load)
    return trace.counts()


def _size(counts: Counts) -> int:
    return len(counts.own)


async def main() -> None:
    """Print what the requests enter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", nargs="*", choices=[[], *REQUESTS], default=[])
    parser.add_argument("--list", action="store_true", dest="is_listing")
    given = parser.parse_args()

    def print_all(trace: Trace, port: int) -> None:
        print(f"{'request':16}{'functions':>10}{'files':>7}{'threads':>9}{'libraries':>11}")
        for name, counts in trace_all(trace, port, given.requests or list(REQUESTS)):
            entered = f"{len(counts.own):10}{counts.files:7}{counts.threads:9}"
            print(f"{name:16}{entered}{counts.libraries:11}")
            if given.is_listing:
                print(*counts.lines(), sep="\n")

    with tempfile.TemporaryDirectory() as folder, Trace() as trace:
        async with serving(Path(folder), *SETTINGS, folder=SHOP) as desk:
            await asyncio.to_thread(print_all, trace, port_of(desk.url))


if __name__ == "__main__":
    asyncio.run(main())
