"""What a call takes at a desk, beside what it takes at a sample server of a protocol's own SDK.

For the benchmarks of the doors: each has its calls, and runs itself as the sample (`--sample`).
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec

from tests.support.desk.processes import desk_command, free_port, serving_process

TOOL, ARGUMENTS = "content_search", {"query": "What is your return policy?"}
WARM_UP = 50
GATE = 1.0
"""What the door may add, of what the SDK's sample server takes."""


class Round(msgspec.Struct, frozen=True):
    """What a call took in one round, in milliseconds.

    Parameters:
        ours: by the door, at the desk.
        theirs: at the sample.
        without: by a door of the desk's own, at the desk.
    """

    ours: float
    theirs: float
    without: float

    @property
    def share(self) -> float:
        """What the door adds, of what the sample takes."""
        return (self.ours - self.without) / self.theirs


class Load(msgspec.Struct, frozen=True):
    """One kind of request."""

    path: str
    body: bytes
    headers: dict[str, str]


def ahp_call() -> Load:
    """A question over AHP."""
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


def wait_for(port: int) -> None:
    """Wait until something listens there."""
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port).connect()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return


def compare(
    kinds: Mapping[str, tuple[Load, Load]],
    module: str,
    *,
    rounds: int,
    calls: int,
    beside: str,
    given: str = "",
) -> int:
    """Measure in turn and say what came of it; 1 where a gate is missed.

    Parameters:
        kinds: what is sent by the door, and the same without it, by what it is called.
        module: which runs the sample where it is given `--sample` and a port.
        beside: what the same is sent without the door by, as it is told.
        given: the sample's standard input.
    """
    missed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        desk, sample = free_port(), free_port()
        command = desk_command(folder / "data", desk)
        log, bytecode = folder / "log", folder / "bytecode"
        stack.enter_context(serving_process(command, desk, log=log, bytecode=bytecode))
        server = subprocess.Popen(
            [sys.executable, "-m", module, "--sample", str(sample)],
            stdin=subprocess.PIPE,
            text=True,
        )
        stack.callback(server.wait)
        stack.callback(server.terminate)
        assert server.stdin is not None
        server.stdin.write(given)
        server.stdin.close()
        wait_for(sample)
        for name, (load, same) in kinds.items():
            taken = []
            for _ in range(rounds):
                without = measure(desk, same, calls)
                ours, theirs = (measure(port, load, calls) for port in (desk, sample))
                taken.append(Round(ours, theirs, without))
            share = median(one.share for one in taken)
            missed |= share > GATE
            told = "; ".join(
                f"{one.ours:.2f}, {one.theirs:.2f}, {one.without:.2f}" for one in taken
            )
            print(f"{name}: {share:.2f} (desk, sample, {beside} in ms: {told})")
    return int(missed)
