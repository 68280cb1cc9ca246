"""Splits running text into sentences, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CAPITALS = "A-Z0-9À-ÞĀĆČĎĐĒĞĢĪİĶŁĻŃŅŇŌŘŚŞŠŢŤŪŮŰŹŻŽȘȚΑ-ΩΆ-ΏА-ЯЀ-Џ¿¡"
_NO_CASE = "\u0590-\u1fff\u3040-\ud7a3\uf900-\ufaff\uff10-\uff3a\uff66-\uff9d「『（【《〈"
"""Scripts without capitals: Hebrew to Georgian, kana, Han, Hangul; and opening quotation marks."""
_CLOSING = "\"'”’)\\]」』）】》〉"
CAPTION = re.compile(
    r"\b(?:figure|fig\.|table|listing|abbildung|abb\.|tabelle|figura|tabla|tableau)\s\d+(?:[.-]\d+)*",
    re.IGNORECASE,
)
"""The beginning of the caption of a picture or table, with its number."""
_END = re.compile(
    rf"(?<=[.!?…])(?P<close>[{_CLOSING}]*)\s+(?=[\"'“‘(\[]*[{_CAPITALS}{_NO_CASE}$€£#_`/])"
)
_WIDE_END = re.compile(
    rf"{_END.pattern}|(?:(?<=[。！？｡])|(?<=．)(?!\d)|(?<=[\u3040-\u9fff][!?]))"
    rf"(?![。！？｡!?])(?P<closed>[{_CLOSING}]*+)(?![とっ、])\s*(?=\S)"
)
"""The same with East Asian full stops, which have no space after them."""
_WIDE = re.compile(r"[。！？｡．]|[\u3040-\u9fff][!?]")
_WIDE_STOPS = frozenset("。！？｡．")
_WIDE_SPACE = "\u3000"
_CLOSERS = "」』）】》〉”"
_ABBREVIATED = frozenset(
    "e.g i.e etc vs cf approx incl excl est no nos fig sec ch p pp vol ed mr mrs ms mt dr prof st "
    "ave inc ltd co corp dept min max jan feb mar apr jun jul aug sep sept oct nov dec "
    "bzw usw ca nr inkl exkl zzgl evtl ggf vgl sog bspw mio mrd tel mme mlle ex sr sra srta pág "
    "aprox núm sig dott bijv enz".split()
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_OPENING = re.compile(r"[\s(\[\"“]")
_ORDINAL = re.compile(r"\d{1,2}")
_OF_ORDINAL = re.compile(
    r"(?:Jan|Feb|Mär|Apr|Mai|Juni|Juli|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Auflage|Klasse|Stock)"
)
"""German ordinals have a full stop: ``am 3. Januar``."""
_DAYTIME = re.compile(r"\b[ap]\.m\.$", re.IGNORECASE)
_ZONE = re.compile(
    r"(?:pacific|eastern|central|mountain|local|utc|gmt|[A-Z]{1,2}[DS]T|on |to )", re.IGNORECASE
)
_NEAR = 40
"""How many characters around a full stop are examined; a page may be one line of megabytes."""
_CHOICE_OF_ABBREVIATION = re.compile(r"\b(?:no|p|pp|st|min|max|ed|co)\.$", re.IGNORECASE)


def split_sentences(text: str) -> list[str]:
    """Split a text into stripped sentences. A wide Japanese space is not stripped.

    ``1 p.m. Pacific time`` and ``e.g. Boise`` stay whole; ``by 11 a.m. Nothing leaves`` does not.
    """
    inside = text[:-1]
    is_wide = not text.isascii() and _WIDE.search(inside) is not None
    has_end = is_wide or "." in inside or "?" in inside or "!" in inside or "…" in inside
    if not has_end:
        return [text.strip()] if text.strip() else []
    found: list[str] = []
    start = 0
    for match in (_WIDE_END if is_wide else _END).finditer(text):
        before = text[max(start, match.start() - _NEAR) : match.start()]
        if _continues(before, text[match.end() : match.end() + _NEAR]):
            continue
        said = text[start : match.end(match.lastgroup or 0)].strip()
        start = match.end()
        found.append(said + _WIDE_SPACE if text[start - 1] == _WIDE_SPACE else said)
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _continues(before: str, after: str) -> bool:
    """Return whether the full stop of ``before`` ends no sentence (``Figure 2.``)."""
    if _DAYTIME.search(before):
        return _ZONE.match(after) is not None
    if CAPTION.fullmatch(before.removesuffix(".")):
        return True
    word = _OPENING.split(before)[-1].removesuffix(".")
    if _ORDINAL.fullmatch(word):
        return _OF_ORDINAL.match(after) is not None
    if word.lower() not in _ABBREVIATED and not _INITIALS.fullmatch(word):
        return False
    if _CHOICE_OF_ABBREVIATION.search(before):
        # "No. 5" and "St. Helens", but "Is it waterproof? No. Use a bag."
        return after[:1].isdigit() or before[-3:].lower() in {"st.", "dr."}
    return True


def join_sentences(parts: Iterable[str]) -> str:
    """Join sentences: a space between two, none after an East Asian full stop."""
    joined = ""
    for part in parts:
        is_ended = joined.endswith(_WIDE_SPACE) or joined.rstrip(_CLOSERS)[-1:] in _WIDE_STOPS
        joined += part if not joined or is_ended else f" {part}"
    return joined
