"""Fits the weights of ``aitp_desk/agent/extractive/trust.py`` again.

    python -m tests.answers.strangers.weights FILE [--fit]

asks the questions of all bodies that may be read, their near misses, and the same questions without
the sections that answer them, at all levels, and keeps the features of what was found in a file of
JSON lines. Then it prints the weights, and how many are refused on bodies that were left out of the
fit. ``--fit`` takes the features from the file. It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from aitp_desk.agent.base import Clarification, SiteFacts
from aitp_desk.agent.extractive.agent import ExtractiveAgent
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
    """A question at a level, and the features of what was found; none where nothing was."""

    body: str
    level: str
    sort: str
    features: dict[str, float] | None


async def _cases(name: str, body: Body, level: str) -> AsyncIterator[Case]:
    async with opened(name, body, level) as (agent, library):
        for question in [*questions_of(name), *near_misses_of(name)]:
            sort = "answerable" if question.is_answerable else "unanswerable"
            case = await _case(agent, question, "near" if "-near-" in question.id else sort)
            if case is not None:
                yield Case(name, level, *case)
        places = list(hiding_places(questions_of(name), library.passages))
    for question, texts in places:
        with hidden(texts):
            async with opened(name, body, level) as (agent, _):
                case = await _case(agent, question, "hidden")
                if case is not None:
                    yield Case(name, level, *case)


async def _case(
    agent: ExtractiveAgent, question: Question, sort: str
) -> tuple[str, dict[str, float] | None] | None:
    """None where it is not decided by what was found: the desk asks back."""
    conversation = Conversation(agent, SiteFacts("stranger", "https://stranger.example"))
    if question.first:
        await conversation.ask(question.first)
    finding = await agent.find(conversation.turn(question.question))
    if isinstance(finding.said, Clarification) or finding.asked is None:
        return None
    return sort, list_features(finding.found[0]) if finding.found else None


async def _collect() -> list[Case]:
    return [
        case
        for name, body in bodies().items()
        if not body.unseen
        for level in LEVELS
        if level in {"words", "meaning"} or is_kept(name)
        async for case in _cases(name, body, level)
    ]


def fit(cases: Sequence[Case]) -> tuple[Any, float]:
    """The weights and the constant of a logistic regression, by Newton's method."""
    cases = [case for case in cases if case.features is not None]
    rows = _rows(cases)
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


def _rows(cases: Sequence[Case]) -> Any:
    return np.array([[(case.features or {}).get(name, 0.0) for name in _FITTED] for case in cases])


def _sums(cases: Sequence[Case], weights: Any, constant: float) -> Any:
    sums = _rows(cases) @ weights + constant
    sums[[case.features is None for case in cases]] = -np.inf
    return sums


def _refused(cases: Sequence[Case], sums: Any, needed: float, level: str) -> str:
    shares = []
    for sort in _COUNTS:
        chosen = [
            one < needed
            for one, case in zip(sums, cases, strict=True)
            if case.level == level and case.sort == sort
        ]
        shares.append(f"{sort} {sum(chosen) / max(len(chosen), 1):.2f}")
    return ", ".join(shares)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--fit", action="store_true", help="from a file that is there")
    wanted = parser.parse_args()
    if not wanted.fit:
        wanted.file.write_bytes(msgspec.json.Encoder().encode_lines(asyncio.run(_collect())))
    cases = msgspec.json.Decoder(Case).decode_lines(wanted.file.read_bytes())
    ordered: list[Case] = []
    parts = []
    for body in dict.fromkeys(case.body for case in cases):
        left_out = [case for case in cases if case.body == body]
        others = [case for case in cases if case.body != body]
        parts.append(_sums(left_out, *fit(others)))
        ordered += left_out
    sums = np.concatenate(parts)
    for level, goal in GOALS.items():
        good = [
            one
            for one, case in zip(sums, ordered, strict=True)
            if case.level == level and case.sort == "answerable"
        ]
        needed = float(np.quantile(good, goal))
        print(f"{level}, refused from {needed:.2f}: {_refused(ordered, sums, needed, level)}")
    weights, constant = fit(cases)
    print({name: round(float(weight), 2) for name, weight in zip(_FITTED, weights, strict=True)})
    print(f"constant {constant:.2f}")


if __name__ == "__main__":
    main()
