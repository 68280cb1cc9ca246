"""What is built from the tree installs in a fresh environment and answers there.

The packages come from the index that pip is set to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.docs.installation import NOT_COMPILED
from tests.support.desk.command import serving_command

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parents[3]
QUESTION = "What is your return policy?"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "content_search", "arguments": {"query": QUESTION}},
}


def run(*command: object, folder: Path) -> str:
    """Run a program to its end, without the settings of this environment; its output."""
    apart = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=apart | NOT_COMPILED,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "--directory", folder, folder=ROOT)
    assert len(list(folder.iterdir())) == 2
    return folder


@pytest.fixture(scope="module")
def source(built: Path) -> Path:
    """The source distribution."""
    (found,) = built.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Path:
    """The Python of a fresh environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
    found = folder / "venv" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(*pip(found), wheel, folder=folder)
    return found


def pip(python: Path) -> tuple[object, ...]:
    """The command that installs into an environment without a pip of its own."""
    return (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")


def installed(python: Path) -> dict[str, str]:
    """The files of the installed package with their digests, as pip records them."""
    listed = run(
        python,
        "-c",
        "from importlib.metadata import files\n"
        "for one in files('aitp-desk'):\n"
        "    print(one, one.hash and one.hash.value)",
        folder=python.parent,
    )
    rows = (line.rsplit(" ", 1) for line in listed.splitlines())
    return {path: digest for path, digest in rows if ".dist-info" not in path}


async def answers(python: Path, folder: Path) -> None:
    """Serve a copy of the example shop with an installed desk, and ask it over AHP and MCP."""
    site = folder / "shop"
    shutil.copytree(ROOT / "examples" / "shop", site)
    command = python.with_name("aitp-desk")
    async with (
        serving_command(site, folder / "data", command=command) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        asks = {"ahp": "0.1", "capability": "content_search", "query": QUESTION}
        async with http.post("/agent/converse", json=asks) as response:
            told = await response.json()
        assert "60 days" in told["response"]["answer"]
        async with http.post("/mcp", json=CALL, headers={"Accept": "application/json"}) as response:
            told = await response.json()
        assert "60 days" in told["result"]["content"][0]["text"]


async def test_the_wheel_installs_and_answers(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import aitp_desk; print(aitp_desk.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1])
    await answers(python, tmp_path)


async def test_the_source_distribution_installs_the_same(
    python: Path, source: Path, tmp_path: Path
) -> None:
    before = installed(python)
    assert len(before) > 500
    run(*pip(python), "--no-deps", "--force-reinstall", source, folder=tmp_path)
    assert installed(python) == before
    await answers(python, tmp_path)
