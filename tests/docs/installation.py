"""The wheel of this tree, the Pythons of this machine, and what an installation takes.

    python -m tests.docs.installation

prints the table of docs/run/installing.md: megabytes that the base takes in a fresh environment and
each extra adds to it, byte code included, and the seconds of a processor that pip takes for each.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from tests.docs.snippets import ROOT

NO_USE = {"browser", "dev", "docs", "frameworks", "fuzz"}
"""Extras that no desk uses when it runs."""

NOT_COMPILED = {"PIP_COMPILE": "0"}
"""Environment of a pip that leaves the byte code to what imports a module: a test imports few."""


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the source distribution of the tree into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def pythons() -> Iterator[Path]:
    """The interpreters of this machine that the desk supports, one a version."""
    for minor in range(11, 15):
        name = f"python3.{minor}"
        managed = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        managed += sorted(Path.home().glob(f".local/share/uv/python/*3.{minor}.*/bin/{name}"))
        found = [*managed, *([Path(path)] if (path := which(name)) else [])]
        if found:
            yield found[0]


def install(python: Path, folder: Path, built: Path) -> Path:
    """Make an environment in a folder with what was built; its folder of programs."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    add(folder, built)
    return folder / "bin"


def add(folder: Path, built: Path, extra: str = "") -> None:
    """Install what was built, or an extra of it, into an environment."""
    wanted = f"{built}[{extra}]" if extra else str(built)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, wanted], check=True, capture_output=True)


def megabytes(folder: Path) -> float:
    """What the files of an environment take, without pip, which every environment has."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(file.stat().st_size for file in files if "/pip" not in str(file)) / 1e6


def processor_seconds() -> float:
    """What all programs that have ended took of a processor: other load does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print the table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with TemporaryDirectory() as made:
        folder = Path(made)
        wheel, _ = build(folder)
        base = folder / "base"
        print("| Extra | adds MB | seconds |\n| --- | --- | --- |")
        began = processor_seconds()
        install(Path(sys.executable), base, wheel)
        print(f"| none | {megabytes(base):.1f} | {processor_seconds() - began:.0f} |", flush=True)
        for extra in sorted(project["optional-dependencies"].keys() - NO_USE):
            made_of = shutil.copytree(base, folder / extra, symlinks=True)
            began = processor_seconds()
            add(made_of, wheel, extra)
            seconds = processor_seconds() - began
            added = megabytes(made_of) - megabytes(base)
            print(f"| `{extra}` | {added:.1f} | {seconds:.0f} |", flush=True)
            shutil.rmtree(made_of)


if __name__ == "__main__":
    main()
