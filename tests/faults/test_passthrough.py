"""A message that is passed on to a partner while the desk dies at any of its commits."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path

import pytest

from tests.faults.processes.dying_desk import ORDER, die_after
from tests.faults.test_peers import running
from tests.support.desk.processes import Server, free_port
from tests.support.sites.partners import BOOKSHOP, FORWARDING, LIBRARY, peer, write_site
from tests.support.store.chosen import read_rows

QUESTION = "How long do you lend e-readers?"
MOST_COMMITS = 30
SECONDS = 60
SAID = "SELECT content FROM messages WHERE origin = '{}' ORDER BY seq"


def ask(server: Server) -> bool:
    """Open a thread with the question; return whether there is a response."""
    body = json.dumps({"messages": [QUESTION]}).encode()
    headers = {"Content-Type": "application/json", "Prefer": "wait=20"}
    request = urllib.request.Request(f"{server.url}/desk2/v1/threads", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status) == 200
    except OSError:
        return False


def wait_for_reply(data: Path) -> list[str]:
    """Return what the desk has replied to what it kept."""
    ends = time.monotonic() + SECONDS
    while read_rows(data, SAID.format("visitor")):
        replies = [str(row[0]) for row in read_rows(data, SAID.format("desk"))]
        if replies:
            return replies
        assert time.monotonic() < ends, "no reply to a message that was kept"
        time.sleep(0.05)
    return []


@pytest.mark.servers
def test_a_message_is_passed_on_once_at_most_and_always_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaths, lost, is_answered = 0, 0, False
    for number in range(1, MOST_COMMITS):
        folder = tmp_path / str(number)
        folder.mkdir()
        order, data = folder / "order", folder / "data"
        monkeypatch.setenv(ORDER, str(order))
        ports = (free_port(), free_port())
        url = f"http://127.0.0.1:{ports[1]}"
        toml = FORWARDING + peer(url, passthrough="desk2", protocol="aitp")
        library = write_site(folder / "library", LIBRARY, toml, desk2="# None\n\nNothing.\n")
        bookshop = write_site(folder / "bookshop", BOOKSHOP)
        with running(folder / "other", bookshop, ports[1]):
            with running(data, library, ports[0], dies=True) as desk:
                die_after(order, number)
                is_answered = ask(desk)
            order.unlink()
            with running(data, library, ports[0]):
                replies = wait_for_reply(data)
            passed_on = read_rows(folder / "other", SAID.format("visitor"))
        assert len(passed_on) <= 1
        assert len(replies) <= 1
        if is_answered:
            assert "three weeks" in replies[0]
            break
        lost += any("was interrupted" in reply for reply in replies)
        deaths += 1
    assert is_answered, "the message never went through"
    assert deaths, "no commit was hit"  # a busy desk has few: units that wait share one
    assert lost >= 1, "the time between the question and its answer was not hit"
