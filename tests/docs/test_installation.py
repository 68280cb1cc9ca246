"""A wheel of this tree is installed in fresh environments, serves a folder and answers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import aiohttp
import pytest

from tests.docs.installation import NOT_COMPILED, build_wheel, install, pythons
from tests.docs.test_operation import output
from tests.support.desk.processes import free_port, serving_process
from tests.support.desk.server import SITE

pytestmark = [pytest.mark.servers, pytest.mark.slow]

ASKED = {"ahp": "0.1", "capability": "content_search", "query": "What does gift wrapping cost?"}
PROGRAMS = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(autouse=True)
def nothing_of_the_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is imported is what was installed; nothing is left in the caller's home."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    for name, value in NOT_COMPILED.items():
        monkeypatch.setenv(name, value)
    for name in ("PIPX_HOME", "PIPX_BIN_DIR", "PIPX_MAN_DIR", "UV_TOOL_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))


async def is_complete(command: Sequence[str | Path], folder: Path) -> None:
    """Assert that an installed command has its version, serves a folder, and answers."""
    said = await asyncio.to_thread(output, [*command, "--version"])
    assert said.splitlines()[0] == f"aitp-desk, version {version('aitp-desk')}"
    port = free_port()
    serve = ["serve", str(SITE), "--data", str(folder / "data"), "--port", str(port)]
    with serving_process([*map(str, command), *serve], port, log=folder / "log") as server:
        async with (
            aiohttp.ClientSession(server.url) as client,
            client.post("/agent/converse", json=ASKED) as response,
        ):
            assert "wrap" in (await response.json())["response"]["answer"]


@pytest.mark.parametrize("python", list(pythons()), ids=str)
async def test_pip_installs_it_on_each_python(python: Path, wheel: Path, tmp_path: Path) -> None:
    programs = install(python, tmp_path / "environment", wheel)
    await is_complete([programs / "aitp-desk"], tmp_path)


@pytest.mark.skipif(not shutil.which("uvx", path=PROGRAMS), reason="pip install uv")
async def test_uvx_runs_it(wheel: Path, tmp_path: Path) -> None:
    uvx = shutil.which("uvx", path=PROGRAMS)
    assert uvx
    await is_complete([uvx, "--from", wheel, "aitp-desk"], tmp_path)


@pytest.mark.skipif(not shutil.which("pipx", path=PROGRAMS), reason="pip install pipx")
async def test_pipx_installs_it(wheel: Path, tmp_path: Path) -> None:
    pipx = shutil.which("pipx", path=PROGRAMS)
    assert pipx
    await asyncio.to_thread(output, [pipx, "install", wheel])
    await is_complete([tmp_path / "PIPX_BIN_DIR" / "aitp-desk"], tmp_path)
