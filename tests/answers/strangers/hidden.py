"""Questions that a body does not answer: near misses, and its own without the answer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import msgspec

from aitp_desk.agent.speech import all_speech
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.documents.boilerplate import drop_boilerplate
from aitp_desk.knowledge.index import builder as making
from tests.answers.strangers.bodies import HERE
from tests.answers.strangers.questions import Question, Verdict

_MOST = 0.4
"""A question is left out where more than this share of the passages answer it."""


def near_misses_of(body: str) -> list[Question]:
    """The near misses of a body."""
    table = tomllib.loads((HERE / "near_misses.toml").read_text("utf-8"))
    asked = enumerate(table.get(body, ()), start=1)
    return [Question(f"{body}-near-{at:02}", "unanswerable", text) for at, text in asked]


def hiding_places(
    questions: Iterable[Question], passages: Sequence[Passage]
) -> Iterator[tuple[Question, set[str]]]:
    """Each answerable question with the texts of the passages that answer it."""
    for question in questions:
        if not question.is_answerable:
            continue
        answering = {
            passage.text
            for passage in passages
            if question.accepts(passage)
            or question.is_answered_by(" ".join([passage.title, *passage.trail, passage.text]))
        }
        if len(answering) <= _MOST * len(passages):
            yield question, answering


@contextmanager
def hidden(texts: set[str]) -> Iterator[None]:
    """Index content without the passages with these texts until the block ends."""

    def cut(pages: Mapping[str, Sequence[Passage]]) -> dict[str, Sequence[Passage]]:
        return {
            path: [passage for passage in passages if passage.text not in texts]
            for path, passages in drop_boilerplate(pages).items()
        }

    with patch.object(making, "drop_boilerplate", cut):
        yield


class Refusals(msgspec.Struct, frozen=True):
    """What became of questions that nothing answers, as shares.

    Parameters:
        refused: of all; those with a near answer are among them.
        near: were given what is said of something near.
    """

    asked: int
    refused: float
    near: float


def refusals_of(verdicts: Sequence[Verdict]) -> Refusals | None:
    """Count; None of no questions."""
    if not verdicts:
        return None
    refused = [verdict for verdict in verdicts if verdict.refused]
    abouts = [speech.says.near.partition("{")[0] for speech in all_speech()]
    near = [verdict for verdict in refused if any(about in verdict.text for about in abouts)]
    return Refusals(len(verdicts), len(refused) / len(verdicts), len(near) / len(verdicts))
