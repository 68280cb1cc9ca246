"""The index of the content, SQLite's FTS5 and tantivy over the same passages and questions.

    python -m tests.bench.search [--more FOLDER]

All seen bodies of strangers' content in English are one site, with the pages of FOLDER where one is
given. Each question that the pages answer is asked of the desk's index, of FTS5 with each of its
tokenizers, and of tantivy where it is installed. Over the desk's stems both look for the stems of
the question, over the text as it is for its words. It prints how often an accepted section is among
the first passages, how often a prompt of 800 tokens filled with the first ones holds the fact, the
milliseconds a question (the second time), and the size on disk.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.extractive.dialogue.context import read_turn
from aitp_desk.agent.extractive.question import ReadQuestion
from aitp_desk.agent.extractive.selection import find_candidates
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.index.builder import FILE
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, split_words
from aitp_desk.knowledge.sources.loader import read_files
from tests.answers.strangers.bodies import bodies, content_of
from tests.answers.strangers.questions import ROOM, Question, questions_of

FIELDS = {"title": 1.6, "heading": 2.5, "body": 1.0}
BEST = 40
DEPTHS = (1, 8, 20, 40)
SITE = SiteFacts("Strangers", "https://stranger.example")

TOKENIZERS = {
    "FTS5, `unicode61`": "unicode61 remove_diacritics 2",
    "FTS5, `porter`": "porter unicode61 remove_diacritics 2",
    "FTS5, `trigram`": "trigram",
}
_TRIGRAM = 3

Way = Callable[[ReadQuestion], Sequence[int]]


class Labelled(NamedTuple):
    """A question, as it was read and as it is labelled, and the passages that are accepted."""

    asked: ReadQuestion
    question: Question
    accepted: set[int]


def fields_of(library: Library) -> list[list[str]]:
    """The stems of each field of each passage, as text."""

    def stems(text: str) -> str:
        found = library.vocabulary.stemmer.stems(split_words(text))
        return " ".join(re.sub(r"\W", "_", stem) for stem in found)

    return [
        [stems(one.title), stems(" ".join(one.trail)), stems(one.text)] for one in library.passages
    ]


def texts_of(library: Library) -> list[list[str]]:
    """The fields of each passage as they are."""
    return [[one.title, " ".join(one.trail), one.text] for one in library.passages]


def words_asked(asked: ReadQuestion) -> list[str]:
    """A question's own words without those that say nothing."""
    said = [re.sub(r"\W", " ", word) for word in split_words(asked.text) if word not in STOP_WORDS]
    return [word for word in said if len(word) >= _TRIGRAM]


def stems_of(asked: ReadQuestion) -> list[str]:
    """The stems of a question's own words."""
    stems = dict.fromkeys(stem for wanted in asked.wanted for stem in wanted.term.own)
    return [re.sub(r"\W", "_", stem) for stem in stems]


def own(library: Library) -> Way:
    """The desk's index."""
    ranking = library.ranking

    def find_by_words(asked: ReadQuestion) -> Sequence[int]:
        terms = [(ranking.places(one.term), one.factor, one.weight) for one in asked.wanted]
        return ranking.best(ranking.scores(terms, asked.expects, widely=True), BEST, 0.0)

    return find_by_words


def closely(library: Library) -> Way:
    """The desk's index, and the best passages read closely: what answers are made of."""

    def find_closely(asked: ReadQuestion) -> Sequence[int]:
        return [found.number for found in find_candidates(library, asked, widely=True)]

    return find_closely


def fts5(
    rows: Sequence[Sequence[str]],
    file: Path,
    words: Callable[[ReadQuestion], list[str]],
    tokenizer: str = "unicode61",
) -> Way:
    """SQLite's full-text index.

    Parameters:
        words: what is looked for of a question.
        tokenizer: as SQLite names it, with its options.
    """
    database = sqlite3.connect(file)
    options = f"content='', tokenize='{tokenizer}'"
    database.execute(f"CREATE VIRTUAL TABLE passage USING fts5({', '.join(FIELDS)}, {options})")
    database.executemany(
        "INSERT INTO passage (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
        [(number, *row) for number, row in enumerate(rows)],
    )
    database.execute("INSERT INTO passage (passage) VALUES ('optimize')")
    database.commit()
    weights = ", ".join(map(str, FIELDS.values()))
    query = (
        "SELECT rowid FROM passage WHERE passage MATCH ? "
        f"ORDER BY bm25(passage, {weights}) LIMIT {BEST}"
    )

    def find_in_file(asked: ReadQuestion) -> Sequence[int]:
        said = " OR ".join(f'"{word}"' for word in words(asked))
        return [number for (number,) in database.execute(query, (said,))] if said else []

    return find_in_file


def tantivy(rows: Sequence[Sequence[str]], folder: Path) -> Way:
    """Tantivy, through its Python package."""
    module = importlib.import_module("tantivy")
    schema = module.SchemaBuilder()
    schema.add_integer_field("number", stored=True)
    for name in FIELDS:
        schema.add_text_field(name, stored=False, tokenizer_name="whitespace")
    folder.mkdir()
    index = module.Index(schema.build(), str(folder))
    writer = index.writer(num_threads=1)
    for number, row in enumerate(rows):
        texts = {name: [text] for name, text in zip(FIELDS, row, strict=True)}
        writer.add_document(module.Document(number=number, **texts))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def find_in_folder(asked: ReadQuestion) -> Sequence[int]:
        said = " ".join(stems_of(asked))
        query = index.parse_query(said, list(FIELDS), field_boosts=FIELDS)
        return [searcher.doc(at)["number"][0] for _, at in searcher.search(query, BEST).hits]

    return find_in_folder


def holds_fact(question: Question, found: Sequence[int], library: Library) -> bool:
    """Whether a prompt holds the fact that is filled with whole passages in this order."""
    room, texts = ROOM, list[str]()
    for number in found:
        passage = library.passages[number]
        text = f"{passage.title} {' '.join(passage.trail)}\n{passage.text}"
        size = estimate_tokens(text)
        if size <= room:
            texts.append(text)
            room -= size
    return question.is_answered_by("\n".join(texts))


def row_of(
    name: str, way: Way, labelled: Sequence[Labelled], library: Library, size: int | None
) -> str:
    """A row of the table."""
    ranks: list[int] = []
    taken: list[float] = []
    facts = 0
    for one in labelled:
        way(one.asked)
        began = time.perf_counter()
        found = way(one.asked)
        taken.append((time.perf_counter() - began) * 1000)
        ranks.append(next((at for at, number in enumerate(found) if number in one.accepted), BEST))
        facts += holds_fact(one.question, found, library)
    shares = ", ".join(
        f"{sum(rank < depth for rank in ranks) / len(ranks):.2f}" for depth in DEPTHS
    )
    middle, slow = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    disk = "" if size is None else f"{size / 2**20:.1f} MiB"
    return (
        f"| {name} | {shares} | {facts / len(labelled):.2f} | {middle:.2f}, {slow:.2f} | {disk} |"
    )


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--more", type=Path)
    more: Path | None = parser.parse_args().more
    seen = {
        name: body
        for name, body in bodies().items()
        if not (body.unseen or body.practice) and body.language == "en"
    }
    with tempfile.TemporaryDirectory() as scratch:
        site, data = Path(scratch) / "site", Path(scratch) / "data"
        site.mkdir()
        for name, body in seen.items():
            shutil.copytree(content_of(name, body), site / name)
        if more is not None:
            shutil.copytree(more, site / "more", ignore_dangling_symlinks=True)
        library = open_editions(read_files(site, data=data), data, {}, Languages()).library
        labelled: list[Labelled] = []
        for name in seen:
            numbers = [
                (at, replace(one, document=one.document.removeprefix(f"{name}/")))
                for at, one in enumerate(library.passages)
                if one.document.startswith(f"{name}/")
            ]
            for question in questions_of(name):
                accepted = {at for at, one in numbers if question.accepts(one)}
                if accepted and _stands_alone(question):
                    asked = read_turn(Turn(question.question, SITE), library)
                    labelled.append(Labelled(asked, question, accepted))
        rows = fields_of(library)
        print(f"{len(rows)} passages, {len(labelled)} questions")
        lengths = "+".join(
            f"length(CAST({name} AS BLOB))" for name in ("numbers", "scores", "ends", "positions")
        )
        query = f"SELECT sum({lengths}) FROM stem"
        ((size,),) = sqlite3.connect(data / FILE).execute(query)
        print(row_of("own", own(library), labelled, library, size))
        print(row_of("own, the best read closely", closely(library), labelled, library, None))
        file, folder = Path(scratch) / "fts5.sqlite", Path(scratch) / "tantivy"
        way = fts5(rows, file, stems_of)
        print(row_of("FTS5, the desk's stems", way, labelled, library, size_of(file)))
        texts = texts_of(library)
        for name, tokenizer in TOKENIZERS.items():
            file = Path(scratch) / f"{tokenizer.split()[0]}.sqlite"
            way = fts5(texts, file, words_asked, tokenizer)
            print(row_of(name, way, labelled, library, size_of(file)))
        if importlib.util.find_spec("tantivy") is not None:
            way = tantivy(rows, folder)
            print(row_of("tantivy, the desk's stems", way, labelled, library, size_of(folder)))


def _stands_alone(question: Question) -> bool:
    return question.is_answerable and question.kind not in {"ambiguous", "followup"}


if __name__ == "__main__":
    main()
