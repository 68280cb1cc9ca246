"""An offer of a partner that is agreed to while the desk dies at any of its commits."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.faults.processes.dying_desk import ORDER, die_after
from tests.faults.test_peers import make_key, running
from tests.support.desk.processes import Server, free_port
from tests.support.sites import orders
from tests.support.sites.partners import LIBRARY, peer, write_site
from tests.support.store.chosen import read_rows

WISH = "Place an order: 2 of LMP-01"
MOST_COMMITS = 20
SECONDS = 60


def send(server: Server, key: str, path: str, body: Any) -> Any:
    """Post; return the response, or None where there is none."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Prefer": "wait=20",
    }
    request = urllib.request.Request(f"{server.url}{path}", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except OSError:
        return None


def wait_for_end(data: Path) -> list[str]:
    """Return how the purchases stand, once the desk has answered all that it kept."""
    ends = time.monotonic() + SECONDS
    while read_rows(data, "SELECT 1 FROM runs WHERE state IN ('queued', 'in_progress')"):
        assert time.monotonic() < ends, "a message that was kept is not answered"
        time.sleep(0.05)
    found = read_rows(data, "SELECT state FROM calls WHERE action = 'buy_moth'")
    return [str(row[0]) for row in found]


@pytest.mark.servers
def test_an_offer_is_taken_once_at_most_and_no_outcome_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths, is_bought = 0, False
    for number in range(1, MOST_COMMITS):
        folder = tmp_path / str(number)
        folder.mkdir()
        order, data = folder / "order", folder / "data"
        monkeypatch.setenv(ORDER, str(order))
        shop, ports = orders.write_site(folder), (free_port(), free_port())
        given: dict[str, Any] = {"bearer_env": "SHOP_TOKEN", "protocol": "aitp", "title": "Moth"}
        given |= {"budget": "20.00 EUR", "buyers": "actions", "topics": ["orders"]}
        toml = peer(f"http://127.0.0.1:{ports[1]}", "moth", **given)
        library = write_site(folder / "library", LIBRARY, toml)
        with running(folder / "shop-data", shop, ports[1]):
            monkeypatch.setenv("SHOP_TOKEN", make_key(folder / "shop-data"))
            with running(data, library, ports[0], dies=True) as desk:
                key = make_key(data)
                opened = send(desk, key, "/v1/threads", {"messages": [WISH]})
                assert "It costs 19.00 EUR." in str(opened["replies"]), opened
                die_after(order, number)
                path = f"/v1/threads/{opened['id']}/messages"
                is_bought = bool(send(desk, key, path, {"role": "user", "content": "yes"}))
            order.unlink()
            with running(data, library, ports[0]):
                known = wait_for_end(data)
        book = shop / "book.txt"
        bought = book.read_text().splitlines() if book.exists() else []
        assert len(bought) <= 1
        if is_bought:
            assert (bought, known) == (["2 of LMP-01"], ["succeeded"])
            break
        if bought:
            # done, or its outcome is unknown: never failed, and never forgotten
            assert known in (["succeeded"], ["unknown"])
        deaths += 1
    assert is_bought, "the purchase never went through"
    assert deaths >= 2, "no commit was hit"
