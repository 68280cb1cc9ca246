"""Fits the weights of the evidence to the utterances that may be seen.

    python -m tests.answers.actions.weights

prints them as `aitp_desk/agent/intents/weights.py` has them, by logistic regression. Each desk is
also judged by weights that were fitted to the other desks alone. It needs the extra `semantic`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from tests.answers.actions.table import (
    CONTACT,
    SEEN,
    SITES,
    open_desk,
    read_questions,
    read_utterances,
)

_ROUNDS, _STEP, _SHRINKS = 4000, 0.5, 1.5
_WANTED_COUNTS = 3.0
_LEAST = 0.05


class Example(msgspec.Struct, frozen=True):
    """One utterance with the evidence for each action that it may ask for."""

    desk: str
    wanted: str
    evidence: Mapping[str, Mapping[str, float]]


async def collect(*, by_meaning: bool) -> list[Example]:
    """Return the evidence of all utterances that may be seen."""
    said = [*read_utterances(*SEEN), *read_questions()]
    found: list[Example] = []
    for name in SITES:
        async with open_desk(name, by_meaning=by_meaning) as desk:
            for one in said:
                if one.desk == name and one.action != CONTACT:
                    ranked = await desk.matcher.rank(one.text)
                    found.append(
                        Example(name, one.action, {each.name: each.evidence for each in ranked})
                    )
    return found


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights, by logistic regression.

    Each example counts twice, once without its deeds: visitors use phrases that no table has.
    """
    examples = [*examples, *map(_without_deeds, examples)]
    names = sorted({n for one in examples for e in one.evidence.values() for n in e})
    rows = [
        ([evidence.get(name, 0.0) for name in names], action == one.wanted)
        for one in examples
        for action, evidence in one.evidence.items()
    ]
    given = np.array([row for row, _ in rows])
    wanted = np.array([is_wanted for _, is_wanted in rows], dtype=float)
    counts = np.where(wanted > 0, _WANTED_COUNTS, 1.0)
    weights: Any = np.zeros(len(names))
    bias = -3.0
    for _ in range(_ROUNDS):
        wrong = (1 / (1 + np.exp(-(given @ weights + bias))) - wanted) * counts
        weights -= _STEP * (given.T @ wrong + _SHRINKS * weights) / len(rows)
        bias -= _STEP * wrong.sum() / len(rows)
    found = {name: round(float(w), 2) for name, w in zip(names, weights, strict=True)}
    return {"bias": round(float(bias), 2)} | {n: w for n, w in found.items() if abs(w) >= _LEAST}


def _without_deeds(one: Example) -> Example:
    kept = {
        action: {name: value for name, value in evidence.items() if "deed" not in name}
        for action, evidence in one.evidence.items()
    }
    return Example(one.desk, one.wanted, kept)


def judge(
    examples: Sequence[Example], weights: Mapping[str, float], least: float
) -> tuple[int, ...]:
    """Return how many requests are right, of how many, and the same of other sentences."""
    right = asked = quiet = other = 0
    for one in examples:
        scores = {
            action: weights["bias"] + sum(weights.get(n, 0.0) * v for n, v in evidence.items())
            for action, evidence in one.evidence.items()
        }
        best = max(scores, key=lambda name: scores[name], default="")
        found = best if best and scores[best] > least else ""
        if one.wanted:
            asked, right = asked + 1, right + (found == one.wanted)
        else:
            other, quiet = other + 1, quiet + (not found)
    return right, asked, quiet, other


async def main() -> None:
    """Print the weights by words and by meaning, and what each desk gets without its own."""
    for by_meaning in (False, True):
        examples = await collect(by_meaning=by_meaning)
        weights = fit(examples)
        print("BY_MEANING" if by_meaning else "BY_WORDS", weights)
        for least in (-0.5, 0.0, 0.5, 1.0):
            print("  all", least, *judge(examples, weights, least))
            for name in SITES:
                apart = fit([one for one in examples if one.desk != name])
                own = [one for one in examples if one.desk == name]
                bare = list(map(_without_deeds, own))
                print(
                    "   ", name, least, *judge(own, apart, least), "|", *judge(bare, apart, least)
                )


if __name__ == "__main__":
    asyncio.run(main())
