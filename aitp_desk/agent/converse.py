"""Understanding a question by what was said before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from aitp_desk.agent.base import Pending, Turn, Utterance
from aitp_desk.agent.question import Asked, Wanted, read_question
from aitp_desk.agent.select import find
from aitp_desk.knowledge.library import Library

REACH = 3
"""How many questions back a chain of follow-ups is read."""

_LEANS_ON = re.compile(
    r"^\W*(?:and|or|but|also|then|so|what about|how about|what if|same for|which one|why)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|theirs|one|ones|there|mine|either|neither|"
    r"both|the same|the other|the former|the latter|such)\b",
    re.IGNORECASE,
)
_ASKS_BACKWARDS = re.compile(
    r"\b(?:did|have|had|was|were) (?:i|we|you and i) (?:just |ever |even )?(?:ask|said|say|mention|"
    r"talk|discuss|want|been (?:asking|talking))|\bi (?:just )?asked(?: you)?(?: about)?\W*$|"
    r"\bmy (?:last|previous|first|earlier|original) (?:question|message|query)|"
    r"\bwhat (?:were|are) we (?:talking|discussing)|\bremind me what (?:i|we)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:first|original|at the (?:start|beginning))\b", re.IGNORECASE)

_FRAGMENT_WORDS = 5
_FRAGMENT = (1.0, 0.7, 0.45, 0.25)
"""How much the earlier question's words count in a fragment (``And overnight?``), by how many words
of weight it has itself."""
_CLAUSE = (1.0, 0.45, 0.35, 0.2)
"""The same in a question that is a whole sentence but leans on the one before."""
_PREDICATE = 0.5
_TELLING = 1.0


def asks_about_the_conversation(question: str) -> bool:
    """Whether what is asked for is what was said before: ``What did I just ask about?``."""
    return _ASKS_BACKWARDS.search(question) is not None


def question_meant(question: str, transcript: Sequence[Utterance]) -> str | None:
    """The earlier question that a question about the conversation means, or None."""
    asked = [
        said.text
        for said in transcript
        if said.speaker == "visitor" and not asks_about_the_conversation(said.text)
    ]
    if not asked:
        return None
    return asked[0] if _FIRST.search(question) else asked[-1]


def read_turn(turn: Turn, library: Library) -> Asked:
    """Read a turn's question together with what it leans on."""
    pending = turn.pending
    if pending is not None:
        reply = turn.clarification or turn.question
        if turn.clarification is not None or _answers(reply, pending, library):
            return _clarified(pending, reply, library)
    elif turn.clarification is not None:
        return read_question(f"{turn.question} {turn.clarification}", library.vocabulary)
    earlier = [said.text for said in turn.transcript if said.speaker == "visitor"]
    return _read(turn.question, earlier[-REACH:], library)


def leans_on_earlier(question: str, asked: Asked) -> bool:
    """Whether a question is only understood by the one before it."""
    if _LEANS_ON.match(question):
        return True
    own = _telling(asked)
    return own == 0 or (own <= 2 and _POINTS_BACK.search(question) is not None)


def _read(question: str, earlier: Sequence[str], library: Library) -> Asked:
    asked = read_question(question, library.vocabulary)
    if not earlier or not leans_on_earlier(question, asked):
        return asked
    before = _read(earlier[-1], earlier[:-1], library)
    found = find(library, before)
    page = found[0].passage.document if found else None
    carried = [wanted for wanted in before.wanted if wanted.term.known]
    if page is not None and _names_another(asked, page, library):
        carried = [w for w in carried if page not in library.pages_named(w.term.own)]
        page = None
    is_fragment = len(question.split()) <= _FRAGMENT_WORDS
    factors = _FRAGMENT if is_fragment else _CLAUSE
    factor = factors[min(_telling(asked), len(factors) - 1)]
    own = {wanted.term.word for wanted in asked.wanted}
    # a clause brings its own verb: of the earlier question the topic matters more than what it asked
    rest = factor if is_fragment or not own else factor * _PREDICATE
    return msgspec.structs.replace(
        asked,
        wanted=asked.wanted
        + tuple(
            Wanted(
                wanted.term,
                wanted.factor * (factor if page in library.pages_named(wanted.term.own) else rest),
                carried=True,
            )
            for wanted in carried
            if wanted.term.word not in own
        ),
        expects=asked.expects or (before.expects if is_fragment else asked.expects),
        document=page,
        bare=not _telling(asked),
    )


def _names_another(asked: Asked, page: str, library: Library) -> bool:
    """Whether a question names a page other than the one that was talked about."""
    return any(
        pages and page not in pages
        for wanted in asked.wanted
        if (pages := library.pages_named(wanted.term.own))
    )


def _telling(asked: Asked) -> int:
    """How many of a question's own words say what it is about."""
    return sum(
        wanted.factor >= _TELLING and wanted.term.weight > _TELLING for wanted in asked.wanted
    )


def _answers(reply: str, pending: Pending, library: Library) -> bool:
    """Whether a message answers what was asked back, and is no new question."""
    if _option(reply, pending) is not None:
        return True
    return "?" not in reply and _telling(read_question(reply, library.vocabulary)) <= 3


def _option(reply: str, pending: Pending) -> str | None:
    said = " ".join(reply.casefold().split()).strip(" .!\"'")
    for number, option in enumerate(pending.options, start=1):
        if said in {option.casefold(), str(number)}:
            return option
    return None


def _clarified(pending: Pending, reply: str, library: Library) -> Asked:
    chosen = _option(reply, pending) or reply
    about = read_question(pending.about, library.vocabulary)
    more = read_question(chosen, library.vocabulary)
    own = {wanted.term.word for wanted in more.wanted}
    wanted = more.wanted + tuple(
        wanted for wanted in about.wanted if wanted.term.word not in own
    )
    title = chosen.casefold()
    document = next((d.path for d in library.documents if d.title.casefold() == title), None)
    return msgspec.structs.replace(
        about, wanted=wanted, expects=about.expects | more.expects, document=document
    )
