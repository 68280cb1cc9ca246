"""A purchase through four desks, in a chain or a ring, while one dies at any of its commits."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.processes.dying_desk import ORDER
from tests.faults.test_peers import BUYS, TERMS, make_key, running, states, wait_for_offer
from tests.support.desk.processes import free_ports
from tests.support.sites import orders
from tests.support.sites.partners import LIBRARY, peer, write_site

COUNT = 4
MOST_COMMITS = 30
SECONDS = 60


class Desks:
    """Desks of which each asks and calls the next one; the last one is the shop.

    Parameters:
        victim: the place of the desk that dies.
        is_ring: whether the shop asks the first desk.
    """

    def __init__(self, folder: Path, protocol: str, victim: int, *, is_ring: bool) -> None:
        first = free_ports(COUNT)
        self.ports = [first + place for place in range(COUNT)]
        self.order, self.victim = folder / "order", victim
        self.data = [folder / f"data{place}" for place in range(COUNT)]
        (folder / "shop").mkdir()
        self.sites = [
            *(
                write_site(folder / f"site{place}", LIBRARY, self._partner(place, protocol))
                for place in range(COUNT - 1)
            ),
            orders.write_site(folder / "shop"),
        ]
        if is_ring:
            back = peer(self.url(0), "first", protocol=protocol, seconds=5)
            (self.sites[-1] / "desk.toml").write_text(back, encoding="utf-8")
        self.key = ""

    def url(self, place: int) -> str:
        return f"http://127.0.0.1:{self.ports[place]}"

    def _partner(self, place: int, protocol: str) -> str:
        given: dict[str, Any] = {"actions": ["place_order"], "budget": "20.00 EUR"}
        given |= {"bearer_env": f"TOKEN{place + 1}", "protocol": protocol}
        return peer(self.url(place + 1), f"desk{place + 1}", **given) + TERMS

    @contextmanager
    def serving(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Serve all but the victim, the last one first."""
        monkeypatch.setenv(ORDER, str(self.order))
        with ExitStack() as stack:
            # it is there while the others start, which list its actions
            victim = stack.enter_context(ExitStack())
            for place in reversed(range(COUNT)):
                owner = victim if place == self.victim else stack
                owner.enter_context(self.run(place))
                wait_for_offer(self.url(place), "/capabilities/place_order")
                self.key = make_key(self.data[place])
                monkeypatch.setenv(f"TOKEN{place}", self.key)
            victim.close()
            yield

    def run(self, place: int, *, dies: bool = False) -> Any:
        return running(self.data[place], self.sites[place], self.ports[place], dies=dies)

    def send(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        """Send a request to the first desk; return status and body, or 0 without a response."""
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            self.url(0) + path, json.dumps(body).encode(), sent | headers
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            return 0, None

    def buy(self, key: str) -> int:
        return self.send("/capabilities/place_order", BUYS, **{"Idempotency-Key": key})[0]

    @property
    def bought(self) -> int:
        book = self.sites[-1] / "book.txt"
        return len(book.read_text("utf-8").splitlines()) if book.exists() else 0


@pytest.fixture(
    params=[
        ("chain", "mcp", 2),
        ("chain", "ahp", 3),
        ("ring", "a2a", 3),
        ("ring", "ahp", 1),
    ],
    ids=lambda given: f"{given[0]}-{given[1]}-{given[2]}",
)
def desks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Desks]:
    shape, protocol, victim = request.param
    made = Desks(tmp_path, protocol, victim, is_ring=shape == "ring")
    with made.serving(monkeypatch):
        yield made


@pytest.mark.servers
def test_four_desks_buy_once_and_no_outcome_is_made_up(desks: Desks) -> None:
    status = deaths = 0
    for number in range(1, MOST_COMMITS):
        before, known = desks.bought, Counter(states(desks.data[0]))
        with desks.run(desks.victim, dies=True):
            desks.order.write_text(str(number))
            status = desks.buy(f"purchase-{number}")
        desks.order.unlink()
        with desks.run(desks.victim):
            stands = list((Counter(states(desks.data[0])) - known).elements())
        bought = desks.bought - before
        assert bought <= 1
        if status == 200:
            assert (bought, stands) == (1, ["succeeded"])
            break
        if bought:
            assert stands in (["succeeded"], ["unknown"])
        deaths += 1
    assert status == 200, "the purchase never went through"
    assert deaths >= 2, "no commit was hit"
