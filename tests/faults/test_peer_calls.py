"""A partner's long call while both desks are killed: it ends here as it ended there."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_peers import make_key, running, wait_for_offer
from tests.support.desk.processes import Server, free_port
from tests.support.sites.partners import LIBRARY, peer, write_site

ACTIONS = '''
import time
from pathlib import Path

from aitp_desk.actions import action

DONE = Path(__file__).with_name("done")


@action(kind="async", mutability="reversible", blast_radius="self", idempotent=IDEMPOTENT)
def engrave_plate(text: str) -> str:
    """Engraves a plate."""
    while not DONE.exists():
        time.sleep(0.05)
    return f"The plate for {text} is ready."
'''
SECONDS = 90
CALL = "/capabilities/engrave_plate"


def send(server: Server, key: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}{path}", data, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@pytest.mark.servers
@pytest.mark.parametrize(
    ("idempotent", "status", "words"),
    [
        ("True", "success", "The plate for Aya is ready."),
        ("False", "failed", "The outcome is unknown."),
    ],
)
def test_a_long_call_outlives_both_desks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idempotent: str, status: str, words: str
) -> None:
    ports = free_port(), free_port()
    workshop = write_site(tmp_path / "workshop", "# Plates\n\nWe engrave plates.\n")
    actions = ACTIONS.replace("IDEMPOTENT", idempotent)
    (workshop / "actions.py").write_text(actions, encoding="utf-8")
    given: dict[str, Any] = {"bearer_env": "TOKEN", "actions": ["engrave_plate"], "seconds": 5}
    toml = peer(f"http://127.0.0.1:{ports[1]}", title="Plates", **given)
    library = write_site(tmp_path / "library", LIBRARY, toml)
    there, here = tmp_path / "there", tmp_path / "here"
    with running(there, workshop, ports[1]) as partner:
        monkeypatch.setenv("TOKEN", make_key(there))
        with running(here, library, ports[0]) as desk:
            key = make_key(here)
            wait_for_offer(desk.url, CALL)
            poll = send(desk, key, CALL, {"text": "Aya"})["poll"]
            desk.kill()
        partner.kill()
    with running(here, library, ports[0]) as desk:
        assert send(desk, key, poll)["status"] == "pending"
        with running(there, workshop, ports[1]):
            (workshop / "done").touch()
            ends_at = time.monotonic() + SECONDS
            while (told := send(desk, key, poll))["status"] == "pending":
                assert time.monotonic() < ends_at
                time.sleep(0.2)
    assert told["status"] == status, told
    assert words in json.dumps(told)
