"""Servers of tests: each has a port of its own, and no other's answer passes for its own."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.desk.fork_server import write_command
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


def test_a_fork_of_a_shell_has_its_streams_and_its_exit_code(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    write_command(tool, "json.tool")
    done = subprocess.run([tool, "--compact"], input=b'{"a": 1}', capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b'{"a":1}\n', b"")
    wrong = subprocess.run([tool], input=b"{", capture_output=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (1, b"")
    assert b"Expecting property name" in wrong.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_fork_of_a_shell_ends_with_its_command(tmp_path: Path, number: int) -> None:
    serve = tmp_path / "serve"
    write_command(serve, "http.server")
    port = free_port()
    command = [str(serve), "--bind", "127.0.0.1", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        while not answers(port, "/serve"):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait() == -number
        while answers(port, "/serve"):  # as soon as it is seen that nobody waits for it
            time.sleep(0.01)


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
