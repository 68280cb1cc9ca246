"""The index of the content, SQLite's FTS5 and tantivy over the same passages and questions.

    python -m tests.bench.search [--more FOLDER]

All seen bodies of strangers' content in English are one site, with the pages of FOLDER where one is
given. Each question that the pages answer is asked of the desk's index, of FTS5, and of tantivy
where it is installed; the last two look for the same stems. It prints how often an accepted section
is among the first passages, the milliseconds a question (the second time), and the size on disk.
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

from msgspec.structs import replace

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.converse import read_turn
from aitp_desk.agent.question import Asked
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.languages import Languages
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.load import read_files
from aitp_desk.knowledge.making import FILE
from aitp_desk.knowledge.words import words_of
from tests.answers.strangers.bodies import bodies, content_of
from tests.answers.strangers.questions import Question, questions_of

FIELDS = {"title": 1.6, "heading": 2.5, "body": 1.0}
BEST = 40
DEPTHS = (1, 8, 20, 40)
SITE = SiteFacts("Strangers", "https://stranger.example")

Way = Callable[[Asked], Sequence[int]]


def fields_of(library: Library) -> list[list[str]]:
    """The stems of each field of each passage, as text."""

    def stems(text: str) -> str:
        found = library.vocabulary.stemmer.stems(words_of(text))
        return " ".join(re.sub(r"\W", "_", stem) for stem in found)

    return [
        [stems(one.title), stems(" ".join(one.trail)), stems(one.text)] for one in library.passages
    ]


def stems_of(asked: Asked) -> list[str]:
    """The stems of a question's own words."""
    stems = dict.fromkeys(stem for wanted in asked.wanted for stem in wanted.term.own)
    return [re.sub(r"\W", "_", stem) for stem in stems]


def own(library: Library) -> Way:
    """The desk's index."""
    ranking = library.ranking

    def find(asked: Asked) -> Sequence[int]:
        terms = [(ranking.places(one.term), one.factor, one.weight) for one in asked.wanted]
        return ranking.best(ranking.scores(terms, asked.expects, widely=True), BEST, 0.0)

    return find


def fts5(rows: Sequence[Sequence[str]], file: Path) -> Way:
    """SQLite's full-text index."""
    database = sqlite3.connect(file)
    database.execute(f"CREATE VIRTUAL TABLE passage USING fts5({', '.join(FIELDS)}, content='')")
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

    def find(asked: Asked) -> Sequence[int]:
        said = " OR ".join(f'"{stem}"' for stem in stems_of(asked))
        return [number for (number,) in database.execute(query, (said,))] if said else []

    return find


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

    def find(asked: Asked) -> Sequence[int]:
        said = " ".join(stems_of(asked))
        query = index.parse_query(said, list(FIELDS), field_boosts=FIELDS)
        return [searcher.doc(at)["number"][0] for _, at in searcher.search(query, BEST).hits]

    return find


def row_of(name: str, way: Way, asked: Sequence[tuple[Asked, set[int]]], size: int) -> str:
    """A row of the table."""
    ranks: list[int] = []
    taken: list[float] = []
    for question, accepted in asked:
        way(question)
        began = time.perf_counter()
        found = way(question)
        taken.append((time.perf_counter() - began) * 1000)
        ranks.append(next((at for at, one in enumerate(found) if one in accepted), BEST))
    shares = [f"{sum(rank < depth for rank in ranks) / len(ranks):.2f}" for depth in DEPTHS]
    middle, slow = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    return f"| {name} | {' | '.join(shares)} | {middle:.2f}, {slow:.2f} | {size / 2**20:.1f} |"


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
        name: body for name, body in bodies().items() if not body.unseen and body.language == "en"
    }
    with tempfile.TemporaryDirectory() as scratch:
        site, data = Path(scratch) / "site", Path(scratch) / "data"
        site.mkdir()
        for name, body in seen.items():
            shutil.copytree(content_of(name, body), site / name)
        if more is not None:
            shutil.copytree(more, site / "more", ignore_dangling_symlinks=True)
        library = open_editions(read_files(site, data=data), data, {}, Languages()).library
        labelled: list[tuple[Asked, set[int]]] = []
        for name in seen:
            numbers = [
                (at, replace(one, document=one.document.removeprefix(f"{name}/")))
                for at, one in enumerate(library.passages)
                if one.document.startswith(f"{name}/")
            ]
            for question in questions_of(name):
                accepted = {at for at, one in numbers if question.accepts(one)}
                if accepted and _stands_alone(question):
                    labelled.append((read_turn(Turn(question.question, SITE), library), accepted))
        rows = fields_of(library)
        print(f"{len(rows)} passages, {len(labelled)} questions")
        lengths = "+".join(
            f"length(CAST({name} AS BLOB))" for name in ("numbers", "scores", "ends", "positions")
        )
        query = f"SELECT sum({lengths}) FROM stem"
        ((size,),) = sqlite3.connect(data / FILE).execute(query)
        print(row_of("own", own(library), labelled, size))
        file, folder = Path(scratch) / "fts5.sqlite", Path(scratch) / "tantivy"
        found = fts5(rows, file)
        print(row_of("FTS5", found, labelled, size_of(file)))
        if importlib.util.find_spec("tantivy") is not None:
            found = tantivy(rows, folder)
            print(row_of("tantivy", found, labelled, size_of(folder)))


def _stands_alone(question: Question) -> bool:
    return question.is_answerable and question.kind not in {"ambiguous", "followup"}


if __name__ == "__main__":
    main()
