"""What each way to prove who one is costs, as a ratio to the same requests without a credential.

    python -m tests.bench.identity [--rounds 7] [--seconds 1.5] [WAY…]

A real desk (`aitp-desk serve` over `examples/shop`) is sent the same requests in every way, each
right after requests that prove nothing, in rounds; a figure is the median of the ratios within the
rounds. Three kinds of requests: a question that is answered anew, which is what a desk is for and
what the gates are for; a message that is written to a thread, without an answer; and a question
that is answered from memory, the cheapest request there is, where a credential weighs most.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from examples.clients.signed_request import sign
from tests.bench.harness.bot import Bot, bot
from tests.bench.harness.cases import NOTHING_REMEMBERED, converse_body, new_questions
from tests.bench.harness.load import request
from tests.bench.run import Figures, Place, Subject
from tests.support.desk.processes import Server

THREADS = 32
SPARE = 1.5
"""So many times as many requests are signed as are expected to be sent."""

CONVERSE = "/agent/converse"

Headers = dict[str, str]


class Kind(msgspec.Struct, frozen=True):
    """What is asked, again and again.

    Parameters:
        bodies: sent in turn.
        settings: of the desk, as `--set` takes them.
        is_gated: whether the gates are for it.
    """

    name: str
    path: str
    bodies: tuple[bytes, ...]
    headers: Headers = {}
    settings: tuple[str, ...] = ()
    is_gated: bool = False


KINDS = (
    Kind("new answer", CONVERSE, new_questions(), {}, NOTHING_REMEMBERED, is_gated=True),
    Kind(
        "message",
        "/v1/threads/{thread}/messages",
        (json.dumps({"role": "user", "content": "x" * 264}).encode(),),
        {"OpenAI-Beta": "assistants=v2"},  # no run is started
    ),
    Kind("cached answer", CONVERSE, (converse_body("What is your return policy?"),)),
)


class Way(msgspec.Struct, frozen=True):
    """A way to prove who one is.

    Parameters:
        prove: given a method, a path and a body, the headers that prove it.
        is_once: whether each request needs headers of its own.
        gate: the most that it may cost.
    """

    name: str
    prove: Callable[[str, str, bytes], Headers]
    gate: float | None = None
    is_once: bool = False

    def requests(self, url: str, kind: Kind, number: int) -> list[bytes]:
        """Requests that are proven in this way, on threads of whoever sends them."""
        paths = [kind.path]
        if "{thread}" in kind.path:
            opened = (self._open_thread(url) for _ in range(THREADS))
            paths = [kind.path.format(thread=thread) for thread in opened]
        sent = [(path, body) for body in kind.bodies for path in paths]
        times = -(-number // len(sent)) if self.is_once else 1
        return [
            request("POST", path, kind.headers | self.prove("POST", path, body), body)
            for _ in range(times)
            for path, body in sent
        ]

    def _open_thread(self, url: str) -> str:
        proven = self.prove("POST", "/v1/threads", b"{}")
        given: dict[str, str] = _call(f"{url}/v1/threads", b"{}", proven)
        return given["id"]


def ways_of(data: Path, url: str, agent: Bot) -> Iterator[Way]:
    """All ways to prove oneself to a desk, the first without a credential."""
    yield Way("anonymous", lambda *_: {})
    key = {"Authorization": f"Bearer {_command(data, 'token', '--name', 'key')[-1]}"}
    yield Way("API key", lambda *_: key)
    client = dict(line.split("=", 1) for line in _command(data, "client", "--name", "client")[-2:])
    token = {"Authorization": f"Bearer {_get_token(url, client)}"}
    yield Way("JWT, remembered", lambda *_: token, gate=1.15)
    made = _command(data, "token", "--name", "signing", "--hmac")[-2:]
    key_id, secret = (line.split("=", 1)[1] for line in made)
    yield Way(
        "HMAC-signed",
        lambda method, path, body: {
            "Authorization": sign(method, path, body, key_id=key_id, secret=secret)
        },
        gate=1.3,
        is_once=True,
    )
    yield Way("Web Bot Auth", partial(agent.sign, url), is_once=True)


def compare(server: Server, ways: list[Way], kind: Kind, rounds: int, seconds: float) -> None:
    """Print what each way costs beside the first."""
    bare, *proven = ways
    expected = 0

    def measure(way: Way) -> Figures:
        return Subject(server, way.requests(server.url, kind, round(expected * SPARE))).measure(
            seconds
        )

    expected = measure(bare).report.answered
    times: dict[str, list[float]] = {way.name: [] for way in proven}
    cpu: dict[str, list[float]] = {way.name: [] for way in proven}
    for number in range(1, rounds + 1):
        print(f"{kind.name}: round {number} of {rounds}", file=sys.stderr)
        for way in proven:
            without = measure(bare)
            expected = max(expected, without.report.answered)
            with_it = measure(way)
            times[way.name].append(without.report.rate / with_it.report.rate)
            cpu[way.name].append(with_it.cpu_us / without.cpu_us)
    for way in proven:
        gate = f"{way.gate:.2f}" if way.gate is not None and kind.is_gated else ""
        found = sorted(times[way.name])
        print(
            f"{kind.name:16}{way.name:18}{median(found):8.2f}"
            f"{f'({found[0]:.2f}-{found[-1]:.2f})':>14}{gate:>7}{median(cpu[way.name]):10.2f}"
        )


def _command(data: Path, group: str, *options: str) -> list[str]:
    command = [sys.executable, "-m", "aitp_desk", group, "create", "--data", str(data)]
    command += [*options, "--scope", "threads"]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return made.stdout.strip().splitlines()


def _get_token(url: str, client: dict[str, str]) -> str:
    form = {"grant_type": "client_credentials", **client}
    body = urllib.parse.urlencode(form).encode()
    given: dict[str, str] = _call(
        f"{url}/oauth/token", body, {"Content-Type": "application/x-www-form-urlencoded"}
    )
    return given["access_token"]


def _call(url: str, body: bytes, headers: Headers) -> Any:
    sent = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(url, body, sent)) as answer:
        return json.load(answer)


def main() -> None:
    """Compare the ways that are named, else all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", metavar="WAY")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, bot() as agent:
        place, shop = Place(Path(folder)), agent.make_known(Path(folder) / "shop")
        print(f"{'request':16}{'proven by':18}    time  (least-most)   gate       CPU")
        for kind in KINDS:
            settings = (*kind.settings, "egress.allow_loopback=true")
            with place.desk(kind.name, settings=settings, folder=shop) as server:
                bare, *others = ways_of(place.data(kind.name), server.url, agent)
                chosen = [way for way in others if not given.ways or way.name in given.ways]
                compare(server, [bare, *chosen], kind, given.rounds, given.seconds)


if __name__ == "__main__":
    main()
