"""What is put before a model for a question, in several ways, and whether the answer is in it.

Tokens are those of the encoding cl100k, counted and not estimated.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.agent.base import SiteFacts, Turn
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.generative import prompt as wire
from aitp_desk.agent.generative.passages import Excerpt, choose_excerpts, group_by_page
from aitp_desk.config.sections.content.model import Model
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.snapshot import open_knowledge
from aitp_desk.knowledge.sources.loader import read_files
from tests.answers.judge import Corpus, Question, corpus_of, holds, questions, turn_of

LABELS = Path(__file__).with_name("whitepaper.toml")
SPECIFICATION = "specs/ahp-spec-0.1.md"

ROOM = Model().passage_tokens
"""Room for the passages of one question, in tokens, where nobody sets another."""

Excerpts = Sequence[Excerpt]
Chooser = Callable[[Turn, Library], Excerpts]


def sent(turn: Turn, library: Library) -> Excerpts:
    """What is sent."""
    return choose_excerpts(turn, library, room=ROOM)


def five_by_bm25(turn: Turn, library: Library) -> Excerpts:
    """The five best passages of the search, whole."""
    hits = library.search(turn.question, limit=5)
    return [Excerpt(hit.passage, hit.passage.text) for hit in hits]


def everything(turn: Turn, library: Library) -> Excerpts:
    """All the content: for every question the same list, which is measured once."""
    return _excerpts_of(library)


@cache
def _excerpts_of(library: Library) -> Excerpts:
    return [Excerpt(passage, passage.text) for passage in library.passages]


OURS = "what is sent"
WAYS: dict[str, Chooser] = {
    OURS: sent,
    "the five best by BM25, whole": five_by_bm25,
    "all of the content": everything,
}


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        # the package opens its own data in a way that Python will forget
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding  # type: ignore[import-untyped]
    return get_encoding("cl100k_base")


@cache
def tokens_in(text: str) -> int:
    """The number of tokens of a text in the encoding cl100k."""
    return len(_encoding().encode(text))


def tokens_of(excerpts: Excerpts) -> int:
    """What passages take: their text, titles and addresses; those of a page are sent once."""
    return sum(
        tokens_in(page.title) + tokens_in(page.url) + sum(map(tokens_in, page.texts))
        for page in group_by_page(excerpts)
    )


# The five questions on one specification


class Needed(msgspec.Struct, frozen=True):
    """A section that answers; without ``sentences`` all of it is needed."""

    anchor: str
    sentences: list[str] = []


class Label(msgspec.Struct, frozen=True):
    """A question and the sections that answer it; ``whitepaper.toml`` says what that means."""

    question: str
    also: list[str]
    why: str
    sections: list[Needed]

    def in_other_words(self) -> list[Label]:
        """The same question in each of its other wordings."""
        return [msgspec.structs.replace(self, question=words) for words in self.also]

    def units(self, library: Library) -> list[tuple[str, str]]:
        """All that has to be sent: sections by their anchors and their pieces."""
        return [
            (needed.anchor, text)
            for needed in self.sections
            for text in needed.sentences
            or [
                unit.text
                for passage in library.passages
                if passage.anchor == needed.anchor
                for unit in passage.units
            ]
        ]


def labels() -> list[Label]:
    """The five questions."""
    return msgspec.convert(tomllib.loads(LABELS.read_text("utf-8"))["question"], list[Label])


def specification(shared: Path) -> Library:
    """The AHP specification as the whole content of a site."""
    with tempfile.TemporaryDirectory() as folder:
        content, data = Path(folder, "content"), Path(folder, "data")
        content.mkdir()
        shutil.copy(shared / SPECIFICATION, content)
        return open_editions(read_files(content, data=data), data, {}, Languages()).library


def needed_tokens(label: Label, library: Library) -> int:
    """What it takes to send the labelled sections and sentences and nothing else."""
    needed = label.units(library)
    anchors = {anchor for anchor, _ in needed}
    names = {
        passage.anchor: tokens_in(passage.name) + tokens_in(passage.url)
        for passage in library.passages
        if passage.anchor in anchors
    }
    return sum(names.values()) + sum(tokens_in(text) for _, text in needed)


class Served(msgspec.Struct, frozen=True):
    """What one question was served in one way."""

    tokens: int
    text_tokens: int
    excerpts: int
    complete: bool


def serve(label: Label, library: Library, way: Chooser) -> Served:
    """Choose for one of the five questions, and look whether the answer is there."""
    turn = Turn(label.question, SiteFacts("AHP", "https://ahp.example"))
    excerpts = way(turn, library)
    by_anchor: dict[str, str] = {}
    for excerpt in excerpts:
        anchor = excerpt.passage.anchor
        by_anchor[anchor] = f"{by_anchor.get(anchor, '')}\n{excerpt.text}"
    return Served(
        tokens_of(excerpts),
        sum(tokens_in(excerpt.text) for excerpt in excerpts),
        len(excerpts),
        all(text in by_anchor.get(anchor, "") for anchor, text in label.units(library)),
    )


# The labelled questions


class Prompt(msgspec.Struct, frozen=True):
    """What became of one labelled question in one way.

    Parameters:
        tokens: of the whole prompt as it is sent: instructions, tools, conversation, question and
            passages.
    """

    question: Question
    tokens: int
    excerpts: int
    holds_fact: bool


async def prompts_of(corpus: Corpus) -> dict[str, list[Prompt]]:
    """The prompts for every labelled question of a corpus, each way."""
    folder, synonyms, site = corpus_of(corpus)
    made: dict[str, list[Prompt]] = {name: [] for name in WAYS}
    before: dict[str, tuple[Excerpts, _Passages]] = {}
    with tempfile.TemporaryDirectory() as data:
        async with open_knowledge(
            folder, data=Path(data), synonyms=synonyms, enriched=False
        ) as knowledge:
            agent = ExtractiveAgent(knowledge)
            for question in questions(corpus, "all"):
                turn = await turn_of(agent, site, question)
                for name, way in WAYS.items():
                    excerpts = way(turn, knowledge.library)
                    if name not in before or before[name][0] is not excerpts:
                        before[name] = excerpts, _measure(excerpts)
                    made[name].append(_prompt(question, turn, before[name][1]))
    return made


@cache
def instructions_tokens(site: SiteFacts) -> int:
    """What the instructions take, with the tools that the model always has."""
    return _tokens_as_sent([wire.system(site), wire.tools(())])


class _Passages(msgspec.Struct, frozen=True):
    """What is chosen for a question."""

    text: str
    tokens: int
    count: int


def _measure(excerpts: Excerpts) -> _Passages:
    return _Passages(
        "\n".join(f"{excerpt.passage.name}\n{excerpt.text}" for excerpt in excerpts),
        sum(map(_tokens_as_sent, wire.search_results(excerpts))),
        len(excerpts),
    )


def _prompt(question: Question, turn: Turn, passages: _Passages) -> Prompt:
    return Prompt(
        question,
        instructions_tokens(turn.site) + _tokens_as_sent(wire.messages(turn, ())) + passages.tokens,
        passages.count,
        all(holds(passages.text, fact) for fact in question.facts),
    )


def _tokens_as_sent(part: object) -> int:
    """The tokens of a part of the request, in the JSON in which it goes out."""
    return tokens_in(msgspec.json.encode(part).decode())
