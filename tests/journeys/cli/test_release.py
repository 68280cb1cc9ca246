"""What a release publishes is the same wherever it is built, and says what it consists of."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from tests.docs.installation import NOT_COMPILED
from tests.docs.licenses import BASE, list_needed
from tests.docs.snippets import EXAMPLES, PAGES, ROOT, links

EPOCH = "1700000000"
REPOSITORY = "https://github.com/example/aitp-desk"


def run(*command: object, folder: Path) -> None:
    """Run a program to its end, with the time of the sources, without this environment's rest."""
    kept = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=kept | NOT_COMPILED | {"SOURCE_DATE_EPOCH": EPOCH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_wheel_has_the_same_bytes_wherever_it_is_built(tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "--directory")
    run(*build, tmp_path / "here", folder=ROOT)
    (archive,) = (tmp_path / "here").glob("*.tar.gz")
    (wheel,) = (tmp_path / "here").glob("*.whl")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    elsewhere = tmp_path / archive.name.removesuffix(".tar.gz")
    for path in elsewhere.rglob("*"):
        os.utime(path, (0, 0))
    run(*build, tmp_path / "there", "--target", "wheel", folder=elsewhere)
    assert (tmp_path / "there" / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.slow
def test_the_pages_of_the_source_distribution_lead_to_its_files(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory")
    run(*command, tmp_path / "built", folder=ROOT)
    (archive,) = (tmp_path / "built").iterdir()
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    there = tmp_path / archive.name.removesuffix(".tar.gz")
    missing = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in (*PAGES, *EXAMPLES)
        for target in links(page)
        if not (there / page.relative_to(ROOT).parent / target.partition("#")[0]).exists()
    ]
    assert missing == []
    assert (there / "Dockerfile").is_file()
    assert not list(there.rglob("node_modules"))


def test_a_release_needs_the_address_of_its_repository(tmp_path: Path) -> None:
    for arguments in (
        (),
        ("dist",),
        ("dist", "base"),
        ("https://github.com", "dist"),
        (REPOSITORY,),
    ):
        command = (ROOT / ".ci" / "release", *arguments)
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "usage: .ci/release ADDRESS FOLDER" in done.stderr
    assert not list(tmp_path.iterdir())


def _check_addresses(out: Path) -> None:
    """A package index shows the project's addresses, and links that lead to its files."""
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(files.read(name), policy=default)
    tag = f"v{metadata['Version']}"
    assert dict(one.split(", ") for one in metadata.get_all("Project-URL", [])) == {
        "Homepage": REPOSITORY,
        "Documentation": f"{REPOSITORY}/blob/{tag}/docs/README.md",
        "Changelog": f"{REPOSITORY}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
        "Source": f"{REPOSITORY}/tree/{tag}",
    }
    targets = re.findall(r"\]\(([^)]+)\)", metadata.get_content())
    assert len(targets) > 20
    for target in targets:
        path = re.fullmatch(rf"{REPOSITORY}/(?:blob|raw)/{tag}/([^#]+)(?:#.*)?", target)
        assert path, target
        assert (ROOT / path[1]).is_file(), target


@pytest.mark.servers
def test_a_release_lists_what_is_installed_with_it(tmp_path: Path) -> None:
    out = tmp_path / "dist"
    run(ROOT / ".ci" / "release", REPOSITORY, out, BASE, folder=tmp_path)
    _check_addresses(out)
    found = {path.suffix for path in out.iterdir()}
    assert found == {".whl", ".gz", ".json"}
    (listed,) = (json.loads(path.read_text()) for path in out.glob("*.cdx.json"))
    assert listed["bomFormat"] == "CycloneDX"
    assert listed["metadata"]["component"]["name"] == "aitp-desk"
    licensed = {one["name"].lower() for one in listed["components"] if one.get("licenses")}
    needed = {name for name, by in list_needed().items() if BASE in by}
    assert {name.replace("_", "-").replace(".", "-") for name in licensed} >= needed
    assert str(tmp_path) not in json.dumps(listed)
