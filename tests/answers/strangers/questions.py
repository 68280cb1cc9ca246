"""The questions of strangers, and what became of each."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Literal

import msgspec

from aitp_desk.agent.base import Answer, Clarification, Said, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.generative.passages import choose_excerpts
from aitp_desk.cli.evaluation.conversation import Conversation
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.library import Library

HERE = Path(__file__).parent
READ = 800
"""A visitor reads so many characters of an answer."""
ROOM = 800
"""So many tokens of passages a prompt holds."""
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_MARKS = re.compile(r"[*`|]")
_QUOTES = str.maketrans("‘’“”", "''\"\"")

Kind = Literal[
    "own-words",
    "paraphrase",
    "howto",
    "situation",
    "keywords",
    "typo",
    "followup",
    "unanswerable",
    "ambiguous",
]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A labelled question; ``README.md`` says what the fields mean."""

    id: str
    kind: Kind
    question: str
    first: str = ""
    facts: list[str] = []
    readings: list[list[str]] = []
    sections: list[str] = []

    @property
    def is_answerable(self) -> bool:
        """Whether the content answers it."""
        return self.kind != "unanswerable"

    def is_answered_by(self, text: str) -> bool:
        """Whether a text holds the facts, or those of one reading."""
        text = normal(text)
        wanted = self.readings or [self.facts]
        return self.is_answerable and any(
            all(re.search(fact, text, re.IGNORECASE) for fact in facts) for facts in wanted
        )

    def accepts(self, passage: Passage) -> bool:
        """Whether a passage is one of the places that answer it."""
        for section in self.sections:
            page, _, heading = section.partition(" > ")
            named = heading.casefold() in {passage.heading.casefold(), ""}
            if passage.document == page and named:
                return True
        return False


class Verdict(msgspec.Struct, frozen=True):
    """What became of a question.

    Parameters:
        text: the answer, or what the desk asked back.
        is_usable: whether the answer is right, or one offered choice leads to one that is.
        right_first: whether the first source is an accepted section.
        in_prompt: whether the passages for a prompt hold the facts.
    """

    question: Question
    text: str
    choices: tuple[str, ...]
    is_right: bool
    is_usable: bool
    right_first: bool
    in_prompt: bool
    refused: bool
    asked_back: bool


def questions_of(body: str) -> list[Question]:
    """The questions about a body."""
    table = tomllib.loads((HERE / "labels" / f"{body}.toml").read_text("utf-8"))
    return msgspec.convert(table["question"], list[Question])


def normal(text: str) -> str:
    """A text as facts are matched against: plain quotes and dashes, no Markdown marks."""
    text = _DASHES.sub("-", unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    return " ".join(_MARKS.sub(" ", text).split())


async def ask(
    agent: ExtractiveAgent, library: Library, site: SiteFacts, question: Question
) -> Verdict:
    """Ask a question in a conversation of its own, and look at what was said."""
    conversation = Conversation(agent, site)
    if question.first:
        await conversation.ask(question.first)
    turn = conversation.turn(question.question)
    said = await conversation.ask(question.question)
    asked_back = isinstance(said, Clarification)
    text = said.question if isinstance(said, Clarification) else said.text
    answered = isinstance(said, Answer) and said.found
    is_right = answered and question.is_answered_by(text[:READ])
    if question.kind == "ambiguous" and asked_back:
        is_right = True
    choices = said.options if isinstance(said, Clarification) else said.follow_ups
    is_usable = is_right
    if question.is_answerable:
        for choice in choices:
            if is_usable:
                break
            then = await copy(conversation).ask(choice)
            is_usable = isinstance(then, Answer) and question.is_answered_by(then.text[:READ])
    prompt = "\n".join(
        f"{excerpt.passage.title} {' '.join(excerpt.passage.trail)}\n{excerpt.text}"
        for excerpt in choose_excerpts(turn, library, room=ROOM)
    )
    return Verdict(
        question,
        text,
        choices,
        is_right=is_right,
        is_usable=is_usable,
        right_first=answered and _right_first(said, library, question),
        in_prompt=question.is_answered_by(prompt),
        refused=isinstance(said, Answer) and not said.found,
        asked_back=asked_back,
    )


def _right_first(said: Said, library: Library, question: Question) -> bool:
    if not isinstance(said, Answer) or not said.sources:
        return False
    first = said.sources[0].url
    return any(question.accepts(passage) for passage in library.passages if passage.url == first)


class Figures(msgspec.Struct, frozen=True):
    """Shares over some verdicts, from 0 to 1; None where no question is of that sort."""

    questions: int
    right: float | None
    usable: float | None
    right_first: float | None
    asked_needlessly: float | None
    refused_wrongly: float | None
    unanswerable_refused: float | None
    in_prompt: float | None


def figures_of(verdicts: Sequence[Verdict]) -> Figures:
    """Count."""
    answerable = [one for one in verdicts if one.question.is_answerable]
    plain = [one for one in verdicts if one.question.kind != "ambiguous"]
    others = [one for one in verdicts if not one.question.is_answerable]
    return Figures(
        questions=len(verdicts),
        right=_share([one.is_right for one in answerable]),
        usable=_share([one.is_usable for one in answerable]),
        right_first=_share([one.right_first for one in answerable]),
        asked_needlessly=_share([one.asked_back for one in plain]),
        refused_wrongly=_share([one.refused for one in answerable]),
        unanswerable_refused=_share([one.refused for one in others]),
        in_prompt=_share([one.in_prompt for one in answerable]),
    )


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None
