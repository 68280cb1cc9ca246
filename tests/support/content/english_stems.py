"""The stems of the English words that come with the desk, as its full-text index makes them.

    python -m tests.support.content.english_stems

writes them next to the words; a test compares them. To make them at every start takes seven times
as long as to read them.
"""

from __future__ import annotations

from pathlib import Path

from aitp_desk.knowledge.search import synonyms
from aitp_desk.knowledge.search.tokenizer import (
    EVERYDAY_WORDS,
    NAMES,
    STOP_WORDS,
    WEAK_WORDS,
    make_stems,
    split_words,
)

FOLDER = Path(synonyms.__file__).parent


def made() -> str:
    """What the file is to hold: a word a line, with its stem where that is another."""
    groups = (
        line.lstrip("= ")
        for line in (FOLDER / "synonyms.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    )
    plain = EVERYDAY_WORDS | STOP_WORDS | WEAK_WORDS
    plain |= {word for group in groups for entry in group.split(",") for word in split_words(entry)}
    lines = []
    for word, stem in sorted(make_stems(plain | NAMES).items()):
        mark = "" if word in plain else synonyms.NO_PLAIN_WORD
        lines.append(f"{mark}{word}\n" if stem == word else f"{mark}{word} {stem}\n")
    return "".join(lines)


def main() -> None:
    (FOLDER / "stems.txt").write_text(made(), "utf-8")


if __name__ == "__main__":
    main()
