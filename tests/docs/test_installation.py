"""What is built from this tree installs in fresh environments, serves a folder and answers."""

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

from tests.docs.installation import NOT_COMPILED, build, install, pythons
from tests.docs.test_operation import output
from tests.support.desk.processes import free_port, serving_process
from tests.support.desk.server import SITE

pytestmark = [pytest.mark.servers, pytest.mark.slow]

ASKED = {"ahp": "0.1", "capability": "content_search", "query": "What does gift wrapping cost?"}
CALLED = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "content_search", "arguments": {"query": ASKED["query"]}},
}
PYTHONS = list(pythons())
PROGRAMS = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
UVX, PIPX = (shutil.which(name, path=PROGRAMS) or "" for name in ("uvx", "pipx"))

each_python = pytest.mark.parametrize("python", PYTHONS, ids=str)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    return build(tmp_path_factory.mktemp("built"))


@pytest.fixture
def wheel(built: tuple[Path, Path]) -> Path:
    return built[0]


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
        async with aiohttp.ClientSession(server.url) as client:
            async with client.post("/agent/converse", json=ASKED) as response:
                assert "wrap" in (await response.json())["response"]["answer"]
            headers = {"Accept": "application/json"}
            async with client.post("/mcp", json=CALLED, headers=headers) as response:
                assert "wrap" in (await response.json())["result"]["content"][0]["text"]
        server.stop()  # in good order: killed, uvx would leave the desk that it has started


async def test_pip_installs_the_source_distribution(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    programs = install(PYTHONS[0], tmp_path / "environment", built[1])
    where: list[str | Path] = [
        programs / "python",
        "-c",
        "import aitp_desk; print(aitp_desk.__file__)",
    ]
    assert str(tmp_path) in await asyncio.to_thread(output, where)
    await is_complete([programs / "aitp-desk"], tmp_path)


@each_python
@pytest.mark.skipif(not UVX, reason="pip install uv")
async def test_uvx_runs_it(wheel: Path, tmp_path: Path, python: Path) -> None:
    await is_complete([UVX, "--python", python, "--from", wheel, "aitp-desk"], tmp_path)


@each_python
@pytest.mark.skipif(not PIPX, reason="pip install pipx")
async def test_pipx_installs_it(wheel: Path, tmp_path: Path, python: Path) -> None:
    await asyncio.to_thread(output, [PIPX, "install", "--python", python, wheel])
    own = tmp_path / "PIPX_HOME" / "venvs" / "aitp-desk" / "bin" / "python"
    which = ["-c", "import sys; print(sys.base_prefix)"]
    used, wanted = [await asyncio.to_thread(output, [one, *which]) for one in (own, python)]
    assert used == wanted
    await is_complete([tmp_path / "PIPX_BIN_DIR" / "aitp-desk"], tmp_path)
