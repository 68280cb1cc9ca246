"""What is made of the reply to what the desk asked back, where it does not choose one option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.agent.base import Clarification, Pending, Turn
from aitp_desk.agent.converse import choice_of, clarified, is_answer, page_called, read, reply_of
from aitp_desk.agent.question import Asked, Wanted
from aitp_desk.agent.select import find
from aitp_desk.agent.speech import speech_of
from aitp_desk.agent.trust import answers
from aitp_desk.knowledge.library import Library


def hear(turn: Turn, library: Library) -> Clarification | Asked | dict[str, Asked] | None:
    """What to do with a reply before it is read as a question.

    Who turns down every option is asked openly, and who names several is told of each. Words that
    only one option's page holds choose that one. A reply that tells the options apart no better
    than the question did is asked about once more, for a guess would often be wrong; after that
    each option is answered.

    Returns:
        What to ask; what is asked of the one option that is meant; or of each option that is to be
        answered, by the option; None where the reply is to be read as any other message.
    """
    pending = turn.pending
    if pending is None or not pending.options:
        return None
    choice = choice_of(turn, pending, library)
    if choice.left:
        return _ask_among(choice.left, pending, library)
    if len(choice.chosen) > 1:
        return _each(choice.chosen, pending, library)
    if not choice.is_free:
        return _ask_openly(turn, library) if choice.declines else None
    pages = {option: page_called(option, library) for option in pending.options}
    if None in pages.values() or not is_answer(turn, pending, library):
        return None
    held = _held(read(reply_of(turn), library), pages, library)
    pointing = [options for _, options in held if 0 < len(options) < len(pages)]
    if pointing:
        meant = frozenset.intersection(*pointing)
        if len(meant) != 1 or any(w.term.known and not options for w, options in held):
            return None
        said_of_all = [wanted for wanted, options in held if len(options) == len(pages)]
        return _asked_of(next(iter(meant)), pending, library, said_of_all)
    asked = clarified(pending, reply_of(turn), library)
    found = find(library, asked)
    if not found or found[0].page not in pages.values():
        return None
    if choice.declines:  # what it names instead is told to be missing
        return _ask_openly(turn, library) if answers(asked, found[0], library) else None
    if was_asked_again(turn, pending):
        return _each(pending.options, pending, library)
    return _ask_among(pending.options, pending, library)


def was_asked_again(turn: Turn, pending: Pending) -> bool:
    """Whether the desk asked the same twice already without a choice in between."""
    asked = [said.text for said in turn.transcript if said.speaker == "desk"][-2:]
    return len(asked) == 2 and all(text.startswith(pending.question) for text in asked)


def _held(
    reply: Asked, pages: Mapping[str, str | None], library: Library
) -> list[tuple[Wanted, frozenset[str]]]:
    """The words of a reply that say something, each with the options whose pages hold it.

    Parameters:
        pages: by their options.
    """
    held: list[tuple[Wanted, frozenset[str]]] = []
    for wanted in reply.wanted:
        says = library.ranking.places(wanted.term).score
        on = (o for o, page in pages.items() if page and any(map(says, library.numbers(page))))
        held.append((wanted, frozenset(on)))
    return held


def _asked_of(option: str, pending: Pending, library: Library, more: Sequence[Wanted]) -> Asked:
    """What is asked of one option, with more words that count."""
    asked = clarified(pending, option, library)
    known = {wanted.term.word for wanted in asked.wanted}
    added = tuple(wanted for wanted in more if wanted.term.word not in known)
    return msgspec.structs.replace(asked, wanted=asked.wanted + added)


def _each(options: Sequence[str], pending: Pending, library: Library) -> dict[str, Asked]:
    return {option: clarified(pending, option, library) for option in options}


def _ask_among(options: tuple[str, ...], pending: Pending, library: Library) -> Clarification:
    if options == pending.options:
        return Clarification(pending.question, options)
    speech = speech_of(library.language)
    return Clarification(speech.says.mean.format(options=speech.quote(options)), options)


def _ask_openly(turn: Turn, library: Library) -> Clarification:
    return Clarification(speech_of(library.language).says.open.format(site=turn.site.name))
