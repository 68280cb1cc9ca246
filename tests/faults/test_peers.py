"""A purchase at a partner while one of the two desks dies at any of its commits."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.processes.dying_desk import ORDER, die_after
from tests.support.desk.command import run_here
from tests.support.desk.processes import (
    START_SECONDS,
    Server,
    desk_command,
    free_port,
    serving_fork,
)
from tests.support.sites import orders
from tests.support.sites.partners import LIBRARY, peer, write_site
from tests.support.store.chosen import read_rows

BUYS = {"sku": "LMP-01", "quantity": 2}
TERMS = '[[peers.terms]]\naction = "place_order"\nmutability = "reversible"\n'
KEY = "a-purchase-of-two-lamps"
MOST_COMMITS = 12
"""More than a purchase makes; the loop ends where a desk survives."""


@contextmanager
def running(folder: Path, site: Path, port: int, *, dies: bool = False) -> Iterator[Server]:
    command = desk_command(folder, port, folder=site)
    if dies:
        command[1:3] = ["-m", "tests.faults.processes.dying_desk"]
    with serving_fork(command, port, log=folder.parent / f"{port}.log") as server:
        yield server


def make_key(data: Path) -> str:
    made = ("token", "create", "--data", data, "--name", "buyer", "--scope", "actions")
    return run_here(*made).out.splitlines()[-1]


def buy(server: Server, key: str) -> int:
    """Send the purchase; return the status, or 0 where there is no response."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Idempotency-Key": KEY,
    }
    url = f"{server.url}/capabilities/shop_place_order"
    request = urllib.request.Request(url, json.dumps(BUYS).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def wait_for_offer(url: str, path: str) -> None:
    """Return once a desk lists the action at a path, which it asks another desk for."""
    ends_at = time.monotonic() + START_SECONDS
    while True:
        with urllib.request.urlopen(f"{url}/openapi.json", timeout=START_SECONDS) as response:
            if path in json.load(response)["paths"]:
                return
        assert time.monotonic() < ends_at, f"{url} does not list {path}"
        time.sleep(0.02)


def states(data: Path) -> list[str]:
    """Return how the purchases stand at a desk."""
    return [row[0] for row in read_rows(data, "SELECT state FROM calls")]


@pytest.mark.servers
@pytest.mark.parametrize("who", ["buyer", "seller"])
def test_nothing_is_bought_twice_and_no_outcome_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    deaths, first = 0, 0
    for number in range(1, MOST_COMMITS):
        folder = tmp_path / str(number)
        folder.mkdir()
        order, data = folder / "order", folder / "data"
        monkeypatch.setenv(ORDER, str(order))
        shop, ports = orders.write_site(folder), (free_port(), free_port())
        given = {"bearer_env": "SHOP_TOKEN", "actions": ["place_order"], "prefix": "shop_"}
        toml = peer(f"http://127.0.0.1:{ports[1]}", "shop", budget="20.00 EUR", **given) + TERMS
        library = write_site(folder / "library", LIBRARY, toml)
        with running(folder / "shop-data", shop, ports[1], dies=who == "seller"):
            monkeypatch.setenv("SHOP_TOKEN", make_key(folder / "shop-data"))
            with running(data, library, ports[0], dies=who == "buyer") as desk:
                key = make_key(data)
                wait_for_offer(desk.url, "/capabilities/shop_place_order")
                die_after(order, number)
                first = buy(desk, key)
            order.unlink()
            with running(data, library, ports[0]):
                known = states(data)
        book = shop / "book.txt"
        bought = book.read_text().splitlines() if book.exists() else []
        assert len(bought) <= 1
        if first == 200:
            assert (bought, known) == (["2 of LMP-01"], ["succeeded"])
            break
        if bought:
            # done, or its outcome is unknown: never failed, and never forgotten
            assert known in (["succeeded"], ["unknown"])
        deaths += 1
    assert first == 200, "the purchase never went through"
    assert deaths >= 2, "no commit was hit"
