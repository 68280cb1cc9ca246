"""Encodes explained answers as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.agent.extractive.explanation import (
    CandidateExplanation,
    Level,
    WordExplanation,
)
from aitp_desk.agent.journal import ExplainedAnswer


class InspectedAnswer(msgspec.Struct, frozen=True):
    """An answer as the panel shows it; see :class:`ExplainedAnswer` and its explanation."""

    id: str
    question: str
    outcome: str
    milliseconds: float
    model: str | None
    reason: str
    level: Level | None
    words: Sequence[WordExplanation]
    candidates: Sequence[CandidateExplanation]


def encode_answers(answers: Sequence[ExplainedAnswer]) -> bytes:
    """Return the answers in their order."""
    return msgspec.json.encode({"object": "list", "data": [_inspected(one) for one in answers]})


def _inspected(answer: ExplainedAnswer) -> InspectedAnswer:
    explanation = answer.explanation
    return InspectedAnswer(
        answer.id,
        answer.question,
        answer.outcome,
        round(answer.seconds * 1000, 1),
        answer.model,
        explanation.reason,
        explanation.level,
        explanation.words,
        explanation.candidates,
    )
