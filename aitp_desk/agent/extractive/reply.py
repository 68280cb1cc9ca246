"""Interprets a reply to a clarifying question that does not choose one option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.agent.base import Clarification, PendingQuestion, Turn
from aitp_desk.agent.extractive.dialogue.context import (
    find_page,
    is_answer,
    merge_clarification,
    read_message,
    read_reply,
    read_turn_choice,
)
from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm, points_back
from aitp_desk.agent.extractive.selection import Candidate, find_candidates
from aitp_desk.agent.extractive.trust import is_trusted
from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.index.term_places import IN_TITLES, NOWHERE
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.vocabulary import OWN


def interpret_reply(
    turn: Turn, library: Library
) -> Clarification | ReadQuestion | dict[str, ReadQuestion] | None:
    """Decide what to do with a reply before it is read as a question.

    A visitor who rejects every option gets an open question, and one who names several gets an
    answer for each. Words that only one option's page has choose that one, and what another page
    answers is left to it. A reply that does not distinguish the options better than the question
    did leads to a second question, because a guess would often be wrong; after that each option is
    answered.

    Returns:
        A question to ask; the reading of the one option that is meant; or of each option that is to
        be answered, by the option; None if the reply is to be read as any other message.
    """
    pending = turn.pending
    if pending is None or not pending.options:
        return _ask_again_openly(turn, library)
    choice = read_turn_choice(turn, pending, library)
    if choice.left:
        return _ask_among(choice.left, pending, library)
    if len(choice.chosen) > 1:
        return _each(choice.chosen, pending, library)
    if not choice.is_free:
        return _ask_openly(turn, library) if choice.declines else None
    pages = {option: find_page(option, library) for option in pending.options}
    if None in pages.values() or not is_answer(turn, pending, library):
        return None
    held = _held(read_message(read_reply(turn), library), pages, library)
    pointing = [options for _, options in held if 0 < len(options) < len(pages)]
    if pointing:
        meant = frozenset.intersection(*pointing)
        if len(meant) != 1 or any(w.term.known and not options for w, options in held):
            return None
        said_of_all = [wanted for wanted, options in held if len(options) == len(pages)]
        return _asked_of(next(iter(meant)), pending, library, said_of_all)
    asked = merge_clarification(pending, read_reply(turn), library)
    found = find_candidates(library, asked)
    if _leads_elsewhere(turn, found, held, pages, library):
        return None
    if choice.declines:
        near = next((one for one in found if one.page in pages.values()), None)
        is_told = near is not None and is_trusted(near)
        return (
            _ask_openly(turn, library) if is_told else None
        )  # otherwise the answer names what is missing
    if was_asked_again(turn, pending):
        return _each(pending.options, pending, library)
    return _ask_among(pending.options, pending, library)


def answer_alone(turn: Turn, library: Library) -> list[Candidate]:
    """Return the sections that answer a reply alone, as an unmarked new question; else none."""
    if turn.pending is None:
        return []
    asked = read_message(read_reply(turn), library)
    found = find_candidates(library, asked)
    return found if found and is_trusted(found[0]) else []


def was_asked_again(turn: Turn, pending: PendingQuestion) -> bool:
    """Return whether the desk asked the same twice already without a choice in between."""
    asked = [said.text for said in turn.transcript if said.speaker == "desk"][-2:]
    return len(asked) == 2 and all(text.startswith(pending.question) for text in asked)


def _leads_elsewhere(
    turn: Turn,
    found: Sequence[Candidate],
    held: Sequence[tuple[WantedTerm, frozenset[str]]],
    pages: Mapping[str, str | None],
    library: Library,
) -> bool:
    """Return whether a reply names what another page than the offered ones answers.

    Parameters:
        found: for the first question, read together with the reply.
        held: the reply's words, each with the options whose pages have it.
        pages: of the options.
    """
    if points_back(read_reply(turn)):
        return False
    words = range(len(held))  # the reply's subject comes first
    if found and found[0].page not in pages.values():
        told = [found[0].places.get(at, NOWHERE).covered >= OWN for at in words]
        if any(told) and is_trusted(found[0]):
            return True
    alone = answer_alone(turn, library)
    if not alone or alone[0].page in pages.values() or all(options for _, options in held):
        return False
    return all(alone[0].places.get(at, NOWHERE).around >= IN_TITLES * OWN for at in words)


def _held(
    reply: ReadQuestion, pages: Mapping[str, str | None], library: Library
) -> list[tuple[WantedTerm, frozenset[str]]]:
    """Return a reply's significant words, each with the options that contain it.

    Parameters:
        pages: by their options.
    """
    held: list[tuple[WantedTerm, frozenset[str]]] = []
    for wanted in reply.wanted:
        says = library.ranking.places(wanted.term).score
        on = (o for o, page in pages.items() if page and any(map(says, library.numbers(page))))
        held.append((wanted, frozenset(on)))
    return held


def _asked_of(
    option: str, pending: PendingQuestion, library: Library, more: Sequence[WantedTerm]
) -> ReadQuestion:
    """Return the question about one option, with further weighted words."""
    asked = merge_clarification(pending, option, library)
    known = {wanted.term.word for wanted in asked.wanted}
    added = tuple(wanted for wanted in more if wanted.term.word not in known)
    return msgspec.structs.replace(asked, wanted=asked.wanted + added)


def _each(
    options: Sequence[str], pending: PendingQuestion, library: Library
) -> dict[str, ReadQuestion]:
    return {option: merge_clarification(pending, option, library) for option in options}


def _ask_among(
    options: tuple[str, ...], pending: PendingQuestion, library: Library
) -> Clarification:
    if options == pending.options:
        return Clarification(pending.question, options)
    speech = speech_of(library.language)
    return Clarification(speech.says.mean.format(options=speech.quote(options)), options)


def _ask_again_openly(turn: Turn, library: Library) -> Clarification | None:
    """Repeat the open question if the reply has no meaning."""
    if turn.pending is None or read_message(read_reply(turn), library).wanted:
        return None
    openly = _ask_openly(turn, library)
    return openly if turn.pending.question == openly.question else None


def _ask_openly(turn: Turn, library: Library) -> Clarification:
    return Clarification(speech_of(library.language).says.open.format(site=turn.site.name))
