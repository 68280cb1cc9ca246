"""What a tool's call takes over MCP: beside calling the desk itself, and beside the SDK's server.

    python -m tests.bench.mcp [--rounds 5] [--calls 300]

The same call, one after the other over one kept connection: to a desk (`aitp-desk serve` over
`examples/shop`), and to a sample of the official SDK that has the one tool and nothing behind it,
each in a process of its own, in turn. It is a question that is answered from the cache, so that
what is measured is the door. The figure is what a call takes more than over AHP, as a share of what
the sample takes, the median of those within the rounds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from tests.processes import desk_command, free_port, serving_process

TOOL, ARGUMENTS = "content_search", {"query": "What is your return policy?"}
WARM_UP = 50
GATE = 1.0
"""What the door may add, of what the SDK's sample server takes."""
ERAS = ("2025-11-25", "2026-07-28")
_PREFIX = "io.modelcontextprotocol/"


class Round(msgspec.Struct, frozen=True):
    """What a call took in one round, in milliseconds.

    Parameters:
        ours: over MCP at the desk.
        theirs: at the sample.
        over_ahp: over AHP at the desk.
    """

    ours: float
    theirs: float
    over_ahp: float

    @property
    def share(self) -> float:
        """What the door adds, of what the sample takes."""
        return (self.ours - self.over_ahp) / self.theirs


class Load(msgspec.Struct, frozen=True):
    """One kind of request."""

    path: str
    body: bytes
    headers: dict[str, str]


def tool_call(era: str) -> Load:
    """A call as a client of this era sends it."""
    params: dict[str, Any] = {"name": TOOL, "arguments": ARGUMENTS}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == ERAS[1]:
        params["_meta"] = {
            f"{_PREFIX}protocolVersion": era,
            f"{_PREFIX}clientCapabilities": {},
            f"{_PREFIX}clientInfo": {"name": "bench", "version": "1"},
        }
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": TOOL}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Load("/mcp", json.dumps(message).encode(), headers)


def ahp_call() -> Load:
    """The same over AHP."""
    body = {"capability": TOOL, **ARGUMENTS}
    return Load("/agent/converse", json.dumps(body).encode(), {"Content-Type": "application/json"})


def measure(port: int, load: Load, calls: int) -> float:
    """Milliseconds that a call takes, in the middle of all."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    taken = []
    for number in range(WARM_UP + calls):
        began = time.perf_counter()
        connection.request("POST", load.path, load.body, load.headers)
        response = connection.getresponse()
        said = response.read()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - began)
        assert response.status == 200, said
        assert b"return" in said, said
    connection.close()
    return median(taken) * 1000


def sample_result() -> dict[str, Any]:
    """What the shop gives, for the sample server to answer the same."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = desk_command(Path(folder) / "data", port)
        log = Path(folder) / "log"
        with serving_process(command, port, log=log, bytecode=Path(folder) / "bytecode"):
            load, connection = tool_call(ERAS[0]), http.client.HTTPConnection("127.0.0.1", port)
            connection.request("POST", load.path, load.body, load.headers)
            said = json.loads(connection.getresponse().read())
            found: dict[str, Any] = said["result"]["structuredContent"]
    return found


def serve_sample(port: int, result: dict[str, Any]) -> None:
    """Run the SDK's own server with one tool that answers at once."""
    import uvicorn
    from mcp.server import MCPServer

    server = MCPServer("sample", log_level="ERROR")

    @server.tool()
    def content_search(query: str) -> dict[str, Any]:
        """Answers a question."""
        assert query
        return result

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


def wait_for(port: int) -> None:
    """Wait until something listens there."""
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port).connect()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return


def main() -> int:
    """Measure and say what came of it; 1 where a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--sample", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.sample:
        serve_sample(chosen.sample, json.loads(sys.stdin.read()))
        return 0
    result = json.dumps(sample_result())
    missed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        desk, sample = free_port(), free_port()
        command = desk_command(folder / "data", desk)
        log, bytecode = folder / "log", folder / "bytecode"
        stack.enter_context(serving_process(command, desk, log=log, bytecode=bytecode))
        beside = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.mcp", "--sample", str(sample)],
            stdin=subprocess.PIPE,
            text=True,
        )
        stack.callback(beside.wait)
        stack.callback(beside.terminate)
        assert beside.stdin is not None
        beside.stdin.write(result)
        beside.stdin.close()
        wait_for(sample)
        for era in ERAS:
            load, rounds = tool_call(era), []
            for _ in range(chosen.rounds):
                over_ahp = measure(desk, ahp_call(), chosen.calls)
                ours, theirs = (measure(port, load, chosen.calls) for port in (desk, sample))
                rounds.append(Round(ours, theirs, over_ahp))
            share = median(one.share for one in rounds)
            missed |= share > GATE
            told = "; ".join(
                f"{one.ours:.2f}, {one.theirs:.2f}, {one.over_ahp:.2f}" for one in rounds
            )
            print(f"{era}: {share:.2f} (desk, sample, AHP in ms: {told})")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
