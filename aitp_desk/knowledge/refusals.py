"""Groups the questions that the content did not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
import structlog

from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.semantics.vectors import Vectors
from aitp_desk.store.reads.console.refusals import Refusal

_LONGEST = 200
"""Longer messages are left out: they are letters, and mostly about one person."""
_log = structlog.get_logger(__name__)


class RefusalGroup(msgspec.Struct, frozen=True):
    """Questions with the same meaning.

    Parameters:
        newest: of the most frequent wording.
        others: the other wordings.
        times: how often all of them were asked.
    """

    newest: Refusal
    others: tuple[str, ...]
    times: int


def fold_question(text: str) -> str:
    """Return a question without what does not matter; empty if it is none or too long."""
    words = " ".join(text.casefold().split()).rstrip("?!. ")
    return words if len(words) <= _LONGEST else ""


async def group_refusals(
    refusals: Iterable[Refusal], vectors: Vectors | None
) -> list[RefusalGroup]:
    """Group refused questions, the most frequent first.

    Parameters:
        refusals: the newest first.
        vectors: group by meaning; without them or their model only equal wordings are grouped.
    """
    count: Counter[str] = Counter()
    newest: dict[str, Refusal] = {}
    for refusal in refusals:
        if words := fold_question(refusal.question):
            count[words] += 1
            newest.setdefault(words, refusal)
    every = [words for words, _ in count.most_common()]
    groups = [[words] for words in every]
    if vectors is not None:
        try:
            groups = await vectors.group(every)
        except ModelUnusable as error:
            _log.warning("questions_not_compared", reason=str(error))
    found = [
        RefusalGroup(
            newest[group[0]],
            tuple(newest[words].question for words in group[1:]),
            sum(count[words] for words in group),
        )
        for group in groups
    ]
    return sorted(found, key=lambda one: -one.times)
