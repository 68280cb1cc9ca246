"""Reads and writes ``enriched.jsonl``: a line for each passage, sorted by page and position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.documents.base import Problem
from aitp_desk.knowledge.index.atomic_write import replace_file

FILE = "enriched.jsonl"
MAX_BYTES = 256 * 1024 * 1024
MAX_LINE_BYTES = 64 * 1024
_MOST_PROBLEMS = 20


class Question(msgspec.Struct, frozen=True, gc=False):
    """A question that a passage answers.

    Parameters:
        ask: in a visitor's words.
        quote: the stretch of the passage's text that answers it.
    """

    ask: str
    quote: str


class Line(msgspec.Struct, frozen=True):
    """A model's output for one passage.

    Parameters:
        page: path of the passage's document.
        headings: those above the passage and its own.
        anchor: id of the heading in the page.
        digest: of the passage when it was read; see :func:`~.text.make_digest`.
        summary: the passage in one sentence.
    """

    page: str
    headings: tuple[str, ...]
    anchor: str
    digest: str
    summary: str
    questions: tuple[Question, ...]


_decode = msgspec.json.Decoder(Line).decode


def read_lines(file: Path) -> tuple[list[Line], list[Problem]]:
    """Return the lines of a file, and the problems of invalid ones.

    A missing file has no lines and no problems.
    """
    lines: list[Line] = []
    problems: list[Problem] = []
    try:
        if file.stat().st_size > MAX_BYTES:
            return [], [Problem(FILE, f"The file has more than {MAX_BYTES} bytes; shorten it.")]
        with file.open("rb") as opened:
            for number, line in enumerate(opened, start=1):
                if not line.strip():
                    continue
                found = _read_line(line)
                if isinstance(found, Line):
                    lines.append(found)
                elif len(problems) < _MOST_PROBLEMS:
                    what = f"The line is not used: {found}. Run `aitp-desk enrich` again."
                    problems.append(Problem(FILE, what, number))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [Problem(FILE, f"The file cannot be read ({error.strerror}).")]
    return lines, problems


def _read_line(line: bytes) -> Line | str:
    """Return a line, or what is wrong with it."""
    if len(line) > MAX_LINE_BYTES:
        return f"it has more than {MAX_LINE_BYTES} bytes"
    try:
        return _decode(line)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        return str(error)


def digest_of_lines(lines: Sequence[Line]) -> bytes:
    """Return a digest of lines; empty if there are none."""
    return sha256(msgspec.json.encode(lines)).digest() if lines else b""


def write_lines(file: Path, lines: Iterable[Line]) -> None:
    """Replace a file by these lines, in this order, atomically.

    Raises:
        OSError: it cannot be written; the old file stays.
    """
    with replace_file(file) as new:
        with new.open("wb") as opened:
            for line in lines:
                opened.write(msgspec.json.encode(line) + b"\n")
        new.chmod(0o644)  # it is committed with the site
