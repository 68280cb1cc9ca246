"""Reads strings: named ones, quoted ones, and the rest of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.tokens import Quote, TokenText
from aitp_desk.agent.slots.values.counts import word_at
from aitp_desk.agent.slots.values.labels import Label, Labels, make_labels, read_series
from aitp_desk.agent.slots.values.readers import read_value

_LINKS = frozenset("and please with also the my".split())
_LOOSE = frozenset(
    "and or please thanks thank you for to of in on at with under over the a an i me my "
    ", . ; : ! ? - – & +".split()
)
_ENDS_LIST = re.compile(r"\s*(?:,|;|\band\b|&)\s*")
_STRONG = frozenset({"id", "email", "uri", "date", "choice", "moment"})


def read_named_texts(reading: TurnReading, labels: Sequence[Label]) -> None:
    """Read strings after the names of their fields.

    After a colon or an equals sign that is all up to the end of the line, a semicolon, the next
    name, or a comma before another value. After ``is`` it is a capitalized name: the extent of
    other text is unknown.
    """
    text, names = reading.text, make_labels(reading.fields)
    for label in labels:
        is_list = label.field.kind == "list" and _lists_texts(label.field)
        if label.field.kind != "text" and not is_list:
            continue
        if not text.is_free(label.start):
            continue
        quote = _quote_at(text, label.value)
        if quote is not None:
            said, end = quote.text, quote.end + 1
        else:
            end = (
                _end_of(reading, names, labels, label) if label.is_firm else _name_end(text, label)
            )
            said = text.between(label.value, end)
        if not said:
            continue
        text.mark_read(label.start, end)
        if is_list:
            listed = [part for part in _ENDS_LIST.split(said) if part]
            reading.add_values(label.field, [listed], is_firm=label.is_firm)
        else:
            reading.add_values(label.field, [_trimmed(said)], is_firm=label.is_firm)
        reading.named.add(label.field.path)


def read_unnamed_texts(reading: TurnReading) -> None:
    """Read a quotation for the only string field. The rest is for the field that accepts it.

    Of two strings without a name it is unknown which is which.
    """
    text = reading.text
    texts = [field for field in reading.fields if field.kind == "text"]
    quotes = [q for q in text.quotes if q.start < q.end and text.is_free(q.start, q.end)]
    is_one = len(texts) == 1 and len(quotes) == 1 and not texts[0].takes_rest
    if is_one and not reading.is_said(texts[0]):
        text.mark_read(quotes[0].start - 1, quotes[0].end + 1)
        reading.add_values(texts[0], [quotes[0].text])
    takers = [field for field in texts if field.takes_rest and not reading.is_said(field)]
    if len(takers) == 1 and (rest := list_unread(text)):
        reading.add_values(takers[0], [rest])


def list_unread(text: TokenText) -> str:
    """Return the text that is not understood yet, in order."""
    if all(text.is_free(place) for place in range(len(text))):
        return text.source.strip()
    pieces: list[str] = []
    place = 0
    while place < len(text):
        end = place
        while text.is_free(end):
            end += 1
        if piece := _without_loose_ends(text, place, end):
            pieces.append(piece)
        place = end + 1
    return " ".join(pieces)


def strip_quotes(text: TokenText) -> str:
    """Return a whole text without the quotation marks around it."""
    if len(text.quotes) == 1:
        quote = text.quotes[0]
        if (quote.start, quote.end) == (1, len(text) - 1):
            return quote.text
    return text.source.strip()


def _without_loose_ends(text: TokenText, start: int, end: int) -> str:
    while start < end and word_at(text, start) in _LOOSE:
        start += 1
    while start < end and word_at(text, end - 1) in _LOOSE:
        end -= 1
    return text.between(start, end)


def _lists_texts(field: Field) -> bool:
    return field.item is not None and field.item.kind == "text"


def _quote_at(text: TokenText, place: int) -> Quote | None:
    return next((q for q in text.quotes if q.start == place + 1 and q.start < q.end), None)


def _end_of(reading: TurnReading, names: Labels, labels: Sequence[Label], label: Label) -> int:
    text = reading.text
    starts = {other.start for other in labels if other.is_firm and other.start > label.start}
    place = label.value
    while place < len(text) and place not in starts and text.word(place) not in {"\n", ";"}:
        if text.word(place) == "," and _tells(reading, names, place + 1):
            break
        place += 1
    while place > label.value and text.word(place - 1) in {",", "and"}:
        place -= 1
    return place


def _name_end(text: TokenText, label: Label) -> int:
    """Return the end of a capitalized name after ``is``."""
    place = label.value
    if place == label.end:
        return place
    while place < len(text) and text.word(place)[:1].isupper():
        place += 1
    return place


def _tells(reading: TurnReading, names: Labels, place: int) -> bool:
    """Return whether another value begins at a token."""
    text = reading.text
    while text.fold(place) in _LINKS:
        place += 1
    if named := text.phrase_at(place, names):
        match: Match | None = read_series(named[1], text, named[0], reading.now)
        if match is not None:
            return True
    strong = [field for field in reading.fields if field.kind in _STRONG]
    return any(read_value(field, text, place, reading.now) is not None for field in strong)


def _trimmed(said: str) -> str:
    """Return a string without the full stop of its sentence."""
    said = said.strip()
    return said[:-1] if said.endswith(".") and not re.search(r"[.!?]", said[:-1]) else said
