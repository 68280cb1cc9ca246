"""Selects the passages for a model's prompt, and how much of each.

Every token that is sent costs money and time, and irrelevant text distracts. So fewer passages are
sent the surer the best one is. A section is sent whole if it is short; of a longer one only the
stretch that answers best is, more of the best one. No sentence, row or code block is cut. The title
and address of a page are sent once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from aitp_desk.agent.base import Turn
from aitp_desk.agent.extractive.dialogue.context import (
    asks_about_the_conversation,
    find_meant_question,
    limit_turn,
    read_message,
    read_turn,
)
from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm, shorten_message
from aitp_desk.agent.extractive.quote import Stretch
from aitp_desk.agent.extractive.selection import Candidate, find_candidates
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.documents.chunks import join_units
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.tokenizer import NEGATIONS, STOP_WORDS, split_words

# Found on the tuning questions (tests/answers). Any of them moved by a fifth loses at most two
# facts of 148; the whole sections of docs/contribute/answers.md are nearer to the edge.
_SURE, _UNSURE = 0.75, 0.2
"""A passage worth less than this share of the best is left out: if the best surely answers, and if
not.
"""
_SAME_SECTION = 0.55
"""The same for the parts of a section that the question names."""
_HEADING = 0.5
"""How much more a passage is worth if its heading names everything asked for."""
_NEIGHBOUR = 0.3
"""How much of a neighbour's worth counts in a passage's order, if the best is not sure at all."""

_SHORT, _BEST, _OTHER = 150, 300, 200
"""Up to how many tokens a passage is sent whole: any, the best, and one of which most is needed. As
many of a longer best one are sent.
"""
_MOSTLY = 0.6
_CUT, _CUT_ASKED = 120, 80
"""About how many tokens of any other longer one are sent; fewer if an enrichment question like the
visitor's shows which unit answers.
"""

_FRAME, _FURTHER_FRAME = 12, 6
"""Tokens around a page's first excerpt in a prompt, without its title and address, and around a
further one, without its heading.
"""
_GAP, _GAPS = "…", 4
"""Replaces omitted units; the tokens of two."""
_OPAQUE = re.compile(r"[A-Za-z0-9]{24,}")
_SIGN = re.compile(r"[^\w\s]")


class Excerpt(msgspec.Struct, frozen=True):
    """A passage, or its relevant part, for a model's prompt.

    Parameters:
        passage: its source.
        text: whole units of the passage in order; omitted ones are replaced by a line ``…``.
    """

    passage: Passage
    text: str


class PageExcerpts(msgspec.Struct, frozen=True):
    """The excerpts of one page. A prompt names the page once, and below it their sections."""

    excerpts: tuple[Excerpt, ...]

    @property
    def url(self) -> str:
        """Address of the page; of a single excerpt that of its section."""
        url = self.excerpts[0].passage.url
        return url if len(self.excerpts) == 1 else url.partition("#")[0]

    @property
    def title(self) -> str:
        """Title of the page; of a single excerpt with that of its section."""
        passage = self.excerpts[0].passage
        if len(self.excerpts) > 1:
            return passage.title
        above = _negating(passage)
        return f"{passage.title}: {_section(passage)}" if above else passage.name

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the excerpts; of several each begins with the name of its section."""
        if len(self.excerpts) == 1:
            return (self.excerpts[0].text,)
        named = ((_section(excerpt.passage), excerpt.text) for excerpt in self.excerpts)
        return tuple(f"# {section}\n{text}" if section else text for section, text in named)


def group_by_page(excerpts: Iterable[Excerpt]) -> list[PageExcerpts]:
    """Return the excerpts by their pages, in the order of the first of each."""
    pages: dict[str, tuple[Excerpt, ...]] = {}
    for excerpt in excerpts:
        page = excerpt.passage.document
        pages[page] = (*pages.get(page, ()), excerpt)
    return [PageExcerpts(page) for page in pages.values()]


def _section(passage: Passage) -> str:
    """Return what a passage's name adds to the page's title: a heading, or the page of a PDF.

    A heading above comes before it if it negates: the text would read as its contrary without.
    """
    own = passage.name.removeprefix(passage.title).lstrip(":, ")
    return " > ".join([*_negating(passage), own])


def _negating(passage: Passage) -> list[str]:
    """Return the headings above a passage that negate."""
    return [above for above in passage.trail[:-1] if not NEGATIONS.isdisjoint(_words(above))]


def choose_excerpts(turn: Turn, library: Library, *, room: int) -> tuple[Excerpt, ...]:
    """Return the excerpts that answer a turn, the best first.

    Parameters:
        turn: read in its conversation, as the extractive agent reads it.
        room: the most tokens, estimated, including titles and addresses.

    Returns:
        The excerpts; none if no word of the question is known or nothing fits.
    """
    turn = limit_turn(turn, library)
    if asks_about_the_conversation(turn.question, library):
        meant = find_meant_question(turn.question, turn.transcript, library)
        return search_excerpts(meant, library, room=room) if meant else ()
    return _fill(read_turn(turn, library), library, room)


def search_excerpts(query: str, library: Library, *, room: int) -> tuple[Excerpt, ...]:
    """Return the excerpts for a search query of the model.

    As :func:`choose_excerpts` returns them for a question.
    """
    return _fill(read_message(shorten_message(query), library), library, room)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text by its letters and signs, without a tokenizer.

    Fitted to the encoding cl100k over the documentation of protocols and the pages of a shop.
    Letters beyond ASCII count about as much as their bytes do, and runs that are not words (keys,
    digests, base64) about three times as much as words.
    """
    beyond = 0 if text.isascii() else len(text.encode()) - len(text)
    opaque = sum(map(len, _OPAQUE.findall(text)))
    return (20 * len(text) + 50 * len(_SIGN.findall(text)) + 35 * beyond + 45 * opaque) // 100 + 1


class _ScoredPassage(msgspec.Struct, frozen=True):
    """A found passage, and how its headings match the question.

    Parameters:
        worth: its score, higher the more its headings match.
        named: the share of the question that its heading covers, or the share that a heading above
            covers if the question names it whole.
        section: document and headings of the section that the question names whole, or None.
    """

    found: Candidate
    worth: float
    named: float
    section: tuple[str, ...] | None


def _fill(asked: ReadQuestion, library: Library, room: int) -> tuple[Excerpt, ...]:
    """Add found passages while they are worth it and fit."""
    ranked = _weigh(asked, library)
    if not ranked:
        return ()
    best = ranked[0]
    least = best.worth * (_UNSURE + (_SURE - _UNSURE) * _sureness(best) ** 3)
    least_of_section = min(least, best.worth * _SAME_SECTION)
    chosen: list[Excerpt] = []
    pages: set[str] = set()
    for weighed in ranked:
        is_part = weighed.section is not None and weighed.section == best.section
        if weighed.worth < (least_of_section if is_part else least):
            continue
        passage = weighed.found.passage
        left = room - _estimate_frame(passage, is_further=passage.document in pages)
        if left <= 0:
            continue
        text, size = _text(weighed, left, is_best=weighed is best)
        if size <= left:
            chosen.append(Excerpt(passage, text))
            pages.add(passage.document)
            room = left - size
    return tuple(chosen)


def _estimate_frame(passage: Passage, *, is_further: bool) -> int:
    """Estimate what surrounds an excerpt: its name and address; of a page's further ones less."""
    if is_further:
        return _FURTHER_FRAME + estimate_tokens(_section(passage))
    return _FRAME + estimate_tokens(f"{passage.title} {_section(passage)} {passage.url}")


def _weigh(asked: ReadQuestion, library: Library) -> list[_ScoredPassage]:
    """Return what was found for a question, the most worth first."""
    stem = library.vocabulary.stemmer.stem
    total = sum(wanted.weight for wanted in asked.wanted) or 1.0
    named_by = {own for wanted in asked.wanted for own in wanted.term.own}
    ranked = []
    for found in find_candidates(library, asked, widely=True):
        passage = found.passage
        said = [asked.wanted[at] for at, place in found.places.items() if place.heading]
        named, section = 0.0, None
        if said:
            named = _said_by({stem(word) for word in _words(passage.heading)}, said) / total
            for at, heading in enumerate(passage.trail, start=1):
                stems = {stem(word) for word in _words(heading) if _tells(word)}
                if stems and stems <= named_by:
                    named = max(named, _said_by(stems, said) / total)
                    section = (passage.document, *passage.trail[:at])
        worth = found.rank * (1 + _HEADING * named)
        ranked.append(_ScoredPassage(found, worth, named, section))
    ranked.sort(key=_by_worth, reverse=True)
    return _prefer_neighbours(ranked)


def _prefer_neighbours(ranked: list[_ScoredPassage]) -> list[_ScoredPassage]:
    """Move passages forward that stand next to one that fits.

    They go on about the same in other words. It counts less if the best passage surely answers, and
    not with meaning, which finds them by itself.
    """
    if not ranked or ranked[0].found.signals:
        return ranked
    share = _NEIGHBOUR * (1 - _sureness(ranked[0]))
    worths = {(one.found.page, one.found.number): one.worth for one in ranked}

    def key(one: _ScoredPassage) -> float:
        near = (worths.get((one.found.page, one.found.number + step), 0.0) for step in (-1, 1))
        return one.worth + share * max(near)

    return sorted(ranked, key=key, reverse=True)


def _sureness(best: _ScoredPassage) -> float:
    """Return how surely a passage answers, 0 to 1."""
    return min(best.found.fit, 1.0) * best.found.coverage


def _said_by(stems: set[str], wanted: Iterable[WantedTerm]) -> float:
    """Return how much of the question a heading covers, as weight."""
    said = 0.0
    for one in wanted:
        means = one.term.stems
        said += one.weight * max((means[stem] for stem in stems if stem in means), default=0.0)
    return said


@lru_cache(maxsize=4096)
def _words(heading: str) -> tuple[str, ...]:
    return tuple(split_words(heading))


def _tells(word: str) -> bool:
    """Return whether a word of a heading is informative: ``7. Content Signals`` has two such."""
    return not word.isdigit() and word not in STOP_WORDS


def _text(weighed: _ScoredPassage, room: int, *, is_best: bool) -> tuple[str, int]:
    """Return the part of a passage that is sent, and its size in tokens."""
    text = weighed.found.passage.text
    size = estimate_tokens(text)
    if size <= min(room, _BEST if is_best else _SHORT):
        return text, size
    per_letter = size / len(text)
    units = weighed.found.passage.units
    cut = _BEST if is_best else _CUT if weighed.found.match is None else _CUT_ASKED
    limit = max(1, int(min(cut, room - _GAPS) / per_letter))
    chosen = Stretch(weighed.found, limit, is_strict=room < cut).units
    needed = sum(len(units[at].text) for at in chosen) * per_letter
    if needed >= _MOSTLY * size and size <= min(room, _OTHER):
        return text, size
    text = _with_gaps(weighed.found.passage, chosen)
    return text, estimate_tokens(text)


def _with_gaps(passage: Passage, chosen: Sequence[int]) -> str:
    """Return some units of a passage as text, with a mark for omitted ones."""
    runs: list[list[int]] = []
    for at in chosen:
        if runs and at == runs[-1][-1] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    parts = [join_units([passage.units[at] for at in run]) for run in runs]
    if chosen[0] > 0:
        parts.insert(0, "")
    if chosen[-1] < len(passage.units) - 1:
        parts.append("")
    return f"\n{_GAP}\n".join(parts).strip("\n")


def _by_worth(weighed: _ScoredPassage) -> float:
    return weighed.worth
