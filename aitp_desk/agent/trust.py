"""Whether what was found answers the question at all."""

from __future__ import annotations

from aitp_desk.agent.question import Asked
from aitp_desk.agent.select import Found

FIT = 0.3
UNKNOWN_FIT = 0.7
_TELLING = 1.5


def answers(asked: Asked, best: Found) -> bool:
    """Whether the best passage is trusted to answer."""
    unknown = any(
        not w.term.known and not w.carried and w.factor >= 1 and w.term.weight > _TELLING
        for w in asked.wanted
    )
    return best.fit >= (UNKNOWN_FIT if unknown else FIT)
