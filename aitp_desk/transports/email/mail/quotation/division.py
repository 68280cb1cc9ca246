"""Divides a text into what the person wrote and what was trimmed.

The rules, in their order; where they leave a doubt, the text stays:

1. What is forwarded stays: it is what the person shows.
2. A hard boundary (markup of the program, ``-----Original Message-----``, the header of a mail, an
   attribution with address and date) begins a quotation up to the end. It does not if nothing
   stands above it, or if the person says that the answers are below.
3. Marked lines (``>``) are a quotation if all of them stand above, or all below the person's words,
   and the mail is a reply or says whom it quotes. Words between them are answers to them: then
   everything stays.
4. Signatures and footers are trimmed at the end of what is left, unless nothing else is left.

Every line is classified once, and what is looked for around a line is bounded: the time is
proportional to the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from aitp_desk.transports.email.mail.message import Trimmed, TrimmedKind
from aitp_desk.transports.email.mail.quotation.attribution import (
    find_attribution,
    find_role,
    has_header,
    may_end_attribution,
)
from aitp_desk.transports.email.mail.quotation.marks import SPACE, MarkedText
from aitp_desk.transports.email.mail.quotation.phrases import (
    ANSWERS_BELOW,
    FORWARD_SUBJECT,
    FORWARDED,
    ORIGINAL,
    REPLY_ABOVE,
    REPLY_SUBJECT,
    SUBJECT_TAG,
)
from aitp_desk.transports.email.mail.quotation.signature import find_tail, is_delimiter

_QUOTED = re.compile(r" {0,3}[>＞]")
_RULE = re.compile(r"\s*(?:[_=]{10,}|-{10,}|\*{10,})\s*")
_LONGEST_PHRASE = 160
_LONG_LINE = 60
_LONGEST_FRAGMENT = 50
_MOST_FRAGMENT_LINES = 2
_MOST_OWN_LINES = 2
_MOST_SEARCHES = 300
"""For attributions, and for lines to reply above; a mail has a few."""
_LONGEST_RULED = 400
_WORDS_ABOVE = 2000
"""Characters above a quotation in which a person may say that the answers are below."""


class Division(msgspec.Struct, frozen=True):
    """A text in two parts.

    Parameters:
        text: what the person wrote.
        trimmed: the rest.
        is_forwarded: whether the text is, or has, the mail of another person.
    """

    text: str
    trimmed: tuple[Trimmed, ...] = ()
    is_forwarded: bool = False


class _Piece(msgspec.Struct, frozen=True):
    begin: int
    end: int
    kind: TrimmedKind


class _Block(msgspec.Struct):
    """Adjoining quoted lines, with the attribution above them."""

    begin: int
    end: int
    attribution: int | None = None

    @property
    def top(self) -> int:
        return self.begin if self.attribution is None else self.attribution


def is_reply_subject(subject: str) -> bool:
    """Return whether a subject is an answer's: the outermost prefix counts."""
    return REPLY_SUBJECT.match(_without_tags(subject)) is not None


def is_forward_subject(subject: str) -> bool:
    """Return whether a subject is that of a mail that is passed on."""
    return FORWARD_SUBJECT.match(_without_tags(subject)) is not None


def _without_tags(subject: str) -> str:
    tag = SUBJECT_TAG.match(subject)
    return subject[tag.end() :] if tag else subject.lstrip()


def divide(marked_text: str, *, subject: str = "", is_reply: bool = False) -> Division:
    """Divide a text.

    Parameters:
        marked_text: lines with line feeds, with the marks of its markup if it had any.
        is_reply: whether the mail's header says that it answers a mail.
    """
    text = MarkedText(marked_text)
    reply = is_reply or is_reply_subject(subject)
    forward = is_forward_subject(subject) and not is_reply_subject(subject)
    return _Divider(text, is_reply=reply, is_forward=forward).divide()


class _Divider:
    def __init__(self, text: MarkedText, *, is_reply: bool, is_forward: bool) -> None:
        self._marked = text
        self._lines = text.lines
        self._is_reply = is_reply
        self._is_forward = is_forward
        self._quoted = [bool(_QUOTED.match(line)) for line in self._lines]
        self._roles = [
            find_role(line) if not quoted and (":" in line[:40] or "：" in line[:40]) else ""
            for line, quoted in zip(self._lines, self._quoted, strict=True)
        ]
        self._below = self._find_below()
        self._searches = 0
        self._ruled = _MOST_SEARCHES
        self._is_forwarded = is_forward

    def _find_below(self) -> list[bool]:
        """For each line: whether the next line with text is quoted."""
        below = [False] * len(self._lines)
        is_quoted = False
        for at in range(len(self._lines) - 1, -1, -1):
            below[at] = is_quoted
            if self._lines[at]:
                is_quoted = self._quoted[at]
        return below

    def divide(self) -> Division:
        pieces, end = self._cut_hard()
        if end is None:
            return self._compose([], is_forwarded=True)
        pieces += self._cut_blocks(end)
        pieces += self._cut_tails(pieces)
        return self._compose(pieces, is_forwarded=self._is_forwarded)

    # hard boundaries

    def _cut_hard(self) -> tuple[list[_Piece], int | None]:
        """Return what hard boundaries cut, and where the text above ends; None: all stays."""
        found = self._find_boundary()
        if found is None:
            return [], len(self._lines)
        begin, end, is_forward = found
        above = "\n".join(self._lines[:begin])
        if is_forward:
            self._is_forwarded = True
            return [], None
        has_words = any(
            line and not quoted
            for line, quoted in zip(self._lines[:begin], self._quoted, strict=False)
        )
        if not has_words and end is None:
            return [], len(self._lines)
        if ANSWERS_BELOW.search(above[-_WORDS_ABOVE:]):
            return [], begin
        stop = len(self._lines) if end is None else end
        attribution = self._find_attribution(begin, 0)
        begin = begin if attribution is None else attribution
        return [_Piece(begin, stop, TrimmedKind.QUOTATION)], begin

    def _find_boundary(self) -> tuple[int, int | None, bool] | None:
        """Return begin and end of the first hard quotation, and whether it is forwarded.

        None: there is none.
        """
        marked = iter(self._marked.quotations)
        quotation = next(marked, None)
        at, count = 0, len(self._lines)
        while at < count:
            if quotation is not None and at >= quotation[0]:
                if not self._is_forward and not self._has_forward(at):
                    return (*quotation, False)
                return at, None, True
            line = self._lines[at]
            if line and not self._quoted[at]:
                found = self._classify(at, line)
                if found is not None:
                    return found[0], None, found[1]
            at += 1
        return None

    def _has_forward(self, begin: int) -> bool:
        """Return whether a marked quotation is a forwarded mail."""
        phrases = map(_read_phrase, self._lines[begin : begin + 3])
        return any(_is_forwarded(words, has_dashes=has) for words, has in phrases)

    def _classify(self, at: int, line: str) -> tuple[int, bool] | None:
        """Return the begin of the quotation at a line, and whether it is forwarded."""
        if self._roles[at] and has_header(self._lines, self._roles, at):
            above = self._above(at)
            has_rule = above is not None and _RULE.fullmatch(self._lines[above]) is not None
            begin = above if above is not None and has_rule else at
            if self._is_forward:
                return begin, True
            return (begin, False) if self._is_reply or has_rule else None
        if line.lstrip(" *_").startswith("--") or line.endswith((":", "：")):
            words, has_dashes = _read_phrase(line)
            if _is_forwarded(words, has_dashes=has_dashes):
                return at, True
            if has_dashes and words in ORIGINAL:
                return at, self._is_forward
        if self._is_line_to_reply_above(line):
            return at, False
        is_last = at + 1 < len(self._lines) and not self._lines[at + 1]
        if is_last and not self._below[at] and self._is_reply and may_end_attribution(line):
            found = self._search(at, 0, is_quoted_below=False)
            if found is not None and not self._is_forward:
                return found, False
        return None

    def _is_line_to_reply_above(self, line: str) -> bool:
        if len(line) > _LONGEST_RULED or line.lstrip()[:1].isalnum() or not self._ruled:
            return False
        self._ruled -= 1
        return REPLY_ABOVE.search(line) is not None

    def _above(self, at: int) -> int | None:
        """Return the next line with text above, at most three lines away."""
        return next(
            (above for above in range(at - 1, max(-1, at - 4), -1) if self._lines[above]), None
        )

    def _search(self, end: int, first: int, *, is_quoted_below: bool) -> int | None:
        self._searches += 1
        if self._searches > _MOST_SEARCHES:
            return None
        begin = end
        while begin > max(first, end - 6) and not self._quoted[begin - 1]:
            begin -= 1
        return find_attribution(self._lines, end, begin, is_quoted_below=is_quoted_below)

    # marked lines

    def _cut_blocks(self, end: int) -> list[_Piece]:
        blocks = self._find_blocks(end)
        if not blocks:
            return []
        tail = end
        for begin, _, _ in find_tail(self._lines, blocks[-1].end, end):
            tail = begin
        signatures = [s for s in self._marked.signatures if s[0] >= blocks[-1].end]
        has_first = self._has_words(0, blocks[0].top)
        has_last = self._has_words(blocks[-1].end, tail, signatures)
        has_between = any(self._has_words(one.end, other.top) for one, other in pairwise(blocks))
        if has_between or (has_first and has_last):
            return []
        is_known = blocks[0].attribution is not None or (
            self._is_reply and not (has_first and any(map(self._may_be_words, blocks)))
        )
        is_alone = not has_first and not has_last and end == len(self._lines)
        if not is_known or (is_alone and not self._is_reply) or self._is_session(blocks):
            return []
        return [_Piece(block.top, block.end, TrimmedKind.QUOTATION) for block in blocks]

    def _find_blocks(self, end: int) -> list[_Block]:
        blocks: list[_Block] = []
        at = 0
        while at < end:
            if not self._quoted[at]:
                at += 1
                continue
            first = blocks[-1].end if blocks else 0
            block = _Block(at, self._find_end(at, end))
            block.attribution = self._find_attribution(at, first)
            if blocks and block.attribution is None and not self._has_words(first, at):
                blocks[-1].end = block.end
            else:
                blocks.append(block)
            at = block.end
        return blocks

    def _find_end(self, at: int, end: int) -> int:
        """Return where a block ends; lines that a program broke within it belong to it."""
        while at < end:
            if self._quoted[at]:
                at += 1
                continue
            stop = at
            while stop < min(end, at + _MOST_FRAGMENT_LINES) and self._is_fragment(stop):
                stop += 1
            if stop == at or stop >= end or not self._quoted[stop]:
                break
            at = stop
        return at

    def _is_fragment(self, at: int) -> bool:
        line, above = self._lines[at], self._lines[at - 1]
        return (
            0 < len(line) <= _LONGEST_FRAGMENT
            and not self._quoted[at]
            and len(above) >= (_LONG_LINE if self._quoted[at - 1] else 1)
            and not above.endswith((".", "?", "!", ":"))
            and not line[0].isupper()
        )

    def _find_attribution(self, begin: int, first: int) -> int | None:
        at = begin - 1
        while at >= first and not self._lines[at]:
            at -= 1
        if at < first or not may_end_attribution(self._lines[at]):
            return None
        return self._search(at, first, is_quoted_below=True)

    def _has_words(self, begin: int, end: int, signatures: Sequence[tuple[int, int]] = ()) -> bool:
        return any(
            self._lines[at] and not any(s[0] <= at < s[1] for s in signatures[:3])
            for at in range(begin, end)
        )

    def _may_be_words(self, block: _Block) -> bool:
        """Return whether marked lines below a person's words may be the person's too.

        ``> 40 W`` is a size, and mail servers write ``>From`` for ``From`` at a line's begin.
        """
        is_short = block.end - block.begin <= _MOST_OWN_LINES
        is_escaped = self._lines[block.begin].startswith(">From ")
        return block.attribution is None and (is_short or is_escaped)

    def _is_session(self, blocks: Sequence[_Block]) -> bool:
        """Return whether the lines are no quotation but input of a Python session."""
        if any(block.attribution is not None for block in blocks):
            return False
        lines = [line for block in blocks for line in self._lines[block.begin : block.end] if line]
        return all(line.startswith((">>> ", "... ")) or line == ">>>" for line in lines)

    # what stands below

    def _cut_tails(self, pieces: Sequence[_Piece]) -> list[_Piece]:
        """Return the signatures and footers: at the end, and above and below quotations."""
        ordered = sorted(pieces, key=lambda piece: piece.begin)
        begins = [0, *(piece.end for piece in ordered)]
        ends = [*(piece.begin for piece in ordered), len(self._lines)]
        found: list[_Piece] = []
        ranges = [(b, e) for b, e in zip(begins, ends, strict=True) if e > b]
        for begin, stop in {ranges[0], ranges[-1]} if ranges else ():
            found += (_Piece(*tail) for tail in find_tail(self._lines, begin, stop))
        taken = [*ordered, *found]
        found += (
            _Piece(begin, stop, TrimmedKind.SIGNATURE)
            for begin, stop in self._marked.signatures[:3]
            if not any(piece.begin < stop and begin < piece.end for piece in taken)
        )
        kept = self._remaining([*ordered, *found])
        before = self._remaining(ordered)
        if any(kept) or not any(before):
            return found
        # A mail that is only a signature keeps its words, without the line above them.
        marks = [
            _Piece(piece.begin, piece.begin + 1, piece.kind)
            for piece in found
            if is_delimiter(self._lines[piece.begin])
        ]
        return marks if any(self._remaining([*ordered, *marks])) else []

    def _remaining(self, pieces: Sequence[_Piece]) -> list[str]:
        lines: list[str] = []
        at = 0
        for piece in sorted(pieces, key=lambda piece: piece.begin):
            lines += self._lines[at : piece.begin]
            at = max(at, piece.end)
        return [*lines, *self._lines[at:]]

    def _compose(self, pieces: list[_Piece], *, is_forwarded: bool) -> Division:
        kept: list[str] = []
        trimmed: list[Trimmed] = []
        at = 0
        for piece in sorted(pieces, key=lambda piece: piece.begin):
            kept += self._lines[at : piece.begin]
            text = "\n".join(self._lines[max(at, piece.begin) : piece.end]).strip("\n")
            if text.strip():
                trimmed.append(Trimmed(piece.kind, text))
            at = max(at, piece.end)
        kept += self._lines[at:]
        return Division("\n".join(kept).strip(), tuple(trimmed), is_forwarded)


def _read_phrase(line: str) -> tuple[str, bool]:
    """Return the words between dashes or before a colon, and whether there are dashes."""
    if len(line) > _LONGEST_PHRASE:
        return "", False
    line = line.replace(SPACE, " ").strip(" \t\xa0*_")
    if line.startswith("--") and line.endswith("--"):
        return line.strip("- \t*_<>").lower(), True
    return (line[:-1].strip(" *_<>").lower(), False) if line.endswith((":", "：")) else ("", False)


def _is_forwarded(words: str, *, has_dashes: bool) -> bool:
    """Return whether a phrase stands above a mail that is passed on."""
    return words in FORWARDED or (has_dashes and words.startswith("forwarded by "))
