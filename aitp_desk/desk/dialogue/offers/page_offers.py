"""Which of the things that pages offer a question asks for.

A question is read as the agent reads it: misspelt words put right, synonyms, what was said before.
A word that stands in a thing's title counts whole, one that is said about it less, one that only
its page says least.
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
"""So much of what a question says must be found."""
_ALIKE = 0.9
"""How near another thing must come to the first for the desk to ask which is meant."""
_SAID = 0.5
"""So much of a question must be said of a thing itself where text would do: a page with a recording
on it says much that the recording does not.
"""
_THIS_PAGE = 0.15
"""How much more counts what stands on the page that the conversation is about."""

_OF_A_KIND = frozenset(
    "audio chart clip csv data dataset diagram document download episode file film gallery "
    "illustration image images jpg json listen movie mp3 pdf photo photos picture pictures play "
    "podcast png record recording records sound svg table toml video watch webm zip "
    "downloads files videos recordings about show there give have find get see".split()
)
"""Words that say what sort of thing is asked for; they count where its name has them."""


def find_resource(
    kind: str, turn: Turn, library: Library, *, is_sought: bool
) -> Resource | Clarification | None:
    """The resource of a type that a question asks for.

    Parameters:
        is_sought: whether things of this type are asked for, whatever the question says: all of
            them where it names none. Else an answer in text would do, and it has to be about one.

    Returns:
        The resource; what has to be asked back where several fit alike; None where none fits.
    """
    shelved = library.shelf.list_by_type(kind)
    offered = _offered(turn, shelved)
    choice = Choice() if offered is None else read_turn_choice(turn, offered, library)
    if choice.left or len(choice.chosen) > 1:  # an answer holds one thing
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
    """What was asked back last, where it was which of these things is meant."""
    if turn.pending is None or not turn.pending.options:
        return None
    labels = {one.label for one in shelved}
    return turn.pending if labels.issuperset(turn.pending.options) else None


def _scoring(
    asked: ReadQuestion, wanted: Sequence[WantedTerm], library: Library
) -> Callable[[IndexedResource], float]:
    """Tells how much of what is wanted a resource speaks of, 0 to 1 and a little."""
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
    """Whether enough of what is wanted is said of a resource itself."""
    said = sum(item.weight * _said_of(one, item.term.stems) for item in wanted)
    return said >= _SAID * sum(item.weight for item in wanted)


def _said_of(one: IndexedResource, stems: Mapping[str, float]) -> float:
    """How well a resource itself says one thing that is wanted, 0 to 1."""
    return max(_said(stems, one.named), _TOLD * _said(stems, one.told))


def _said(wanted: Mapping[str, float], stems: frozenset[str]) -> float:
    """How well some of these stems say one that is wanted, 0 to 1."""
    if stems.isdisjoint(wanted):
        return 0.0
    return max(value for stem, value in wanted.items() if stem in stems)


def _ask_back(labels: Sequence[str]) -> Clarification:
    options = tuple(labels[:MAX_OPTIONS])
    named = [f"“{option}”" for option in options]
    return Clarification(f"Do you mean {', '.join(named[:-1])} or {named[-1]}?", options)
