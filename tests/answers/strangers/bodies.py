"""The bodies of content: which package each comes from, and how its pages are laid out."""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
import tempfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "aitp-desk-strangers"


class Body(msgspec.Struct, frozen=True):
    """A body of content.

    Parameters:
        unseen: whether nobody who works on the answers reads it or its questions.
        practice: whether it is there to learn from, and counts in no figure of the documentation.
        package: kind (``deb``, ``npm`` or ``sdist``), name and version.
        root: folder inside the package.
        pages: patterns of the files below it that are the content.
        left_out: patterns of those that are not.
    """

    unseen: bool
    kind: str
    language: str
    package: str
    root: str
    pages: list[str]
    left_out: list[str] = []
    practice: bool = False


def bodies() -> dict[str, Body]:
    """All bodies, by name."""
    table = tomllib.loads((HERE / "bodies.toml").read_text("utf-8"))
    return msgspec.convert(table, dict[str, Body])


def content_of(name: str, body: Body) -> Path:
    """The folder of a body's pages; its package is fetched at the first call.

    Raises:
        LookupError: the package manager does not have the pinned version.
    """
    folder = CACHE / f"{name}-{body.package.split()[2].replace(':', '_')}" / name
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        # next to its place, so that a move there is one step: two processes may fetch one package
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            laid = Path(scratch) / "laid"
            _lay(body, _unpacked(body.package, Path(scratch)), laid)
            try:
                laid.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise
    return folder


def _unpacked(package: str, scratch: Path) -> Path:
    """Fetch and unpack a package."""
    kind, name, version = package.split()
    commands: dict[str, list[str]] = {
        "deb": ["apt-get", "download", "-q", f"{name}={version}"],
        "npm": ["npm", "pack", "--silent", f"{name}@{version}"],
        "sdist": [*"pip download -q --no-deps --no-binary :all:".split(), f"{name}=={version}"],
    }
    fetched, out = scratch / "fetched", scratch / "unpacked"
    fetched.mkdir()
    run = subprocess.run(
        commands[kind], cwd=fetched, capture_output=True, text=True, check=False, timeout=900
    )
    archive = next(fetched.iterdir(), None)
    if run.returncode or archive is None:
        raise LookupError(f"{package} cannot be fetched: {run.stderr.strip()[-400:]}")
    if kind == "deb":
        subprocess.run(["dpkg-deb", "-x", archive, out], check=True, timeout=300)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(out, filter="data")
    return out


def _lay(body: Body, unpacked: Path, folder: Path) -> None:
    """Copy the pages, unpacked where they are compressed; a file without an ending is a text."""
    root = unpacked / body.root
    for pattern in body.pages:
        for file in sorted(root.glob(pattern)):
            path = file.relative_to(root).as_posix()
            if not file.is_file() or any(fnmatch(path, one) for one in body.left_out):
                continue
            to = folder / path.removesuffix(".gz")
            to = to if to.suffix else to.with_name(f"{to.name}.txt")
            to.parent.mkdir(parents=True, exist_ok=True)
            content = file.read_bytes()
            to.write_bytes(gzip.decompress(content) if path.endswith(".gz") else content)
