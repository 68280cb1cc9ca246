"""A run that waits for its caller, when the desk is killed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.desk.processes import Server, desk_command, free_port, serving_fork

SECONDS = 30
RUNS = "/v1/threads/runs"


@contextmanager
def asking(folder: Path) -> Iterator[Server]:
    """A real desk over the same data each time, whose agent asks for a function's result."""
    port = free_port()
    command = desk_command(folder / "data", port)
    command[command.index("aitp_desk")] = "tests.faults.processes.caller_function"
    with serving_fork(command, port, log=folder / "log") as server:
        yield server


def wait_for(client: httpx2.Client, run: Any, status: str) -> Any:
    """The run once it has a status."""
    ends_at = time.monotonic() + SECONDS
    while True:
        found = client.get(f"/v1/threads/{run['thread_id']}/runs/{run['id']}").json()
        if found["status"] == status:
            return found
        assert time.monotonic() < ends_at, found


@pytest.mark.servers
def test_it_goes_on_after_the_next_start(tmp_path: Path) -> None:
    stock = {"type": "function", "function": {"name": "stock"}}
    body = {"assistant_id": "desk", "thread": {"messages": ["How many?"]}, "tools": [stock]}
    outputs = {"tool_outputs": [{"tool_call_id": "call_1", "output": "7"}]}
    with asking(tmp_path) as server, httpx2.Client(base_url=server.url) as client:
        run = wait_for(client, client.post(RUNS, json=body).json(), "requires_action")
        server.kill()
    path = f"/v1/threads/{run['thread_id']}/runs/{run['id']}"
    with asking(tmp_path) as server, httpx2.Client(base_url=server.url) as client:
        assert client.get(path).json() == run
        assert client.post(f"{path}/submit_tool_outputs", json=outputs).json()["status"] == "queued"
        server.kill()
    with asking(tmp_path) as server, httpx2.Client(base_url=server.url) as client:
        wait_for(client, run, "completed")
        listed = client.get(f"/v1/threads/{run['thread_id']}/messages?order=asc").json()["data"]
        assert [said["content"][0] for said in listed] == ["How many?", "There are 7."]
        again = client.post(f"{path}/submit_tool_outputs", json=outputs).json()
        assert again["status"] == "completed"
