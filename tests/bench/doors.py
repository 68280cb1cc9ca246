"""What every door takes beside calling the desk itself, and MCP's and A2A's beside the SDKs' own.

    python -m tests.bench.doors [--rounds 5] [--calls 200]

The same question (answered from the cache) and the same call of an action (written down before it
runs) go one after the other over one kept connection through each door of one desk over
`examples/shop`, and right before that, in every round, to the desk itself, in the same process,
with no door and no HTTP between. What a door takes more than that is its overhead. Samples of both
SDKs are sent the same bytes; they answer at once and have nothing behind them. The gate: what the
doors of MCP and A2A take more than the desk itself is at most what such a sample takes, the median
of the shares within the rounds. What is only read (agents.txt and its like) asks nothing of the
desk.
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

from tests.bench.harness.comparison import GATE, WARM_UP, Load, wait_for
from tests.bench.harness.exchange import ASKED, CALLED, QUESTION, WORDS, by_doors
from tests.bench.mcp import ERAS
from tests.support.desk.processes import free_port

LOADS = {
    "ask": by_doors(ASKED, {"query": QUESTION}, QUESTION),
    "call": by_doors(CALLED, WORDS, json.dumps(WORDS)),
}
SAMPLED = {
    "mcp": tuple(f"MCP {era}" for era in ERAS),
    "a2a": ("A2A",),
}
"""The doors that are held against a sample, by its module."""
READS = ("/agents.txt", "/.well-known/agent.json", "/openapi.json", "/.well-known/agent-card.json")

_WRONG = (b'"error"', b'"isError":true', b"_FAILED")


class Desk:
    """A desk that can be asked past its doors."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def measure(self, kind: str, calls: int) -> float:
        """Milliseconds that it takes itself, in the middle of all."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{kind} {calls}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def measure(port: int, load: Load, calls: int) -> float:
    """Milliseconds that a request takes, in the middle of all; without a body it is a reading."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    method = "POST" if load.body else "GET"
    taken = []
    for number in range(WARM_UP + calls):
        began = time.perf_counter()
        connection.request(method, load.path, load.body or None, load.headers)
        response = connection.getresponse()
        said = response.read()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - began)
        assert response.status == 200, said
        assert load.path in READS or not any(wrong in said for wrong in _WRONG), said
    connection.close()
    return median(taken) * 1000


def begin(stack: ExitStack, *command: str) -> subprocess.Popen[str]:
    """A process that is told what to do over its input, and ends with this one."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def given_by(port: int, kind: str) -> dict[str, Any]:
    """What the desk gives over MCP, for a sample to give the same."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    load = LOADS[kind][SAMPLED["mcp"][0]]
    connection.request("POST", load.path, load.body, load.headers)
    given: dict[str, Any] = json.loads(connection.getresponse().read())["result"]
    connection.close()
    return dict(given["structuredContent"])


def main() -> int:
    """Measure and say what came of it; 1 where a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    chosen = parser.parse_args()
    missed = False
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        port = free_port()
        desk = Desk(begin(stack, "tests.bench.harness.desk", str(Path(folder) / "data"), str(port)))
        wait_for(port)
        for kind, loads in LOADS.items():
            samples = begin_samples(stack, given_by(port, kind))
            missed |= compare(desk, port, samples, kind, loads, chosen)
        for path in READS:
            taken = [measure(port, Load(path, b"", {}), chosen.calls) for _ in range(chosen.rounds)]
            print(f"read {path}: {median(taken):.2f} ms")
    return int(missed)


def begin_samples(stack: ExitStack, result: dict[str, Any]) -> dict[str, int]:
    """The ports of the SDKs' samples."""
    ports = {}
    for name in SAMPLED:
        ports[name] = free_port()
        process = begin(stack, f"tests.bench.{name}", "--sample", str(ports[name]))
        assert process.stdin is not None
        process.stdin.write(json.dumps(result))
        process.stdin.close()
        wait_for(ports[name])
    return ports


def compare(
    desk: Desk,
    port: int,
    samples: dict[str, int],
    kind: str,
    loads: dict[str, Load],
    chosen: argparse.Namespace,
) -> bool:
    """Measure one kind in rounds, and print it; whether a gate is missed."""
    sample_of = {
        protocol: samples[name] for name, protocols in SAMPLED.items() for protocol in protocols
    }
    missed = False
    for protocol, load in loads.items():
        rounds = []
        for _ in range(chosen.rounds):
            direct = desk.measure(kind, chosen.calls)
            ours = measure(port, load, chosen.calls)
            at = sample_of.get(protocol)
            rounds.append((direct, ours, measure(at, load, chosen.calls) if at else 0.0))
        direct, ours, theirs = map(median, zip(*rounds, strict=True))
        over = median(ours - direct for direct, ours, _ in rounds)
        told = f"{kind} by {protocol}: {ours:.2f} ms, {over:.2f} over the desk's own {direct:.2f}"
        if protocol in sample_of:
            share = median((ours - direct) / theirs for direct, ours, theirs in rounds)
            missed |= share > GATE
            told += f"; {share:.2f} of what the sample takes ({theirs:.2f} ms), gate {GATE:.1f}"
        print(told)
    return missed


if __name__ == "__main__":
    sys.exit(main())
