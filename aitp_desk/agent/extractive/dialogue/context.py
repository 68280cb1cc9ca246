"""Interprets a question in the context of the conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from aitp_desk.agent.base import PendingQuestion, Turn, Utterance
from aitp_desk.agent.extractive.answer_type import asks_for_code
from aitp_desk.agent.extractive.business import about_business
from aitp_desk.agent.extractive.dialogue.choice import Choice, read_choice, read_choice_by_place
from aitp_desk.agent.extractive.dialogue.clarification import (
    find_asked_before,
    find_earlier_offer,
    find_offered_options,
)
from aitp_desk.agent.extractive.dialogue.courtesy import is_agreement
from aitp_desk.agent.extractive.dialogue.options import names_in, offered_by
from aitp_desk.agent.extractive.dialogue.topics import asks_for_topics
from aitp_desk.agent.extractive.question import (
    MAX_READ,
    TELLING,
    ReadQuestion,
    WantedTerm,
    count_telling_words,
    is_question,
    points_back,
    read_question,
    shorten_message,
)
from aitp_desk.agent.extractive.selection import find_candidates
from aitp_desk.agent.speech import speech_of
from aitp_desk.agent.speech.recognition import detect_question_language, find_speech
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.quantities import CODE
from aitp_desk.knowledge.search.vocabulary import Term

_FEW = 3
"""A question with more weighty words is independent."""
_FEWEST, _SHORT = 1, 6
"""A question with so few weighty words, and so few words in total, depends on the conversation,
unless it asks what a thing is.
"""
_TWO = 2
REACH = 5
"""The most questions back in a chain of follow-ups."""

_LEANS_ON = re.compile(
    r"^\W*(?:and|or|but|also|then|so|what about|how about|what if|same for|which one|why)\b",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(r"^\W*(?:what|who)(?:['’]?s| is| are| does| do)\b", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"^\W*(?:(?:and|or|but|also|then|so|what about|how about)\b\W*)+"
    r"(at|by|for|from|in|inside|into|on|onto|over|through|to|under|via|with|without)\b",
    re.IGNORECASE,
)
"""The opening of a fragment that replaces something in the earlier question."""
_ASKS_BACKWARDS = re.compile(
    r"\b(?:did|have|had|was|were) (?:i|we|you and i) (?:just |ever |even )?(?:ask|said|say|mention|"
    r"talk|discuss|want|been (?:asking|talking))|\bi (?:just )?asked(?: you)?(?: about)?\W*$|"
    r"\bmy (?:last|previous|first|earlier|original) (?:question|message|query)|"
    r"\bwhat (?:were|are) we (?:talking|discussing)|\bremind me what (?:i|we)\b"
)
_FIRST = re.compile(r"\b(?:first|original|at the (?:start|beginning))\b", re.IGNORECASE)

_CARRIED = 0.6
"""The weight of an earlier question's words, as a share of the new words' weight."""


def read_message(text: str, library: Library) -> ReadQuestion:
    """Read a question in the library's language, by itself."""
    speech = find_speech(text, library.language)
    # agreement asks for nothing; a search would match pages by chance
    if is_agreement(text, speech):
        return read_question("", library.vocabulary)
    asked = read_question(speech.plain(text), library.vocabulary)
    words = text.split()
    return msgspec.structs.replace(
        asked,
        said=" ".join(words),
        length=len(words),
        foreign=detect_question_language(text, library.language) != library.language,
    )


def asks_about_the_conversation(question: str, library: Library) -> bool:
    """Return whether a question is about the conversation: ``What did I just ask about?``."""
    return asks_backwards(question, library.language)


def asks_backwards(question: str, language: str) -> bool:
    """Return the same for a question in a language, by its tag."""
    return (
        _ASKS_BACKWARDS.search(find_speech(question, language).plain(question).lower()) is not None
    )


def find_meant_question(
    question: str, transcript: Sequence[Utterance], library: Library
) -> str | None:
    """Return the earlier question that a question about the conversation means, or None."""
    asked = [
        said.text
        for said in transcript
        if said.speaker == "visitor" and not asks_about_the_conversation(said.text, library)
    ]
    if not asked:
        return None
    is_first = _FIRST.search(find_speech(question, library.language).plain(question))
    return asked[0] if is_first else asked[-1]


def limit_turn(turn: Turn, library: Library) -> Turn:
    """Limit a turn to what is read: the ends of very long messages, the pending question.

    Words that do not answer what an action has asked are read as any other message.
    """
    pending = turn.pending
    if pending is not None and pending.call_id is not None and not pending.options:
        turn, pending = msgspec.structs.replace(turn, pending=None), None
    if pending is None and turn.clarification is None and turn.transcript:
        offered = find_earlier_offer(turn.transcript)
        if offered is not None and read_choice_by_place(turn.question, offered.options):
            pending = offered
        else:
            pending, chosen = _offered_with_the_answer(turn, library)
            turn = msgspec.structs.replace(turn, question=chosen)
    if not turn.transcript and turn.clarification is None and len(turn.question) <= MAX_READ:
        return turn
    if pending is None and turn.clarification is None:
        pending = find_asked_before(turn.transcript) or _offered(turn, library)
    return msgspec.structs.replace(
        turn,
        question=shorten_message(turn.question),
        clarification=turn.clarification and shorten_message(turn.clarification),
        transcript=tuple(
            said
            if len(said.text) <= MAX_READ
            else msgspec.structs.replace(said, text=shorten_message(said.text))
            for said in turn.transcript
        ),
        pending=pending,
    )


def _offered_with_the_answer(turn: Turn, library: Library) -> tuple[PendingQuestion | None, str]:
    """Return the readings offered with the last answer, and the chosen one."""
    said, reply = turn.transcript, turn.question
    if len(said) < 2 or said[-1].speaker != "desk" or "?" in reply:
        return None, reply
    options = offered_by(said[-1].text, speech_of(library.language))
    if len(options) == _TWO and is_agreement(reply):  # "Or do you mean ...?" "Yes."
        chosen: str | None = options[-1]
    else:
        chosen = _choose(reply, options, library).option if options else None
    about = next((one.text for one in reversed(said) if one.speaker == "visitor"), None)
    if chosen is None or about is None:
        return None, reply
    return PendingQuestion(about, said[-1].text, options), chosen


def _offered(turn: Turn, library: Library) -> PendingQuestion | None:
    """Return the choice that a message implies if it only names a section."""
    name = turn.question.strip()
    if ":" not in name or find_section(name, library) is None:
        return None
    said = (one.text for one in reversed(turn.transcript) if one.speaker == "visitor")
    about = next(said, None)
    return PendingQuestion(about, name, (name,)) if about else None


def read_turn(turn: Turn, library: Library) -> ReadQuestion:
    """Read a turn's question with the context that it depends on."""
    pending = turn.pending
    if pending is not None:
        if is_answer(turn, pending, library):
            reply = read_turn_choice(turn, pending, library).option or read_reply(turn)
            return merge_clarification(pending, reply, library)
    elif turn.clarification is not None:
        return read_message(f"{turn.question} {turn.clarification}", library)
    return _read(read_reply(turn), list_exchanges(turn, library)[-REACH:], library)


class Exchange(msgspec.Struct):
    """A question and the section that answered it.

    Parameters:
        question: of the visitor; if it chose one of several options, the option.
        section: number of the passage that the answer comes from first, or None.
    """

    question: str
    section: int | None = None


def list_exchanges(turn: Turn, library: Library) -> list[Exchange]:
    """Return the visitor's earlier questions, oldest first."""
    earlier: list[Exchange] = []
    offered: tuple[str, ...] = ()
    for said in turn.transcript:
        if said.speaker == "desk":
            offered = find_offered_options(said.text)
            if earlier and said.source:
                url = said.source.removeprefix(turn.site.url)
                earlier[-1].section = library.number_at(url)
        elif said.speaker == "visitor":
            chosen = _choose(said.text, offered, library).option if offered else None
            earlier.append(Exchange(name_of_choice(chosen, library) if chosen else said.text))
            offered = ()
    return earlier


def _answered(earlier: Sequence[Exchange], before: ReadQuestion, library: Library) -> int | None:
    """Return the section that answered last, or else the best for that question."""
    for exchange in reversed(earlier):
        if exchange.section is not None:
            return exchange.section
    found = find_candidates(library, before)
    return found[0].number if found else None


def _read(question: str, earlier: Sequence[Exchange], library: Library) -> ReadQuestion:
    """Read a question, and carry over what it needs of the one before."""
    asked = read_message(question, library)
    if not earlier:
        return about_business(asked, question, library)
    as_said, question = question, find_speech(question, library.language).plain(question)
    if not points_back(question):
        asked = about_business(asked, as_said, library)
        if asks_for_topics(question):
            return asked
    if all(w.weight <= TELLING or asks_for_code(w.term.word) for w in asked.wanted) and (
        asked.expects & CODE  # "show me an example"
    ):
        asked = msgspec.structs.replace(asked, wanted=())
    # in several sentences, those that lead up to the question count as well
    own = sum(wanted.term.weight > TELLING for wanted in asked.wanted)
    pointing = points_back(question)
    is_fragment = not is_question(question)
    leans = (
        not own
        or _LEANS_ON.match(question) is not None
        or (pointing and own <= _FEW)
        or (own <= _FEWEST and asked.length <= _SHORT and not _ASKS_WHAT.match(question))
    )
    if not leans and own > _FEW:
        return asked
    if leans and asked.expects and not any(w.term.known for w in asked.wanted):
        asked = msgspec.structs.replace(asked, wanted=())  # "how long does it last?"
    before = _read(earlier[-1].question, earlier[:-1], library)
    topic = _answered(earlier, before, library)
    page = None if topic is None else library.pages[topic]
    carried = [wanted for wanted in before.wanted if wanted.term.known]
    replaced = _replaced(question, earlier[-1].question, library) if is_fragment and leans else []
    if replaced:
        is_page = page in library.names.find_documents(s for w in replaced for s in w.own)
        words = {term.word for term in replaced}
        carried = [w for w in carried if w.term.word not in words]
        page = None if is_page else page
    elif not pointing and _names_another(asked, page, library):
        carried = [w for w in carried if page not in library.names.find_documents(w.term.own)]
        page = None
    return msgspec.structs.replace(
        asked,
        wanted=asked.wanted + _scaled(carried, asked.wanted),
        expects=asked.expects or (before.expects if is_fragment and leans else asked.expects),
        document=page,
        section=topic if page else None,
        leans=leans,
        said=f"{before.said} {asked.said}" if leans else asked.said,
    )


def _replaced(fragment: str, before: str, library: Library) -> list[Term]:
    """Return the terms of the earlier question that a fragment replaces.

    "And on Windows?" replaces "a Mac" of "How do I open a share on a Mac?".
    """
    opened = _PREPOSITION.match(fragment)
    if opened is None:
        return []
    told = list(re.finditer(rf"\b{opened[1]}\b", before, re.IGNORECASE))
    if not told:
        return []
    vocabulary = library.vocabulary
    return vocabulary.terms(vocabulary.words(before[told[-1].end() :]))


def _scaled(carried: Sequence[WantedTerm], own: Sequence[WantedTerm]) -> tuple[WantedTerm, ...]:
    """Scale the carried terms so that they do not outweigh the question's words."""
    said = {stem for wanted in own for stem in wanted.term.own}
    carried = [wanted for wanted in carried if said.isdisjoint(wanted.term.own)]
    weight = sum(wanted.weight for wanted in own)
    total = sum(wanted.weight for wanted in carried)
    scale = min(1.0, _CARRIED * weight / total) if weight > TELLING and total else 1.0
    return tuple(
        WantedTerm.of(wanted.term, wanted.factor * scale, carried=True) for wanted in carried
    )


def _names_another(asked: ReadQuestion, page: str | None, library: Library) -> bool:
    """Return whether a question names a page other than the current one."""
    named = library.names.find_named(frozenset(s for w in asked.wanted for s in w.term.own))
    return bool(named) and page not in named


def is_answer(turn: Turn, pending: PendingQuestion, library: Library) -> bool:
    """Return whether a message answers the clarifying question, and is not a new question."""
    reply = read_reply(turn)
    if not read_turn_choice(turn, pending, library).is_free:
        return True
    if turn.clarification is not None:  # a client with one input field for both cannot mark it
        return not is_question(reply) or points_back(reply)
    return "?" not in reply and count_telling_words(read_message(reply, library).wanted) <= _FEW


def read_turn_choice(turn: Turn, pending: PendingQuestion, library: Library) -> Choice:
    """Return the choice among the offered options."""
    return _choose(read_reply(turn), pending.options, library)


def _choose(reply: str, options: Sequence[str], library: Library) -> Choice:
    vocabulary = library.vocabulary
    speech = speech_of(library.language)
    return read_choice(reply, options, speech, vocabulary.stemmer.stem, is_known=vocabulary.knows)


def find_chosen_section(turn: Turn, library: Library) -> tuple[str, str] | None:
    """Return the page and heading that a reply chooses among the offered ones; None for none."""
    if turn.pending is None:
        return None
    option = read_turn_choice(turn, turn.pending, library).option
    return None if option is None else find_section(option, library)


def read_reply(turn: Turn) -> str:
    """Return the reply to the clarifying question."""
    return turn.question if turn.clarification is None else turn.clarification


def merge_clarification(pending: PendingQuestion, reply: str, library: Library) -> ReadQuestion:
    """Read the first question together with a chosen option or the visitor's text.

    The reply takes precedence over the question.
    """
    reply = name_of_choice(reply, library)
    about = read_message(pending.about, library)
    more = read_message(reply, library)
    own = {wanted.term.word for wanted in more.wanted}
    wanted = more.wanted + tuple(w for w in about.wanted if w.term.word not in own)
    document = find_page(reply, library)
    return msgspec.structs.replace(
        about,
        wanted=wanted,
        expects=about.expects | more.expects,
        document=document,
        leans=document is not None,
        said=f"{about.said} {reply}",
    )


def find_page(option: str, library: Library) -> str | None:
    """Return the path of the page that an option names, or None."""
    section = find_section(option, library)
    return None if section is None else section[0]


def find_section(name: str, library: Library) -> tuple[str, str] | None:
    """Return the page or section with this name, of a source or a choice.

    Returns:
        The page's path, and the section's heading, or the empty string for the page as a whole.
    """
    for one in names_in(name):
        if (section := _section_named(one.casefold(), library)) is not None:
            return section
    return None


def name_of_choice(option: str, library: Library) -> str:
    """Return the section's name in an option; any other reply unchanged."""
    names = names_in(option)
    return next((one for one in names if _section_named(one.casefold(), library)), option)


def _section_named(name: str, library: Library) -> tuple[str, str] | None:
    for document in library.documents:
        title = document.title.casefold()
        titles = (title, drop_number(title))
        if name in titles:
            return document.path, ""
        if len(library.documents) > 1 and not name.startswith(tuple(f"{one}:" for one in titles)):
            continue
        for number in library.numbers(document.path):
            label = library.label(number)
            if name in (label.name.casefold(), label.choice.casefold()):
                return document.path, label.heading
    return None
