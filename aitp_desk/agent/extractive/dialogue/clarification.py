"""Decides when a question is ambiguous between sections, and asks back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.agent.base import Clarification, PendingQuestion, Utterance
from aitp_desk.agent.extractive.dialogue.options import reading_of
from aitp_desk.agent.extractive.question import ReadQuestion, is_question, points_back
from aitp_desk.agent.extractive.quote import is_same_answer
from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.documents.genre import HOW
from aitp_desk.knowledge.documents.titles import HOMES, drop_number
from aitp_desk.knowledge.index.term_places import NOWHERE
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.vocabulary import OWN

MAX_OPTIONS = 4
MANY_PAGES = 150
MAX_TERMS = 3
"""A question with more weighty words is specific enough."""

_BEGINS = "Do you mean "
_CLOSE, _CLOSE_AMONG_MANY = 0.9, 0.95
"""How near another page must come to the first if its headings or title match the question."""
_SAME, _OF_A_KIND = 0.98, 0.7
"""How near any other page must come, and one with the thing's name in its title."""
_MOSTLY = 0.5
_MOST = 0.25
"""A word is significant with this share of the weight of the rarest word."""
_COVERAGE, _FIT = 0.78, 0.78
_CALLED = 0.9
"""The share of the words of a section's headings that the question has if it asks for that section.
"""
_CLOSE_WITHOUT_A_NOUN, _ALIKE_WITHOUT_A_NOUN = 0.5, 0.6
"""The same if the question says "it" and nothing before could be meant."""
_IS_THERE = re.compile(
    r"(?:is|are|will) there\b|(?:do|does|will) (?:you|they|it|we) (?:have|offer|sell|serve)\b",
    re.IGNORECASE,
)
"""Each section that has the thing answers "Is there parking?": none needs to be chosen."""
_OPTION = re.compile(r"“([^”]+)”")
_NUMBERED = re.compile(r"\d+\. (.+)")


def ask_back(
    asked: ReadQuestion, rivals: Sequence[Candidate], library: Library
) -> Clarification | None:
    """Return a clarifying question if several readings answer and none is clearly best.

    Parameters:
        rivals: of :func:`rivals_of`.
    """
    if len(rivals) < 2 or _IS_THERE.match(asked.text) or not _is_open(asked, rivals):
        return None
    is_thing = points_back(asked.text) or all(map(_is_titled, rivals))
    names = [reading_of(rival, library, is_thing=is_thing) for rival in rivals]
    options = tuple(dict.fromkeys(names))[:MAX_OPTIONS]
    if len(options) < 2:
        return None
    speech = speech_of(library.language)
    return Clarification(speech.says.mean.format(options=speech.quote(options)), options)


def _is_open(asked: ReadQuestion, rivals: Sequence[Candidate]) -> bool:
    """Return whether each reading has a separate answer: things of a kind, or an unnamed thing.

    A question with at most one weighty word may mean anything with that name. Sections that differ
    otherwise mostly hold parts of one answer, or one of them is meant: the first is quoted, and the
    others are offered.
    """
    if len({drop_number(rival.label.heading).casefold() for rival in rivals}) == 1:
        return not asked.prefers & HOW
    titled = list(map(_is_titled, rivals))
    if points_back(asked.text):
        # on a page with that title "it" is its subject, and so is the site in "does it support
        # tables"
        # so it is if the home page has a section that is called so
        is_of_site = rivals[0].page.lower() in HOMES and _is_called_so(rivals[0])
        return len(asked.wanted) < 2 and not any(titled) and not is_of_site
    titles = {rival.passage.title for rival in rivals}
    if len(titles) == len(rivals) and all(titled) and all(rival.expected for rival in rivals):
        return True
    if asked.prefers & HOW:
        return False
    if all(rival.label.heading in {"", rival.passage.title} for rival in rivals):
        return True
    return len(_telling(asked)) < 2 and all(map(_is_headed, rivals))


def _telling(asked: ReadQuestion) -> list[int]:
    """Return the positions of the most significant words of a question."""
    own = [(at, wanted.weight) for at, wanted in enumerate(asked.wanted) if wanted.factor >= 1]
    most = max((weight for _, weight in own), default=0.0)
    return [at for at, weight in own if weight >= _MOST * most]


def _is_titled(found: Candidate) -> bool:
    """Return whether a page's title has one of the words of the question."""
    places = [
        found.places.get(at, NOWHERE) for at, w in enumerate(found.asked.wanted) if w.factor >= 1
    ]
    return any(place.title >= OWN for place in places)


def _is_headed(found: Candidate) -> bool:
    """Return whether a section's headings have the most significant words of the question."""
    return any(found.places.get(at, NOWHERE).heading >= OWN for at in _telling(found.asked))


def _is_called_so(found: Candidate) -> bool:
    """Return whether a section is called what is asked for, and nothing else."""
    whole = found.question.library.ranking.heading_weights[found.number]
    return sum(place.said for place in found.places.values()) >= _CALLED * whole > 0


def rivals_of(
    asked: ReadQuestion, found: Sequence[Candidate], library: Library
) -> Sequence[Candidate]:
    """Return the sections of several pages that answer a short question equally, best first.

    Those whose headings or titles match the question equally well, or all pages that may be meant
    if the question says "it" without an antecedent. Key words (``phone number``) are looked up and
    have none; nor has a follow-up, which has its topic from the conversation.

    Parameters:
        found: ordered by words.
    """
    own = [wanted for wanted in asked.wanted if wanted.factor >= 1]
    if asked.document is not None or len(own) > MAX_TERMS or not is_question(asked.text):
        return ()
    if not found:
        return ()
    first = found[0]
    dangling = len(own) < MAX_TERMS and points_back(asked.text)
    close = _CLOSE_WITHOUT_A_NOUN if dangling else _OF_A_KIND
    best: dict[str, Candidate] = {}
    for candidate in found:
        if candidate.score < close * first.score:
            break
        best.setdefault(candidate.page, candidate)
    if len(best) < 2:  # nothing comes near the first, as is usual
        return ()
    coverage, fit = (_ALIKE_WITHOUT_A_NOUN,) * 2 if dangling else (_COVERAGE, _FIT)
    rivals = [
        candidate
        for candidate in best.values()
        if candidate.coverage >= coverage
        and candidate.fit >= fit * first.fit
        and candidate.expected == first.expected
        and (dangling or candidate.score >= _closeness(candidate, asked) * first.score)
    ]
    if first not in rivals:
        return ()
    rivals = [rival for rival in rivals if rival is first or not is_same_answer(rival, first)]
    # a page that the question names or that has that title is meant, best that title alone; else
    # those with its words
    rivals = [rival for rival in rivals if not rival.strayed] or rivals
    if first.called and not dangling:
        rivals = [rival for rival in rivals if rival.called]
        lengths = library.names.title_words
        rivals = [rival for rival in rivals if lengths[rival.page] == len(own)] or rivals
    titled = [rival for rival in rivals if any(p.title >= OWN for p in rival.places.values())]
    if len(titled) > 1:
        rivals = titled
    if len(library.documents) > MANY_PAGES:
        said = [at for at, wanted in enumerate(asked.wanted) if wanted.factor >= 1]
        rivals = [
            rival
            for rival in rivals
            if rival.score >= _CLOSE_AMONG_MANY * first.score
            and all(at in rival.places and rival.places[at].title >= OWN for at in said)
        ]
    return rivals


def _closeness(found: Candidate, asked: ReadQuestion) -> float:
    """Return the share of the best score that a section must reach.

    It depends on the section's heading and title.
    """
    own = [(at, wanted.weight) for at, wanted in enumerate(asked.wanted) if wanted.factor >= 1]
    places = found.places
    titled = sum([weight for at, weight in own if places.get(at, NOWHERE).title >= OWN])
    if titled > _MOSTLY * sum([weight for _, weight in own]):
        return _OF_A_KIND
    return _CLOSE if any(place.heading >= OWN for place in places.values()) else _SAME


def find_asked_before(transcript: Sequence[Utterance]) -> PendingQuestion | None:
    """Return the desk's last clarifying question, from a conversation without such a record."""
    if len(transcript) < 2 or transcript[-1].speaker != "desk":
        return None
    question = transcript[-1].text
    if not question.startswith(_BEGINS):
        return None
    options = tuple(_OPTION.findall(question))
    about = None
    for said in reversed(
        transcript
    ):  # it may have been repeated since, or been asked before with more options
        if said.speaker == "visitor":
            about = said.text
        elif not said.text.startswith(_BEGINS) or not set(_OPTION.findall(said.text)) >= {*options}:
            break
    return PendingQuestion(about, question, options) if about else None


def find_earlier_offer(transcript: Sequence[Utterance]) -> PendingQuestion | None:
    """Return the last offered choice, if the desk has only answered once since then.

    A visitor who chose one of several may choose another.
    """
    desk = [at for at, said in enumerate(transcript) if said.speaker == "desk"][-2:]
    for at in reversed(desk):
        asked = transcript[at].text
        if options := find_offered_options(asked):
            said = (one.text for one in reversed(transcript[:at]) if one.speaker == "visitor")
            about = next(said, None)
            return PendingQuestion(about, split_question(asked)[0], options) if about else None
    return None


def find_offered_options(said: str) -> tuple[str, ...]:
    """Return the options below a question of the desk; none without such a list."""
    question, options = split_question(said)
    return options if question.endswith("?") else ()


def split_question(asked: str) -> tuple[str, tuple[str, ...]]:
    """Split a clarifying question, as it was written, from the numbered options below it."""
    question, *lines = asked.split("\n")
    return question, tuple(found[1] for line in lines if (found := _NUMBERED.fullmatch(line)))
