"""What a newcomer does first, in a clone of the committed state: the README's commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import aiohttp
import pytest

from tests.docs.installation import NOT_COMPILED
from tests.docs.snippets import DEMO_URL, PORTS, README, ROOT, Command, fits, run_in_order, steps
from tests.support.desk.processes import free_port, free_ports, listens

pytestmark = pytest.mark.servers


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def answers(port: int, demo: asyncio.subprocess.Process) -> None:
    """Return when the demo's desk answers; fail when `make demo` ends instead."""
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        while demo.returncode is None:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get("/ready") as response:
                    if response.status == 200 and listens(demo.pid, port):
                        return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(demo.wait(), timeout=0.1)
    pytest.fail(f"make demo ended with {demo.returncode}")


async def test_the_readmes_commands_and_addresses_work_in_a_fresh_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NOT_COMPILED.items():
        monkeypatch.setenv(name, value)
    clone = tmp_path / "clone"
    await asyncio.to_thread(run, "git", "clone", "--quiet", str(ROOT), str(clone))
    port = free_ports(2)
    url = f"http://127.0.0.1:{port}"
    ports = (f"PORT={port}", f"HOST_PORT={port + 1}")
    demo = await asyncio.create_subprocess_exec(
        "make", "demo", *ports, cwd=clone, start_new_session=True
    )
    try:
        async with asyncio.timeout(300):
            await answers(port, demo)
        assert await missing(url) == []
    finally:
        if demo.returncode is None:
            os.killpg(demo.pid, signal.SIGTERM)
    assert await demo.wait() in {0, -signal.SIGTERM}

    again = await asyncio.to_thread(run, "make", "--dry-run", "--directory", str(clone), "demo")
    assert "pip" not in again, "a second make demo has nothing to set up"
    assert DEMO_URL.rpartition(":")[2] in again

    todo = [step for _, step in steps(README, ("make ",))]
    assert [step.line for step in todo if isinstance(step, Command)] == [
        "pip install .",
        "aitp-desk init my-site",
        "aitp-desk serve my-site",
        "aitp-desk snippet widget my-site",
    ]
    own = {PORTS[0]: free_port()}
    programs = (clone / ".venv" / "bin",)
    printed = await asyncio.to_thread(run_in_order, todo, DEMO_URL, clone, own, programs)
    for step, output in zip(todo, printed, strict=True):
        assert isinstance(step, Command)
        assert fits(step.prints, output), (step.line, output)


async def missing(url: str) -> list[str]:
    """The addresses that the README names and the desk does not have."""
    named = re.findall(r"`(/[^` ]*)`", README.read_text("utf-8"))
    assert len(named) > 10
    found = []
    async with aiohttp.ClientSession(url) as session:
        for path in named:
            async with session.get(f"{path}/models" if path == "/v1" else path) as response:
                found += [path] * (response.status == 404)
    return found
