"""Finds the resource of the site's pages that a question asks for.

The question is read as the agent reads it: corrected spelling, synonyms, earlier turns. A word in a
resource's title counts fully, one of its description less, one that occurs only on its page least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from aitp_desk.agent.base import Clarification, PendingQuestion, Turn
from aitp_desk.agent.extractive.dialogue.choice import Choice
from aitp_desk.agent.extractive.dialogue.clarification import MAX_OPTIONS
from aitp_desk.agent.extractive.dialogue.context import (
    limit_turn,
    read_reply,
    read_turn,
    read_turn_choice,
)
from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm
from aitp_desk.agent.extractive.reply import was_asked_again
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.media.payloads import Resource
from aitp_desk.knowledge.media.shelf import IndexedResource

_TOLD, _ON_PAGE = 0.8, 0.65
_FITS = 0.6
"""Minimum share of the question's weight that a resource must match."""
_ALIKE = 0.9
"""Minimum ratio to the best score for a resource to count as equal.

The desk asks which one is meant if several do.
"""
_SAID = 0.5
"""Minimum share that the resource itself must match if text would do.

The page of a recording has much text that is not in the recording.
"""
_THIS_PAGE = 0.15
"""Score bonus for resources on the page that the conversation is about."""

_OF_A_KIND = frozenset(
    "audio chart clip csv data dataset diagram document download episode file film gallery "
    "illustration image images jpg json listen movie mp3 pdf photo photos picture pictures play "
    "podcast png record recording records sound svg table toml video watch webm zip "
    "downloads files videos recordings about show there give have find get see".split()
)
"""Words for a kind of resource; they count only within a name."""


def find_resource(
    kind: str, turn: Turn, library: Library, *, is_sought: bool
) -> Resource | Clarification | None:
    """Return the resource of a type that a question asks for.

    Parameters:
        is_sought: whether resources of this type are wanted in any case: all of them if the
            question names none. Else text would do, and the question has to be about one.

    Returns:
        The resource; a clarification if several fit equally well; None if none fits.
    """
    shelved = library.shelf.list_by_type(kind)
    offered = _offered(turn, shelved)
    choice = Choice() if offered is None else read_turn_choice(turn, offered, library)
    if choice.left or len(choice.chosen) > 1:  # an answer holds one resource
        return _ask_back(choice.left or choice.chosen)
    if choice.declines and not choice.is_free:
        return None
    chosen = library.shelf.find_by_name(kind, choice.option or read_reply(turn))
    if chosen is not None or not shelved:
        return chosen
    asked = read_turn(limit_turn(turn, library), library)
    wanted = [item for item in asked.wanted if item.term.word not in _OF_A_KIND]
    if not wanted and not is_sought:
        return None
    if not is_sought:
        shelved = [one for one in shelved if _speaks_of(one, wanted)]
    score_of = _scoring(asked, wanted, library)
    scored = [(score_of(one), one) for one in shelved]
    best = max((score for score, _ in scored), default=0.0)
    if best < _FITS:
        return None
    alike = [one.label for score, one in scored if score >= best * _ALIKE]
    may_ask = turn.clarification is None if offered is None else not was_asked_again(turn, offered)
    if len(alike) > 1 and may_ask:
        return _ask_back(alike)
    return next(one.resource for score, one in scored if score == best)


def _offered(turn: Turn, shelved: Sequence[IndexedResource]) -> PendingQuestion | None:
    """Return the last question, if it asked which of these resources is meant."""
    if turn.pending is None or not turn.pending.options:
        return None
    labels = {one.label for one in shelved}
    return turn.pending if labels.issuperset(turn.pending.options) else None


def _scoring(
    asked: ReadQuestion, wanted: Sequence[WantedTerm], library: Library
) -> Callable[[IndexedResource], float]:
    """Return a function that scores how well a resource matches.

    The score is 0 to 1, plus bonuses.
    """
    total = sum(item.weight for item in wanted)
    sought = [
        (item.weight, item.term.stems, library.ranking.places(item.term).score) for item in wanted
    ]
    kinds = [item.term.own for item in asked.wanted if item.term.word in _OF_A_KIND]

    def score(one: IndexedResource) -> float:
        found = 0.0
        for weight, stems, on_page in sought:
            value = _said_of(one, stems)
            if value < _ON_PAGE and any(map(on_page, library.numbers(one.resource.page))):
                value = _ON_PAGE
            found += weight * value
        share = found / total if total else 1.0
        if any(not one.named.isdisjoint(own) for own in kinds):
            share += _THIS_PAGE
        return share + (_THIS_PAGE if asked.document == one.resource.page else 0.0)

    return score


def _speaks_of(one: IndexedResource, wanted: Sequence[WantedTerm]) -> bool:
    """Return whether a resource itself matches enough of the question."""
    said = sum(item.weight * _said_of(one, item.term.stems) for item in wanted)
    return said >= _SAID * sum(item.weight for item in wanted)


def _said_of(one: IndexedResource, stems: Mapping[str, float]) -> float:
    """Return how well a resource itself matches one wanted term, 0 to 1."""
    return max(_said(stems, one.named), _TOLD * _said(stems, one.told))


def _said(wanted: Mapping[str, float], stems: frozenset[str]) -> float:
    """Return how well some of these stems match one wanted term, 0 to 1."""
    if stems.isdisjoint(wanted):
        return 0.0
    return max(value for stem, value in wanted.items() if stem in stems)


def _ask_back(labels: Sequence[str]) -> Clarification:
    options = tuple(labels[:MAX_OPTIONS])
    named = [f"“{option}”" for option in options]
    return Clarification(f"Do you mean {', '.join(named[:-1])} or {named[-1]}?", options)
