"""Judges the answers over the labelled questions and prints each kind.

    python -m tests.answers.judge [--split tune|unseen|all] [--show KIND] [--enriched] [--table]

``--show`` prints the questions of a kind with what was answered, of the tuning part alone: nobody
reads the unseen third, which is there to tell learning from remembering. ``--table`` prints the
table of ``docs/run/content.md``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import tempfile
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    Said,
    SiteFacts,
    Turn,
    read_answer,
)
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.snapshot import open_knowledge

SHARED = Path(os.environ["AITP_DESK_SHARED"]) if os.environ.get("AITP_DESK_SHARED") else None

ROOT = Path(__file__).parents[2]
QUESTIONS = Path(__file__).parent / "questions"
SHOP = ROOT / "examples" / "shop"

Split = Literal["tune", "unseen", "all"]
Corpus = Literal["shop", "specs"]
UNANSWERED = ("unanswerable", "ambiguous")


class Question(msgspec.Struct, frozen=True):
    """A labelled question; ``questions/README.md`` says what the fields mean."""

    id: str
    corpus: Corpus
    kind: str
    split: Literal["tune", "unseen"]
    question: str
    first: str | None = None
    facts: list[str | list[str]] = []
    sections: list[str] = []
    topics: list[str] = []

    @property
    def is_answerable(self) -> bool:
        return self.kind not in UNANSWERED


class Verdict(msgspec.Struct, frozen=True):
    """What became of one question."""

    question: Question
    outcome: Said

    @property
    def holds_fact(self) -> bool:
        return isinstance(self.outcome, Answer) and all(
            holds(self.outcome.text, fact) for fact in self.question.facts
        )

    @property
    def right_section(self) -> bool:
        if not isinstance(self.outcome, Answer) or not self.outcome.sources:
            return False
        return self.outcome.sources[0].url.lstrip("/") in self.question.sections

    @property
    def refused(self) -> bool:
        return isinstance(self.outcome, Answer) and not self.outcome.found

    @property
    def asked_back(self) -> bool:
        return isinstance(self.outcome, Clarification)

    @property
    def told_apart(self) -> bool:
        """Whether the desk asked back, or named several of the topics that may be meant."""
        if isinstance(self.outcome, Clarification):
            return True
        pages = {source.url.lstrip("/").partition("#")[0] for source in self.outcome.sources}
        return len(pages.intersection(self.question.topics)) > 1


class Figures(msgspec.Struct, frozen=True):
    """The gates' figures over some verdicts; None where nothing of that sort was asked."""

    fact: float | None
    section: float | None
    unanswerable_refused: float | None
    answerable_refused: float | None
    ambiguous_told_apart: float | None
    others_asked: float | None
    typo_fact: float | None
    followup_fact: float | None
    median_characters: float | None


def figures_of(verdicts: Sequence[Verdict]) -> Figures:
    """Count what the gates are about."""
    answerable = [verdict for verdict in verdicts if verdict.question.is_answerable]

    def of(kind: str) -> list[Verdict]:
        return [verdict for verdict in verdicts if verdict.question.kind == kind]

    lengths = [
        len(verdict.outcome.text)
        for verdict in verdicts
        if isinstance(verdict.outcome, Answer) and verdict.outcome.found
    ]
    return Figures(
        fact=_share(verdict.holds_fact for verdict in answerable),
        section=_share(verdict.right_section for verdict in answerable),
        unanswerable_refused=_share(verdict.refused for verdict in of("unanswerable")),
        answerable_refused=_share(verdict.refused for verdict in answerable),
        ambiguous_told_apart=_share(verdict.told_apart for verdict in of("ambiguous")),
        others_asked=_share(
            verdict.asked_back for verdict in verdicts if verdict.question.kind != "ambiguous"
        ),
        typo_fact=_share(verdict.holds_fact for verdict in of("typo")),
        followup_fact=_share(verdict.holds_fact for verdict in of("followup")),
        median_characters=statistics.median(lengths) if lengths else None,
    )


async def judge(corpus: Corpus, split: Split, *, enriched: bool = False) -> list[Verdict]:
    """Ask every question of a corpus, each in a conversation of its own.

    Parameters:
        enriched: whether the questions in the corpus's enriched.jsonl are used (level 2).
    """
    folder, synonyms, site = corpus_of(corpus)
    with tempfile.TemporaryDirectory() as data:
        async with open_knowledge(
            folder, data=Path(data), synonyms=synonyms, enriched=enriched
        ) as knowledge:
            agent = ExtractiveAgent(knowledge)
            return [
                Verdict(question, await _ask(agent, site, question))
                for question in questions(corpus, split)
            ]


def questions(corpus: Corpus, split: Split) -> list[Question]:
    """The labelled questions of a corpus."""
    parts = ("tune", "unseen") if split == "all" else (split,)
    found: list[Question] = []
    for part in parts:
        for batch in sorted(QUESTIONS.glob(f"{corpus}_{part}*.toml")):
            table = tomllib.loads(batch.read_text("utf-8"))
            found.extend(msgspec.convert(table["question"], list[Question]))
    return found


def holds(answer: str, fact: str | list[str]) -> bool:
    """Whether an answer holds a fact (or one of several wordings), not inside a longer number."""
    wordings = [fact] if isinstance(fact, str) else fact
    text = _normal(answer)
    return any(
        re.search(
            (r"(?<![\d.,])" if wording[:1].isdigit() else "")
            + re.escape(wording)
            + (r"(?![\d]|[.,]\d)" if wording[-1:].isdigit() else ""),
            text,
        )
        for wording in map(_normal, wordings)
    )


async def turn_of(agent: ExtractiveAgent, site: SiteFacts, question: Question) -> Turn:
    """The turn in which a question is asked; of a follow-up with what the desk said before."""
    conversation = Conversation(agent, site)
    if question.first is not None:
        await conversation.ask(question.first)
    return conversation.turn(question.question)


def corpus_of(corpus: Corpus) -> tuple[Path, dict[str, list[str]], SiteFacts]:
    """A corpus's folder of content, the synonyms of its site, and whose desk it is."""
    if corpus == "specs":
        if SHARED is None:
            raise LookupError("The specifications are outside: set AITP_DESK_SHARED.")
        return SHARED / "specs", {}, SiteFacts("Specifications", "https://specs.example")
    settings: dict[str, Any] = tomllib.loads((SHOP / "desk.toml").read_text("utf-8"))
    content = settings.get("content", {})
    site = SiteFacts(
        settings["site"]["name"],
        "https://trailhead.example",
        settings["site"].get("description", ""),
        settings["site"]["contact"]["email"],
    )
    return SHOP / content.get("folder", "."), content.get("synonyms", {}), site


GATES: dict[str, tuple[str, str, float]] = {
    "fact": ("the answer holds the fact", "≥", 0.65),
    "section": ("the first source is the right section", "≥", 0.75),
    "unanswerable_refused": ("unanswerable, and refused", "≥", 0.50),
    "answerable_refused": ("answerable, yet refused", "≤", 0.10),
    "ambiguous_told_apart": ("ambiguous, and asked back or several readings named", "≥", 0.70),
    "others_asked": ("clear, yet asked back", "≤", 0.05),
    "typo_fact": ("misspelt: the answer holds the fact", "≥", 0.60),
    "followup_fact": ("follow-ups: the answer holds the fact", "≥", 0.75),
    "median_characters": ("median length of an answer, in characters", "≤", 620),
}
"""What each figure is called, and what it is to be at least or at most."""


def table(verdicts: Sequence[Verdict]) -> str:
    """The figures of all questions, of those that were tuned on, and of the unseen, as Markdown."""
    tuned = [verdict for verdict in verdicts if verdict.question.split == "tune"]
    unseen = [verdict for verdict in verdicts if verdict.question.split == "unseen"]
    parts = [verdicts, tuned, unseen]
    figures = [figures_of(part) for part in parts]
    counts = " | ".join(str(len(part)) for part in parts)
    lines = [
        "| | goal | all | tuned on | unseen |",
        "| --- | --- | --- | --- | --- |",
        f"| questions | | {counts} |",
    ]
    for name, (title, sign, goal) in GATES.items():
        values = [_figure(getattr(figure, name)) for figure in figures]
        lines.append(f"| {title} | {sign} {_figure(goal)} | {' | '.join(values)} |")
    return "\n".join(lines)


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:.0f}"


def available() -> list[Corpus]:
    """The corpora that can be judged here: the specifications are outside of the project."""
    return ["shop", "specs"] if SHARED is not None else ["shop"]


@lru_cache(maxsize=256)
def _normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", text)
    text = text.translate(str.maketrans("‘’“”`*|", "''\"\"   "))
    return " ".join(text.split())


async def _ask(agent: ExtractiveAgent, site: SiteFacts, question: Question) -> Said:
    return await read_answer(agent, await turn_of(agent, site, question))


def _share(hits: Iterable[bool]) -> float | None:
    found = list(hits)
    return sum(found) / len(found) if found else None


def _print(title: str, verdicts: Sequence[Verdict]) -> None:
    print(f"\n{title}")
    kinds = list(dict.fromkeys(verdict.question.kind for verdict in verdicts))
    for kind in [*kinds, "all"]:
        chosen = [verdict for verdict in verdicts if kind in {verdict.question.kind, "all"}]
        shown = [
            f"{name.replace('_', ' ')} {value:.2f}" if value < 2 else f"median {value:.0f} signs"
            for name, value in msgspec.structs.asdict(figures_of(chosen)).items()
            if value is not None and (kind == "all" or not name.startswith(("typo", "followup")))
        ]
        print(f"  {kind:13}{len(chosen):4}  " + ", ".join(shown))


def _show(verdicts: Iterable[Verdict], kind: str) -> None:
    for verdict in verdicts:
        question, outcome = verdict.question, verdict.outcome
        if question.split != "tune" or kind not in {question.kind, "all", "missed"}:
            continue
        if question.kind == "unanswerable":
            good = verdict.refused
        elif question.kind == "ambiguous":
            good = verdict.told_apart
        else:
            good = verdict.holds_fact and verdict.right_section
        if kind == "missed" and good:
            continue
        print(f"\n{'ok  ' if good else 'MISS'} {question.id}: {question.first or ''}", end=" ")
        print(question.question)
        print(f"     wanted {question.facts} in {question.sections or question.topics}")
        if isinstance(outcome, Answer):
            print(f"     {'' if outcome.found else 'REFUSED '}{outcome.text!r}")
            print(f"     {[source.url for source in outcome.sources]}")
        else:
            print(f"     ASKED {outcome.question!r} {outcome.options}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=["tune", "unseen", "all"], default="all")
    parser.add_argument("--show", metavar="KIND", help="a kind, 'missed' or 'all'")
    parser.add_argument("--enriched", action="store_true", help="use enriched.jsonl (level 2)")
    parser.add_argument(
        "--table", action="store_true", help="print the table of docs/run/content.md"
    )
    asked = parser.parse_args()
    everything: list[Verdict] = []
    for corpus in available():
        verdicts = asyncio.run(judge(corpus, asked.split, enriched=asked.enriched))
        everything.extend(verdicts)
        if asked.show:
            _show(verdicts, asked.show)
    if asked.table:
        print(table(everything))
        return
    for part in ("tune", "unseen"):
        of_part = [verdict for verdict in everything if verdict.question.split == part]
        for name in (*available(), "both"):
            chosen = [v for v in of_part if name in {v.question.corpus, "both"}]
            if chosen:
                _print(f"{name}, {part}", chosen)


if __name__ == "__main__":
    main()
