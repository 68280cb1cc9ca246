"""What an answer takes with all that agents are told beside it, of what it takes without.

    python -m tests.bench.hac [--rounds 5] [--calls 300]

Each address is read in turn in both forms over one kept connection to a desk (`aitp-desk serve`
over `examples/shop`) in a process of its own. The figure is the median of the rounds' shares.
"""

from __future__ import annotations

import argparse
import http.client
import json
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.support.desk.processes import desk_command, free_port, serving_process

WARM_UP = 50
HAC = {"Accept": "application/vnd.hac+json"}


def measure(port: int, path: str, headers: dict[str, str], calls: int) -> float:
    """Milliseconds that a reading takes, in the middle of all."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    taken = []
    for number in range(WARM_UP + calls):
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        said = response.read()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - began)
        assert response.status == 200, said
        assert (b'"_hac"' in said) == bool(headers), said
    connection.close()
    return median(taken) * 1000


def open_thread(port: int) -> str:
    """The address of a new thread with a message."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = json.dumps({"messages": ["Do you repair boots?"]})
    connection.request("POST", "/v1/threads", body, {"Content-Type": "application/json"})
    thread_id: str = json.loads(connection.getresponse().read())["id"]
    return f"/v1/threads/{thread_id}"


def main() -> None:
    """Measure and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        command = desk_command(folder / "data", port)
        with serving_process(command, port, log=folder / "log", bytecode=folder / "bytecode"):
            for path in (open_thread(port), "/capabilities/product_search", "/capabilities"):
                rounds = [
                    [measure(port, path, headers, chosen.calls) for headers in (HAC, {})]
                    for _ in range(chosen.rounds)
                ]
                share = median(hac / plain for hac, plain in rounds)
                told = "; ".join(f"{hac:.2f}, {plain:.2f}" for hac, plain in rounds)
                print(f"{path[:30]}: {share:.2f} (HAC, plain in ms: {told})")


if __name__ == "__main__":
    main()
