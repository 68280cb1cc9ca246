"""Which of the things that pages offer a question asks for.

A question is read as the agent reads it: misspelt words put right, synonyms, what was said before.
A word that stands in a thing's title counts whole, one that is said about it less, one that only
its page says least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.agent.ask import MAX_OPTIONS
from aitp_desk.agent.base import Clarification, Turn
from aitp_desk.agent.converse import read_turn, within_reason
from aitp_desk.agent.question import Asked, Wanted
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.payloads import Resource
from aitp_desk.knowledge.shelf import Shelved
from aitp_desk.knowledge.words import fold, words_of

_TOLD, _ON_PAGE = 0.8, 0.65
_FITS = 0.6
"""So much of what a question says must be found."""
_ALIKE = 0.9
"""How near another thing must come to the first for the desk to ask which is meant."""
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
    kind: str, turn: Turn, library: Library, *, by_kind_alone: bool
) -> Resource | Clarification | None:
    """The resource of a type that a question asks for.

    Parameters:
        by_kind_alone: whether a question that says nothing but the kind asks for all of them.

    Returns:
        The resource; what has to be asked back where several fit alike; None where none fits.
    """
    shelved = library.shelf.of_type(kind)
    chosen = _chosen(turn, shelved)
    if chosen is not None or not shelved:
        return chosen
    asked = read_turn(within_reason(turn), library)
    wanted = [item for item in asked.wanted if item.term.word not in _OF_A_KIND]
    if not wanted and not by_kind_alone:
        return None
    scored = [(_score(asked, wanted, one, library), one.resource) for one in shelved]
    best = max(score for score, _ in scored)
    if best < _FITS:
        return None
    alike = [resource for score, resource in scored if score >= best * _ALIKE]
    titles = list(dict.fromkeys(resource.title for resource in alike))
    if len(titles) > 1 and turn.pending is None and turn.clarification is None:
        return _ask_back(titles)
    return next(resource for score, resource in scored if score == best)


def _chosen(turn: Turn, shelved: Sequence[Shelved]) -> Resource | None:
    """The resource that is named outright: by its title, its file's name or its page's path."""
    said = _plain(turn.clarification or turn.question)
    if turn.pending is not None:
        numbered = enumerate(turn.pending.options, start=1)
        said = next((_plain(option) for number, option in numbered if said == str(number)), said)
    names: Sequence[Callable[[Resource], str]] = (_title, _name, _page)
    for name in names:
        for one in shelved:
            if _plain(name(one.resource)) == said:
                return one.resource
    return None


def _score(asked: Asked, wanted: Sequence[Wanted], one: Shelved, library: Library) -> float:
    """How much of what is wanted a resource speaks of, 0 to 1 and a little."""
    numbers = library.numbers(one.resource.page)
    total = found = 0.0
    for item in wanted:
        total += item.weight
        stems = item.term.stems
        named = max((value for stem, value in stems.items() if stem in one.named), default=0.0)
        told = max((value for stem, value in stems.items() if stem in one.told), default=0.0)
        value = max(named, _TOLD * told)
        if value < _ON_PAGE:
            score = library.ranking.places(item.term).score
            value = max(value, _ON_PAGE if any(map(score, numbers)) else 0.0)
        found += item.weight * value
    share = found / total if total else 1.0
    kinds = [item for item in asked.wanted if item.term.word in _OF_A_KIND]
    if any(not one.named.isdisjoint(item.term.own) for item in kinds):
        share += _THIS_PAGE
    return share + (_THIS_PAGE if asked.document == one.resource.page else 0.0)


def _ask_back(titles: Sequence[str]) -> Clarification:
    options = tuple(titles[:MAX_OPTIONS])
    named = [f"“{option}”" for option in options]
    return Clarification(f"Do you mean {', '.join(named[:-1])} or {named[-1]}?", options)


def _plain(text: str) -> str:
    return " ".join(words_of(fold(text)))


def _title(resource: Resource) -> str:
    return resource.title


def _name(resource: Resource) -> str:
    return resource.name or resource.title


def _page(resource: Resource) -> str:
    return resource.page
