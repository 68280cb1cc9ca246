"""Parses text answers: ``2``, ``the second one, two of them``, ``blue and red``, ``yes``.

A text is an answer if it has exactly one complete reading. It is split at commas and ``and`` in
every possible way; each piece is a choice, with a quantity if products are asked for. If two
readings differ, an item has two meanings, or a word is left over, the text is no answer and goes to
the agent. Names and numbers are understood in every language, the rest in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import product

from msgspec import UNSET

from aitp_requests.items import Items, Pick, plain
from aitp_requests.messages import Decision, RequestDecision, SelectedOption
from aitp_requests.rules import settle_options

MOST_CHARACTERS = 500
"""Longer text is not an answer."""
MOST_PIECES = 8
"""Text with more pieces is read as a single item."""

_PAIR = re.compile(r"[0-9]\s*[,;+\n]\s*[0-9]")
_CUT = re.compile(r"(\s*(?:[,;&+\n]|\band\b)\s*)")
_POLITE = re.compile(r"[,\s]+(?:please|thanks|thank you)\Z")
_WANTED = re.compile(
    r"(?:please |i would like |i'd like |i'll take |i will take |i'll have |i take |i choose "
    r"|i want |give me )"
)
_ALL = frozenset({"all", "all of them", "all of these", "everything"})

Reading = tuple[Pick, ...]


class _Ambiguous(Exception):
    """A text has several readings."""


def understand(text: str, requests: Sequence[RequestDecision]) -> Decision | None:
    """Match a text with the one open request that it can answer; None for none or several.

    If several requests are open, choices are matched by name only: *2* could answer each of them.
    """
    words = plain(text) if len(text) <= MOST_CHARACTERS else ""
    if not words:
        return None
    heard = []
    for request in requests:
        try:
            reading = _read(words, request, by_name_only=len(requests) > 1)
        except _Ambiguous:
            return None
        if reading is not None:
            heard.append((request, reading))
    if len(heard) != 1:
        return None
    ((request, picks),) = heard
    chosen = tuple(
        SelectedOption(id, quantity=UNSET if count is None else count) for id, count in picks
    )
    return Decision(settle_options(request, chosen), request.id)


def _read(words: str, request: RequestDecision, *, by_name_only: bool) -> Reading | None:
    """Return the one reading of a text as an answer to a request; None for none.

    Raises:
        _Ambiguous: there are several.
    """
    items = Items(request, by_name_only=by_name_only)
    readings: set[Reading] = set()
    if request.type == "checkbox" and not by_name_only and _is_all(words, len(items.ids)):
        readings.add(tuple((id, None) for id in items.ids))
    polite = _POLITE.sub("", words)
    wished = _WANTED.sub("", polite, count=1)
    for form in {words, polite} if wished == polite else {words, wished}:
        is_wished = form != words and wished != polite
        readings.update(_readings(form, items, is_wished=is_wished))
    if request.type in {"radio", "confirmation"}:
        readings = {reading for reading in readings if len(reading) == 1}
    if len(readings) > 1:
        raise _Ambiguous
    return readings.pop() if readings else None


def _is_all(words: str, count: int) -> bool:
    return words in _ALL or (words == "both" and count == 2)


def _readings(words: str, items: Items, *, is_wished: bool) -> Iterator[Reading]:
    pieces = _CUT.split(words)
    # for products "1, 2" may be two of them, or a quantity of the first
    is_pair = items.are_counted and _PAIR.search(words)
    if is_pair or len(pieces) // 2 >= MOST_PIECES:
        pieces = [words]
    picks = cache(partial(items.picks, is_wished=is_wished))
    order = {id: number for number, id in enumerate(items.ids)}
    for grouping in _groupings(pieces):
        *before, last = grouping
        count = items.count_alone(last) if len(before) == 1 else None
        meant = [picks(item) for item in (grouping if count is None else before)]
        if not all(meant):
            continue
        if any(len(one) > 1 for one in meant):
            raise _Ambiguous
        reading = sorted((pick for one in meant for pick in one), key=lambda pick: order[pick[0]])
        if count is not None:
            ((id, counted),) = reading
            if counted is None:
                yield ((id, count),)
        elif len({id for id, _ in reading}) == len(reading):
            yield tuple(reading)


def _groupings(pieces: Sequence[str]) -> Iterator[list[str]]:
    """Yield every way to rejoin the pieces: a name may contain a comma, or the word *and*."""
    cuts = len(pieces) // 2
    for joined in product((False, True), repeat=cuts):
        items = [pieces[0]]
        for number, joins in enumerate(joined):
            glue, piece = pieces[2 * number + 1], pieces[2 * number + 2]
            if joins:
                items[-1] += glue + piece
            else:
                items.append(piece)
        yield items
