"""The texts of PDF files, each taken out once by a process of its own and kept beside the index."""

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
"""Takes the text out of one file."""
MAX_PAGES = 500
"""So many pages of a file are read."""
MAX_SECONDS = 30.0
"""A file that takes longer is given up."""
FOLDER = "pdf"
"""Where the texts are kept, in the data folder."""

_AT_ONCE = 2
_FORMAT = 1
"""Raised when the texts come out otherwise; those that were kept are then made again."""


class PdfText(msgspec.Struct, frozen=True):
    """What was taken out of a PDF.

    Parameters:
        problem: what is wrong and what would be right; empty where the file could be read.
        title: as the file says it itself, or empty.
        pages: the text of each page that was read, in lines.
        count: how many pages there are.
    """

    problem: str = ""
    title: str = ""
    pages: tuple[str, ...] = ()
    count: int = 0


def is_installed() -> bool:
    """Whether the extra ``pdf`` is there."""
    return find_spec("pypdf") is not None


def make_digest(payload: bytes) -> str:
    """The name by which a file's text is known."""
    return hashlib.sha256(payload).hexdigest()


def read_pdfs(payloads: Iterable[bytes], keep_in: Path | None) -> dict[str, PdfText]:
    """The texts of PDF files by :func:`make_digest`.

    Parameters:
        keep_in: a folder where texts are kept and taken from; those of other files are dropped.
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
        return PdfText(f"The PDF is not read within {MAX_SECONDS:g} seconds; split it.")
    except msgspec.MsgspecError:
        return PdfText("The PDF cannot be read: it ends the program that tries. Save it anew.")
