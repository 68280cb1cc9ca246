"""The questions that a model wrote for the bodies' passages, kept without the bodies' text.

    python -m tests.answers.strangers.enrichment NAME ENRICHED_JSONL

keeps what ``aitp-desk enrich`` wrote for a body: each question, and of its quote only digests, by
which it is found in the page again. A page may be cut into other passages meanwhile.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.file import FILE, Line, Question, read_lines, write_lines
from aitp_desk.knowledge.enrichment.text import collapse_space, make_digest
from tests.answers.strangers.bodies import HERE, bodies

KEPT = HERE / "enriched"
_BEGINNING = 12
_DIGITS = 10


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A question, and the quote that answers it as digests of its letters and digits.

    Parameters:
        beginning: digest of its first twelve.
        whole: digest of all.
        length: how many there are.
    """

    ask: str
    beginning: str
    whole: str
    length: int


def is_kept(name: str) -> bool:
    """Whether questions were written for a body."""
    return (KEPT / f"{name}.jsonl").is_file()


def keep(name: str, lines: Iterable[Line]) -> int:
    """Keep what was written for a body; the number of questions."""
    pages: dict[str, list[Kept]] = {}
    for line in lines:
        for question in line.questions:
            quote = _letters(question.quote)[0]
            beginning, whole = _digest(quote[:_BEGINNING]), _digest(quote)
            kept = Kept(question.ask, beginning, whole, len(quote))
            pages.setdefault(line.page, []).append(kept)
    encode = msgspec.json.encode
    with (KEPT / f"{name}.jsonl").open("wb") as file:
        for page, asked in sorted(pages.items()):
            file.write(encode(page) + b"\n")
            file.writelines(b" " + encode(one) + b"\n" for one in asked)
    return sum(map(len, pages.values()))


def lay(name: str, passages: Iterable[Passage], folder: Path) -> tuple[int, int]:
    """Write the file that an owner would have into a folder of content.

    Returns:
        How many of the questions were laid out, and how many have lost their quote.
    """
    pages = _read(KEPT / f"{name}.jsonl")
    written: list[Line] = []
    found: set[tuple[str, Kept]] = set()
    for passage in passages:
        asked = pages.get(passage.document, [])
        quotes = _quotes(collapse_space(passage.text), asked) if asked else {}
        found |= {(passage.document, one) for one in quotes}
        questions = tuple(Question(one.ask, quote) for one, quote in quotes.items())
        if questions:
            place = (passage.document, passage.trail, passage.anchor, make_digest(passage))
            written.append(Line(*place, "", questions))
    write_lines(folder / FILE, written)
    return len(found), sum(map(len, pages.values())) - len(found)


def _read(file: Path) -> dict[str, list[Kept]]:
    pages: dict[str, list[Kept]] = {}
    page = ""
    for line in file.read_bytes().splitlines():
        if line.startswith(b" "):
            pages[page].append(msgspec.json.decode(line, type=Kept))
        else:
            page = msgspec.json.decode(line, type=str)
            pages[page] = []
    return pages


def _quotes(text: str, asked: Sequence[Kept]) -> dict[Kept, str]:
    """The quotes that stand in a text, by their questions."""
    letters, places = _letters(text)
    beginnings: dict[str, list[int]] = {}
    lengths = {min(one.length, _BEGINNING) for one in asked}
    for length in lengths:
        for at in range(len(letters) - length + 1):
            beginnings.setdefault(_digest(letters[at : at + length]), []).append(at)
    quotes: dict[Kept, str] = {}
    for one in asked:
        for at in beginnings.get(one.beginning, []):
            if _digest(letters[at : at + one.length]) == one.whole:
                end = places[at + one.length - 1] + 1
                quotes[one] = text[places[at] : end]
                break
    return quotes


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in lower case, and where each stands in it."""
    pairs = [(low, at) for at, sign in enumerate(text) if sign.isalnum() for low in sign.lower()]
    return "".join(low for low, _ in pairs), [at for _, at in pairs]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_DIGITS]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=bodies())
    parser.add_argument("file", type=Path)
    wanted = parser.parse_args()
    KEPT.mkdir(exist_ok=True)
    lines, problems = read_lines(wanted.file)
    for problem in problems:
        print(problem)
    print(f"{keep(wanted.name, lines)} questions of {len(lines)} passages kept.")


if __name__ == "__main__":
    main()
