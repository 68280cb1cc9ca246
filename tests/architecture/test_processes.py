"""Servers of tests: each has a port of its own, and no other's answer passes for its own."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.desk.processes import (
    DidNotStart,
    answers,
    free_port,
    serving_fork,
    serving_process,
)

pytestmark = pytest.mark.servers


def test_a_server_whose_port_another_has_did_not_start(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    with serving_process(command, port, log=tmp_path / "first", ready="/") as first:
        assert first.port == port
        with (
            pytest.raises(DidNotStart, match="Address already in use"),
            serving_process(command, port, log=tmp_path / "second", ready="/"),
        ):
            pass


def test_a_fork_is_a_process_as_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("of its folder")
    ports = free_port(), free_port()
    commands = [
        [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)] for port in ports
    ]
    with serving_fork(commands[0], ports[0], log=tmp_path / "first", ready="/file") as first:
        with serving_fork(commands[1], ports[1], log=tmp_path / "second", ready="/file") as second:
            second.kill()
            assert not answers(second.port, "/file")
        assert answers(first.port, "/file")
        assert "GET /file" in (tmp_path / "first").read_text()
        with (
            pytest.raises(DidNotStart, match="Address already in use"),
            serving_fork(commands[0], ports[0], log=tmp_path / "third", ready="/file"),
        ):
            pass
        assert first.stop() == -signal.SIGTERM


def test_no_two_processes_are_given_one_port() -> None:
    state = random.getstate()
    random.seed(1)
    given = {free_port()}
    random.seed(1)
    given.add(free_port())
    random.setstate(state)
    asked = (
        "import random; random.seed(1); from tests.support.desk import processes;"
        " print(processes.free_port())"
    )
    ran = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    given.add(int(ran.stdout))
    assert len(given) == 3
