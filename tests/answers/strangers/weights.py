"""Fits the weights of ``aitp_desk/agent/extractive/trust.py`` again.

    python -m tests.answers.strangers.weights FILE [--level LEVEL ...] [--without-hidden] [--fit]

asks the questions of all bodies that may be read, their near misses, and the same questions without
the sections that answer them, at all levels, and keeps the features of what was found in a file of
JSON lines. Then it prints how many are refused where as many are refused wrongly as the level's
goal allows: by the desk's weights, and by weights fitted without the body of the question. Last it
prints the fitted weights, each with its least and its greatest value where a body was left out.
``--fit`` takes the features from the file. It takes a quarter of an hour, and two minutes
``--without-hidden``.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from aitp_desk.agent.base import Clarification, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.extractive.selection import Candidate, by_score
from aitp_desk.agent.extractive.trust import WEIGHTS, list_features
from aitp_desk.cli.evaluation.conversation import Conversation
from tests.answers.strangers.__main__ import LEVELS, opened
from tests.answers.strangers.bodies import Body, bodies
from tests.answers.strangers.enrichment import is_kept
from tests.answers.strangers.hidden import hidden, hiding_places, near_misses_of
from tests.answers.strangers.questions import Question, questions_of

GOALS = {"words": 0.08, "meaning": 0.06, "enriched": 0.04, "both": 0.04}
"""At most this share of what can be answered is to be refused."""
_COUNTS = {"answerable": 1.0, "unanswerable": 2.0, "near": 1.0, "hidden": 0.2}
"""How much a question counts; one whose answer is hidden may have another."""
_FITTED = [name for name in WEIGHTS if name != "reranked"]
_DAMPING, _STEPS = 3.0, 12


class Case(msgspec.Struct):
    """A question at a level, and the features of each section whose evidence counts."""

    body: str
    level: str
    sort: str
    features: list[dict[str, float]]


async def _cases(name: str, body: Body, level: str, *, with_hidden: bool) -> AsyncIterator[Case]:
    async with opened(name, body, level) as (agent, library):
        for question in [*questions_of(name), *near_misses_of(name)]:
            sort = "answerable" if question.is_answerable else "unanswerable"
            case = await _case(agent, question, "near" if "-near-" in question.id else sort)
            if case is not None:
                yield Case(name, level, *case)
        places = list(hiding_places(questions_of(name), library.passages)) if with_hidden else []
    for question, texts in places:
        with hidden(texts):
            async with opened(name, body, level) as (agent, _):
                case = await _case(agent, question, "hidden")
                if case is not None:
                    yield Case(name, level, *case)


async def _case(
    agent: ExtractiveAgent, question: Question, sort: str
) -> tuple[str, list[dict[str, float]]] | None:
    """None where it is not decided by what was found: the desk asks back."""
    conversation = Conversation(agent, SiteFacts("stranger", "https://stranger.example"))
    if question.first:
        await conversation.ask(question.first)
    finding = await agent.find(conversation.turn(question.question))
    if isinstance(finding.said, Clarification) or finding.asked is None:
        return None
    return sort, [
        {name: float(value) for name, value in list_features(one).items()}
        for one in _list_leading(finding.found)
    ]


def _list_leading(found: Sequence[Candidate]) -> Sequence[Candidate]:
    """The sections whose evidence counts, as in `find_strongest`."""
    if not found:
        return ()
    first = found[0]
    other = first if first.is_by_meaning else max(found, key=by_score)
    return (first,) if other is first else (first, other)


async def _collect(levels: Iterable[str], *, with_hidden: bool) -> list[Case]:
    return [
        case
        for name, body in bodies().items()
        if not body.unseen
        for level in levels
        if level in {"words", "meaning"} or is_kept(name)
        async for case in _cases(name, body, level, with_hidden=with_hidden)
    ]


def fit(cases: Sequence[Case]) -> tuple[Any, float]:
    """The weights and the constant of a logistic regression, by Newton's method."""
    cases = [case for case in cases if case.features]
    rows = _rows([case.features[0] for case in cases])
    mean, spread = rows.mean(0), rows.std(0)
    spread[spread == 0] = 1.0
    rows = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    is_good = np.array([case.sort == "answerable" for case in cases], dtype=float)
    counts = np.array([_COUNTS[case.sort] for case in cases])
    damping = np.array([_DAMPING] * len(_FITTED) + [0.0])
    found = np.zeros(len(damping))
    for _ in range(_STEPS):
        sure = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (counts * (sure - is_good)) + damping * found
        bend = (rows.T * (counts * sure * (1 - sure))) @ rows + np.diag(damping)
        found -= np.linalg.solve(bend, slope)
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)


def _rows(features: Sequence[dict[str, float]]) -> Any:
    return np.array([[one.get(name, 0.0) for name in _FITTED] for one in features])


def _sums(cases: Sequence[Case], weights: Any, constant: float) -> Any:
    """The evidence for the strongest section of each; none where nothing was found."""
    return np.array(
        [
            (_rows(case.features) @ weights).max() + constant if case.features else -np.inf
            for case in cases
        ]
    )


def _refused(cases: Sequence[Case], sums: Any, level: str) -> str:
    """What is refused where the level's goal of wrong refusals is just reached."""
    of_sort = {
        sort: [
            one
            for one, case in zip(sums, cases, strict=True)
            if (case.level, case.sort) == (level, sort)
        ]
        for sort in _COUNTS
    }
    needed = float(np.quantile(of_sort["answerable"], GOALS[level]))
    shares = [
        f"{sort} {np.mean(np.array(some) < needed):.3f}" for sort, some in of_sort.items() if some
    ]
    return f"{', '.join(shares)} below {needed:.2f}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--level", choices=LEVELS, action="append", help="all where none is named")
    parser.add_argument("--without-hidden", action="store_true", help="hide no answers")
    parser.add_argument("--fit", action="store_true", help="from a file that is there")
    wanted = parser.parse_args()
    if not wanted.fit:
        collected = _collect(wanted.level or LEVELS, with_hidden=not wanted.without_hidden)
        wanted.file.write_bytes(msgspec.json.Encoder().encode_lines(asyncio.run(collected)))
    cases = msgspec.json.Decoder(Case).decode_lines(wanted.file.read_bytes())
    ordered: list[Case] = []
    parts = []
    without: list[Any] = []
    for body in dict.fromkeys(case.body for case in cases):
        left_out = [case for case in cases if case.body == body]
        fitted = fit([case for case in cases if case.body != body])
        parts.append(_sums(left_out, *fitted))
        without.append(fitted[0])
        ordered += left_out
    own = _sums(ordered, np.array([WEIGHTS[name] for name in _FITTED]), 0.0)
    for level in dict.fromkeys(case.level for case in cases):
        print(f"{level}, the desk's: {_refused(ordered, own, level)}")
        print(f"{level}, left out: {_refused(ordered, np.concatenate(parts), level)}")
    weights, constant = fit(cases)
    for name, weight, *ends in zip(
        _FITTED, weights, np.min(without, 0), np.max(without, 0), strict=True
    ):
        print(f"{name} {weight:.2f}, {ends[0]:.2f} to {ends[1]:.2f}")
    print(f"constant {constant:.2f}")


if __name__ == "__main__":
    main()
