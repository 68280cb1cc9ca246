"""The wheel of this tree, the Pythons of this machine, and what an installation takes.

    python -m tests.docs.installation

prints the table of docs/run/installing.md: megabytes that the base and each extra take in a fresh
environment, byte code included, and seconds with a filled cache of pip.
"""

from __future__ import annotations

import subprocess
import sys
import time
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


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the tree into a folder."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", str(folder)], cwd=ROOT, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def pythons() -> Iterator[Path]:
    """The interpreters of this machine that the desk supports, one a version."""
    for minor in range(11, 15):
        name = f"python3.{minor}"
        managed = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        managed += sorted(Path.home().glob(f".local/share/uv/python/*3.{minor}.*/bin/{name}"))
        found = [*managed, *([Path(path)] if (path := which(name)) else [])]
        if found:
            yield found[0]


def install(python: Path, folder: Path, wheel: Path, extra: str = "") -> Path:
    """Make an environment in a folder with the wheel; its folder of programs."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    programs = folder / "bin"
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, wanted], check=True, capture_output=True)
    return programs


def megabytes(folder: Path) -> float:
    """What the files of an environment take, without pip, which every environment has."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(file.stat().st_size for file in files if "/pip" not in str(file)) / 1e6


def main() -> None:
    """Print the table."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with TemporaryDirectory() as made:
        folder = Path(made)
        wheel = build_wheel(folder)
        base = 0.0
        print("| Extra | MB | seconds |\n| --- | --- | --- |")
        for extra in ("", *sorted(project["optional-dependencies"].keys() - NO_USE)):
            began = time.monotonic()
            install(Path(sys.executable), folder / f"with-{extra}", wheel, extra)
            size, seconds = megabytes(folder / f"with-{extra}"), time.monotonic() - began
            base = base or size
            name, taken = (f"`{extra}`", size - base) if extra else ("none", base)
            print(f"| {name} | {taken:.1f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
