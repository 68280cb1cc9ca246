"""Extracts PDF texts in a subprocess and caches them next to the index."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import msgspec

from aitp_desk.knowledge.sources.pdf import extraction as extract
from aitp_desk.knowledge.sources.processes import make_environment

PROGRAM = extract.__file__
"""Extracts the text of one file."""
MAX_PAGES = 500
"""How many pages of a file are read."""
MAX_SECONDS = 30.0
"""A file that takes longer is abandoned."""
FOLDER = "pdf"
"""The folder of the texts, in the data folder."""

_AT_ONCE = 2
_FORMAT = 1
"""Raised when extraction changes; cached texts are then extracted again."""


class PdfText(msgspec.Struct, frozen=True):
    """The text of a PDF.

    Parameters:
        problem: what is wrong and how to fix it; empty if the file could be read.
        title: from the file's metadata, or empty.
        pages: the text of each page that was read, in lines.
        count: how many pages there are.
    """

    problem: str = ""
    title: str = ""
    pages: tuple[str, ...] = ()
    count: int = 0


def is_installed() -> bool:
    """Return whether the extra ``pdf`` is installed."""
    return find_spec("pypdf") is not None


def make_digest(payload: bytes) -> str:
    """Return the cache key of a file's text."""
    return hashlib.sha256(payload).hexdigest()


def read_pdfs(payloads: Iterable[bytes], keep_in: Path | None) -> dict[str, PdfText]:
    """Return the texts of PDF files by :func:`make_digest`.

    Parameters:
        keep_in: the cache folder; texts of other files are deleted.
    """
    files = {make_digest(payload): payload for payload in payloads}
    if not is_installed():
        missing = PdfText("To read a PDF install its extra: pip install 'aitp-desk[pdf]'.")
        return dict.fromkeys(files, missing)
    with ThreadPoolExecutor(_AT_ONCE, "pdf") as pool:
        texts = pool.map(lambda digest: _read(digest, files[digest], keep_in), files)
        found = dict(zip(files, texts, strict=True))
    if keep_in is not None and keep_in.is_dir():
        kept = {_file(keep_in, digest) for digest in found}
        for file in keep_in.iterdir():
            if file not in kept:
                file.unlink(missing_ok=True)
    return found


def _read(digest: str, payload: bytes, keep_in: Path | None) -> PdfText:
    if keep_in is None:
        return _extract(payload)
    file = _file(keep_in, digest)
    try:
        return msgspec.json.decode(file.read_bytes(), type=PdfText)
    except (OSError, msgspec.MsgspecError):
        text = _extract(payload)
    if not text.problem:
        keep_in.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = file.with_suffix(f".{os.getpid()}.new")
        new.touch(mode=0o600)
        new.write_bytes(msgspec.json.encode(text))
        new.replace(file)
    return text


def _file(keep_in: Path, digest: str) -> Path:
    return keep_in / f"{digest}.{_FORMAT}.json"


def _extract(payload: bytes) -> PdfText:
    try:
        done = subprocess.run(  # noqa: S603 -- our own program; the file is its input only
            [sys.executable, "-I", PROGRAM, str(MAX_PAGES)],
            input=payload,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=make_environment(),
            timeout=MAX_SECONDS,
            check=False,
        )
        return msgspec.json.decode(done.stdout, type=PdfText)
    except subprocess.TimeoutExpired:
        return PdfText(f"The PDF could not be read within {MAX_SECONDS:g} seconds; split it.")
    except msgspec.MsgspecError:
        return PdfText("The PDF cannot be read: it crashes the reader. Save it again.")
