"""Selects the part of a section to quote. It is readable without the rest of the section.

An answer is one contiguous stretch of the best section: its paragraphs, a list with the sentence
that announces it, code with the sentence before it, the relevant rows of a table. Sections that
score nearly as high share the length with it, below their names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import log

from aitp_desk.agent.extractive.closeness import measure_closeness
from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.knowledge.documents.base import Passage, Unit
from aitp_desk.knowledge.documents.chunks import LEAD_IN_ENDINGS, join_units
from aitp_desk.knowledge.documents.genre import CODE
from aitp_desk.knowledge.documents.sentences import CAPTION
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.tokenizer import NEGATIONS, STOP_WORDS, fold_text, split_words

_NEAR = 0.7
"""A further section is quoted with at least this share of the first one's score."""
_ALL, _ALONE = 1.3, 1.15
"""The length of all stretches together, and of one at most, as factors."""
_LOSS, _LOSS_FUSED = 3.0, 6.0
"""A section gets less length the lower its score relative to the first: this times the logarithm of
its share. That maximises the gain of a length of which each further part gains less. Fused scores
lie nearer to each other.
"""
_HEADING_ROOM = 30
_FURTHER, _LEAST = 2, 120
"""The most further sections that are quoted, and the fewest characters of each."""

_WHOLE = 1.15
"""A section that is at most longer by this factor is quoted whole."""
_OVER = 1.3
"""By this factor a stretch may grow for what its last sentence announces."""
_BEFORE = 0.6
"""A list is quoted from its first item if the match is in this share of the length."""
_ROW = 0.5
"""A row is quoted that fits this well, the best of its table being 1."""
_HALF = 0.5
"""A unit fits the question that fits this well, the best of its section being 1."""
_SHORT = 0.5
"""A section that takes less than this share of the length is followed by its subsections."""
_ANCHOR = 0.3
"""A stretch may be around any unit that fits this well, the best one being 1."""
_FULL = 0.6
"""A stretch up to the end of its section takes at least this share of the length."""
_FIT, _SHARE, _FILLED = 0.5, 0.5, 0.15
"""The weights of a stretch's best unit, of its share of all that fits in the section, and of how
much of the length it takes; covering the whole question counts 1.
"""
_CHANGE = 0.3
"""The weight of a note on a version's change, relative to a sentence on the current state."""
_CLOSE = 4.0
"""The weight of the mean cosine of its characters, if the meaning is known."""
_STEPS = 0.3
"""The weight of code for a question about a procedure."""
_HEADING_CHARACTERS = 90

_LEANS = (
    "This ", "That ", "These ", "Those ", "It ", "They ", "Such ", "However", "But ", "Otherwise",
    "Therefore", "Thus ", "Hence ", "Instead", "In this case", "Also", "So ", "Then ",
)  # fmt: skip
"""A sentence with this beginning depends on the one before."""
_ENDS = (".", "!", "?", "…", ":", ")", '"', "”", "。", "！", "？", "」")
"""A paragraph with another ending is a label."""
_LABEL = re.compile(
    r"(?:new|added|changed|deprecated|removed) (?:in|since) |see also\b|availability:",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:if|when|unless|before|after|without|only|on|for|in case|using|with|until|wenn|falls|vor|"
    r"nach|ohne|nur|unter|bei)\b",
    re.IGNORECASE,
)
_REPLY = re.compile(r"(?:yes|no|ja|nein|sure|of course|that depends|it depends)\b", re.IGNORECASE)
"""A unit with this beginning answers the question in its heading."""
_GENERAL = frozenset(
    "about background basic basics conclusion default defaults description detail details "
    "documentation example examples features further general information introduction more note "
    "notes options overview parameter parameters reference remarks return returns section summary "
    "syntax usage use".split()
)
"""Words of headings that do not change the meaning of the text below."""
_BARE = ("- ", "```")
"""A list or code with nothing before it is announced by its heading."""
_GAP = "…"
_MARKS = {"sentence": 2, "item": 3}
"""How many characters joining adds to a unit."""


def compose_answer(found: Sequence[Candidate], library: Library, limit: int, *, most: int) -> str:
    """Return the text of an answer.

    Parameters:
        found: the sections that fit, best first; at least one.
        limit: about how many characters the first stretch takes.
        most: the most characters of the answer; further sections that do not fit are left out.
    """
    first, passage = found[0], found[0].passage
    near = [first, *(other for other in found[1:] if other.rank >= _NEAR * first.rank > 0)]
    total, longest = min(int(_ALL * limit), most), int(_ALONE * limit)
    loss = _LOSS_FUSED if first.signals else _LOSS
    same, others, own, text = dict[int, str](), list[str](), "", ""
    for place, one in enumerate(near):
        still = 1 + _FURTHER - len(same) - len(others)
        if not still:
            break
        left = total - len(text)
        ranks = [other.rank for other in near[place : place + still]]
        room = min(_room(ranks, left, loss * limit), longest)
        if not place:
            stretch = Stretch(one, room, is_filled=True)
            told = stretch.text
            if stretch.is_whole and len(told) < room * _SHORT:
                told += _subsections(passage, library, room - len(told))
            same[one.number] = _marked(told)
        else:
            name = _name(one, first)
            left -= len(_under(name, "\n\n\n")) if name else 2
            room = min(room, left)
            if room < _LEAST:
                continue
            told = Stretch(one, room, is_strict=True).text
            if len(told) > left or told in text or told.endswith(LEAD_IN_ENDINGS):
                continue
            if any(is_same_answer(one, better) for better in near[:place]):
                continue
            if told.startswith(f"{one.label.heading}:") and name != one.label.heading:
                name = one.passage.title  # a definition begins with its term
            if one.label == first.label:
                same[one.number] = told
            else:
                others.append(_under(name, told))
        if one.number in same:
            told = f"\n{_GAP}\n".join(same[number] for number in sorted(same))
            own = _headed(first, passage, told)
        text = "\n\n".join([own, *others])
    return text


def _room(ranks: Sequence[float], total: int, loss: float) -> int:
    """Return the maximum length of the first quotation. The other sections keep enough."""
    for count in range(len(ranks), 1, -1):
        lost = [loss * log(ranks[0] / rank) for rank in ranks[:count]]
        room = (total - _HEADING_ROOM * (count - 1) + sum(lost)) / count
        if room - max(lost) >= _LEAST:
            return int(room)
    return total


def _name(found: Candidate, first: Candidate) -> str:
    """Return a further section's name in the answer; empty if it continues the first."""
    if found.label == first.label:
        return ""
    heading = found.label.heading if found.page == first.page else ""
    return heading or found.label.name


def quote_section(found: Candidate, limit: int) -> str:
    """Return the part of a section that best covers the question. The heading is not included."""
    return _marked(Stretch(found, limit).text)


def quote_sentence(found: Candidate) -> str:
    """Return the sentence of a section that fits the question best."""
    fits = found.fits()
    return found.passage.units[fits.index(max(fits))].text if fits else ""


def is_same_answer(found: Candidate, better: Candidate) -> bool:
    """Return whether a better section says all that fits in this one."""
    fits = found.fits()
    least = _HALF * max(fits, default=0.0)
    fitting = [unit for fit, unit in zip(fits, found.passage.units, strict=True) if fit >= least]
    return bool(fitting) and all(unit.text in better.passage.text for unit in fitting)


class Stretch:
    """The stretch of one section that answers best.

    Parameters:
        limit: about how many characters it takes; it grows past that for what its end announces.
        is_filled: whether it begins earlier if the section ends before that.

    Attributes:
        units: numbers of the quoted units, in order.
        text: their text.
        is_whole: whether these are all units of the section.
    """

    def __init__(
        self, found: Candidate, limit: int, *, is_strict: bool = False, is_filled: bool = False
    ) -> None:
        self._units = units = found.passage.units
        self._limit = limit
        self._is_filled = is_filled
        self._most = limit if is_strict else limit * _OVER
        self._sizes = [len(unit.text) + _MARKS.get(unit.kind, 1) for unit in units]
        self._ends = [*accumulate(self._sizes, initial=0)]
        if self._ends[-1] <= (limit if is_strict else limit * _WHOLE):
            self.units: Sequence[int] = range(len(units))
        else:
            self.units = self._chosen(found)
        self.is_whole = len(self.units) == len(units)
        parts: list[list[Unit]] = []
        for place, at in enumerate(self.units):
            if not place or (at != self.units[place - 1] + 1 and units[at].kind != "row"):
                parts.append([])
            parts[-1].append(units[at])
        self.text = f"\n{_GAP}\n".join(map(join_units, parts))

    def _chosen(self, found: Candidate) -> list[int]:
        fits = [
            fit * _relevance(unit.text) if fit else fit
            for fit, unit in zip(found.fits(), self._units, strict=True)
        ]
        best = fits.index(max(fits))
        is_known = found.is_named or found.match is not None
        if found.is_named:
            best = 0
        if self._units[best].kind == "row":
            return self._rows(best, fits)
        code: set[int] = set()
        if found.asked.prefers & CODE:
            code.update(at for at, unit in enumerate(self._units) if unit.kind == "code")
        anchors = sorted(code.union([best] if is_known else self._anchors(fits)))
        grown = (self._grown(self._start(anchor), anchor) for anchor in anchors)
        windows = list({tuple(window): window for window in grown}.values())
        if len(windows) == 1:
            return windows[0]
        sizes, total = self._sizes, sum(fits) or 1.0
        close = measure_closeness(found)
        chosen, most = windows[0], float("-inf")
        for window in windows:
            told = [fits[at] for at in window]
            value = found.worth(window) + _FIT * max(told) + _SHARE * sum(told) / total
            value += _FILLED * min(1.0, sum([sizes[at] for at in window]) / self._limit)
            if close:
                lacking = [close[at] * sizes[at] for at in window]
                value += _CLOSE * sum(lacking) / sum([sizes[at] for at in window])
            if code.intersection(window):
                value += _STEPS
            if value > most:
                chosen, most = window, value
        return chosen

    def _anchors(self, fits: Sequence[float]) -> list[int]:
        """Return the units that a stretch may be around."""
        least = _ANCHOR * max(fits)
        return [
            at for at, unit in enumerate(self._units) if fits[at] >= least and unit.kind != "row"
        ]

    def _start(self, at: int) -> int:
        """Return where the block of a unit begins, or what announces that block."""
        while at > 0 and not self._units[at].opens:
            at -= 1
        return self._lead(at)

    def _lead(self, at: int) -> int:
        """Return where the announcement of a block begins, or the block itself."""
        unit = self._units[at]
        leans = unit.kind != "sentence" or unit.text.startswith(_LEANS)
        return at - 1 if leans and at > 0 and self._units[at - 1].kind == "sentence" else at

    def _grown(self, start: int, best: int) -> list[int]:
        """Extend a quotation around the best unit, within the length."""
        units, ends, limit = self._units, self._ends, self._limit
        first = best if ends[best] - ends[start] > limit * _BEFORE else start
        window = [start] if first != start and units[start].kind != "code" else []
        if window and self._is_named_above(best):
            window.append(best - 1)
        if first != start and units[best].kind == "sentence" and not units[best].opens:
            window, first = [], max(start, best - (units[best].text.startswith(_LEANS)))
        size = sum([self._sizes[at] for at in window])
        past = max(best + 1, bisect_right(ends, limit - size + ends[first]) - 1)
        is_short = ends[past] - ends[first] < limit * _FULL
        if is_short and past == len(units) and not window and self._is_filled:
            first = self._filled(first)
        window += range(first, past)
        size += ends[past] - ends[first]
        return self._ended(window, size, best)

    def _filled(self, first: int) -> int:
        """Return where the paragraphs begin that fill the length up to the section's end."""
        ends = self._ends
        earlier = (
            at
            for at in range(first)
            if self._units[at].opens and ends[-1] - ends[self._lead(at)] <= self._limit
        )
        return self._lead(next(earlier, first))

    def _is_named_above(self, at: int) -> bool:
        """Return whether a unit belongs to the item above it."""
        units = self._units
        return at > 1 and units[at - 1].kind == "item" and units[at].lead == units[at - 1].text

    def _ended(self, window: list[int], size: int, best: int) -> list[int]:
        """Return the window without an end that announces something missing."""
        units = self._units
        after = window[-1] + 1
        if after < len(units) and units[window[-1]].text.endswith(LEAD_IN_ENDINGS):
            if size + self._sizes[after] <= self._most:
                return [*window, after]
            if window[-1] == best:
                return [best, after]
        while len(window) > 1 and window[-1] != best and self._announces(window[-1]):
            window = window[:-1]
        return window

    def _announces(self, at: int) -> bool:
        """Return whether a unit needs the next one: a lead-in, a label, an item's name."""
        unit = self._units[at]
        if unit.text.endswith(LEAD_IN_ENDINGS):
            return True
        if unit.kind == "item":
            return at + 1 < len(self._units) and self._units[at + 1].lead == unit.text
        return unit.kind == "sentence" and unit.opens and not unit.text.endswith(_ENDS)

    def _rows(self, best: int, fits: Sequence[float]) -> list[int]:
        """Return the relevant rows of a table, with the sentence that announces it."""
        units, sizes, ends = self._units, self._sizes, self._ends
        start = best
        while start > 0 and not units[start].opens:
            start -= 1
        end = best + 1
        while end < len(units) and units[end].kind == "row" and not units[end].opens:
            end += 1
        lead = self._lead(start)
        if ends[start] - ends[lead] > self._limit / 2:
            lead = start
        chosen = {best, *range(lead, start)}
        room = self._limit - sum([sizes[at] for at in chosen])
        least = 0.0 if ends[end] - ends[start] <= room else _ROW * fits[best]
        for at in sorted(range(start, end), key=lambda at: (-fits[at], at)):
            if at not in chosen and fits[at] >= least and sizes[at] <= room:
                chosen.add(at)
                room -= sizes[at]
        return sorted(chosen)


def _relevance(text: str) -> float:
    """Return the weight of a unit as what a stretch is around; none of a caption."""
    caption = CAPTION.match(text)
    if caption and text[caption.end() :][:1] in {"", ".", ":"}:
        return 0.0
    return _CHANGE if _LABEL.match(text) else 1.0


def _subsections(passage: Passage, library: Library, room: int) -> str:
    """Return the text below a section that is only a lead-in, with the headings."""
    text = ""
    for number in library.numbers(passage.document):
        if number <= passage.number:
            continue
        below = library.passages[number]
        is_same = below.anchor == passage.anchor and below.heading == passage.heading
        is_part = len(below.trail) > len(passage.trail)
        if not is_same and (not is_part or below.trail[: len(passage.trail)] != passage.trail):
            break
        size = 0
        units = []
        for unit in below.units:
            if size + len(unit.text) > room:
                break
            units.append(unit)
            size += len(unit.text) + 1
        while units and units[-1].text.endswith(LEAD_IN_ENDINGS):
            units.pop()
        if not units:
            break
        part = join_units(units)
        text += "\n\n" + (part if is_same else _under(below.heading, part))
        room -= size + len(below.heading)
        if len(units) < len(below.units):
            break
    return text


def _marked(text: str) -> str:
    """Mark a text as cut if it ends with an announcement of something missing."""
    return f"{text} {_GAP}" if text.endswith(LEAD_IN_ENDINGS) else text


def _headed(found: Candidate, passage: Passage, text: str) -> str:
    """Put a heading before a text that would be misunderstood without it."""
    if not passage.heading or passage.heading == passage.title or text.startswith(passage.heading):
        return text
    is_needed, adds = _read_heading(passage.heading)
    if _REPLY.match(text) or (adds and (text.startswith(_BARE) or text[:1].islower())):
        is_needed = True
    elif not is_needed and adds:
        left = [word for word in adds if not found.asks_for(word)]
        said = fold_text(text) if left else ""
        is_needed = any(word not in said for word in left)
    return _under(passage.heading, text) if is_needed else text


@lru_cache(maxsize=4096)
def _read_heading(heading: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a text needs its heading, and which words it adds."""
    heading = drop_number(heading)
    if len(heading) > _HEADING_CHARACTERS:
        return False, ()
    words = split_words(heading)
    if not NEGATIONS.isdisjoint(words) or _CONDITION.match(heading):
        return True, ()
    return False, tuple(
        word
        for word in words
        if not word.isdigit() and word not in STOP_WORDS and word not in _GENERAL
    )


def _under(heading: str, text: str) -> str:
    """Return a text below its heading."""
    heading = drop_number(heading).rstrip(":")
    if not heading.endswith("..."):
        heading = heading.rstrip("!.")  # "Get in touch!:" has one sign too many
    if text.startswith(f"{heading}:"):  # a definition begins with its term
        return text
    is_line = "\n" not in text and not text.startswith(("- ", "```"))
    if heading.endswith("?"):
        return f"{heading}\n\n{text}"
    return f"{heading}: {text}" if is_line else f"{heading}:\n\n{text}"
