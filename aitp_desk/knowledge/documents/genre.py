"""Classifies passages by genre, and determines which genres a question prefers.

A question is answered by the page about its subject. Release notes, licences, registers and code
listings have the same words but answer other questions. "How do I ..." is answered by instructions
and code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from aitp_desk.knowledge.documents.base import Document, Passage

# Flags, joined by "|" in one byte.
CODE = 1
"""The passage holds a block of code."""
INSTRUCTIONS = 2
"""The passage has an instruction."""
CHANGES = 4
"""The passage describes the changes of a version."""
LISTING = 8
"""The page is mostly code."""
REGISTER = 16
"""The page lists entries by number."""
LEGAL = 32
"""The passage is part of a licence or a notice of rights."""
QUESTION = 64
"""The passage's heading, or its page's title, is a question."""

_AUTHORITY = {CHANGES: 0.8, LISTING: 0.7, REGISTER: 0.6, LEGAL: 0.7}
"""The factors of the score of genres, for any question."""
HOW = CODE | INSTRUCTIONS
"""The genres that a question about a procedure prefers."""
_PREFERRED = {CODE: 1.2, INSTRUCTIONS: 1.2, CHANGES: 1.5, LEGAL: 1.5}
"""The factors of the rank of genres that the question prefers."""

_CODE_UNASKED, _CODE_OF_STEPS = 0.5, 0.75
"""The weight of a code block if none is asked for, and for a procedure."""

_ASKS_HOW = re.compile(
    r"\bhow to\b|\b(?:way|steps|instructions?) to\b|\bwhat now\b|\bwhich command\b|\bshow me\b|"
    r"\bhow (?:do|can|could|would|should|may|might|must|shall|did) "
    r"(?:i|we|you|one|he|she|they|my|our|people|users?|visitors?|some(?:one|body))\b|"
    r"\bwhat (?:do|can|should|must|could) (?:i|we|you|one) "
    r"(?:have to |need to )?(?:do|use|try|type|run|change|enter|write)\b",
    re.IGNORECASE,
)
_ASKS_CHANGES = re.compile(
    r"\bwhat(?: has|['’]s| is)? (?:changed|new)\b|\brelease notes?\b|\bchange ?log\b|\bmigrat\w+|"
    r"\b(?:up|down)grad\w+|\b(?:which|what) (?:version|release)\b|\b(?:version|release|v)[ .]?\d|"
    r"\bsince (?:the |version|v?\d|moving|updating)",
    re.IGNORECASE,
)
_ASKS_LEGAL = re.compile(
    r"\blicen[cs]\w+|\blizenz\w*|\bcopyright\w*|\burheber\w*|\bwarrant\w+|\bliab\w+|"
    r"\b(?:re)?distribut\w+|\bcommercial\w*|\blegal\w*",
    re.IGNORECASE,
)
_CHANGES_TITLE = re.compile(
    r"\brelease notes?\b|\bchange ?logs?\b|\bwhat[’']?s new\b|\bversion history\b|"
    r"\bnew features? in\b|\brelease v?\d|^\W*v?\d+\.\d[\d.]*\W*$|"
    r"\bneuerungen in\b|\bneuigkeiten (?:für|in)\b|\bversionshinweise\b|\bnouveautés\b|"
    r"\bnotes de version\b|\bnovedades\b|\bnotas de la versión\b|リリースノート|変更履歴",
    re.IGNORECASE,
)
_CHANGES_PATH = re.compile(
    r"(?:^|/)(?:releases?|rel-?notes|release-?(?:notes?|logs?)|whats-?new|change-?(?:s|logs?))"
    r"(?:$|[/._-])",
    re.IGNORECASE,
)
_LEGAL_TITLE = re.compile(
    r"^\W*(?:[\d.]+ )?(?:.*\blicen[cs]es?|lizenz(?:en)?|copying|copyright|legal notices?|"
    r"(?:copyright|urheberrecht) (?:and|und|notice|statement).*|"
    r"terms and conditions for copying.*|gnu .*\blicen[cs]e\b.*|"
    r"(?:[al]?gpl|g?fdl)[\sv.\d]*)\W*$",
    re.IGNORECASE,
)
_VERBS = (
    "use|run|set|add|click|select|choose|open|install|type|enter|press|go to|make sure|create|put|"
    "edit|change|remove|delete|copy|move|download|start|stop|restart|enable|disable|check|"
    "configure|define|pass|call|write|save|execute|issue|invoke|specify|insert|replace|follow|visit|"
    "log in|log out|connect|turn|export|import|return|wrap|provide|generate|reload|drag|tick|fill|"
    "pick|tap|hold|unpack|extract|mount|boot|reboot|build|compile|register|apply|ensure|verify|give|"
    "do|see"
)
_VERBS_ELSEWHERE = (
    r"\w+ez|"  # French: cliquez, vous pouvez
    "haga|haz|pulse|pulsa|seleccione|selecciona|abra|abre|escriba|introduzca|ejecute|elija|instale|"
    "utilice|vaya|añada|compruebe|puede|debe|"
    "fare|fai|clicca|cliccare|seleziona|selezionare|apri|aprire|premi|premere|inserisci|inserire|"
    "scegli|scegliere|digitare|esegui|eseguire|installare|utilizzare|usare|aggiungere|"
    "clique|selecione|escolha|abra|digite|introduza|insira|execute|instale|utilize|pressione|"
    "klik|kies|selecteer|typ|voer|druk|gebruik|installeer|ga naar|"
    "kliknij|wybierz|otwórz|wpisz|naciśnij|uruchom|zainstaluj|użyj|przejdź|dodaj|sprawdź"
)
_INSTRUCTION = re.compile(
    r"(?:(?:first|then|next|now|finally|instead|please|simply|just|alternatively|also|again|and|or|"
    r"you (?:can|must|should|need to|have to|may want to))[, ]+)*"
    r"(?:to \w+(?: [^,.]{1,60})?, (?:you (?:can|must|should|need to|have to) )?)?"
    rf"(?:if you [^,]{{1,80}}, )?(?:{_VERBS})\b|(?:\w+ )?\w+e?n sie\b|"
    rf"(?:\w+ )?(?:{_VERBS_ELSEWHERE})\b",
    re.IGNORECASE,
)
_ASKS = ("?", "？")
_MOSTLY = 0.8
"""A page with this share of code is a listing."""
_WORD = re.compile(r"[^\W\d_]{2}")
_ENTRIES, _MIN_ENTRIES = 0.6, 50
"""A page with this many sections, and this share of them numbered, is a register."""


def find_genres(document: Document, passages: Sequence[Passage]) -> list[int]:
    """Return the genres of each passage of a document, as flags."""
    shared = _genre_of_page(document, passages)
    return [shared | _genre_of_passage(passage) for passage in passages]


def find_preferred_genres(question: str) -> int:
    """Return the genres that a question in English prefers, as flags; none for most questions."""
    wanted = HOW if _ASKS_HOW.search(question) else 0
    wanted |= CHANGES if _ASKS_CHANGES.search(question) else 0
    return wanted | LEGAL if _ASKS_LEGAL.search(question) else wanted


@cache
def authority(genres: int) -> float:
    """Return the factor of a passage's score, above 0 and at most 1."""
    return min([factor for genre, factor in _AUTHORITY.items() if genres & genre], default=1.0)


@cache
def preference(genres: int, preferred: int) -> float:
    """Return the factor of a passage's rank for a question that prefers some genres."""
    times = 1.0
    for genre, factor in _PREFERRED.items():
        if genres & preferred & genre:
            times *= factor
    return times


def share_of_code(preferred: int) -> float:
    """Return a code block's weight if the question does not ask for code. Text has the weight 1."""
    return _CODE_OF_STEPS if preferred & CODE else _CODE_UNASKED


def _genre_of_page(document: Document, passages: Sequence[Passage]) -> int:
    if _CHANGES_TITLE.search(document.title) or _CHANGES_PATH.search(document.path):
        return CHANGES
    if _LEGAL_TITLE.search(document.title):
        return LEGAL
    code = whole = 0
    for passage in passages:
        for unit in passage.units:
            whole += len(unit.text)
            code += len(unit.text) if unit.kind == "code" else 0
    if code > _MOSTLY * whole:
        return LISTING
    numbered = sum(not _WORD.search(passage.heading) for passage in passages if passage.heading)
    if numbered >= _MIN_ENTRIES and numbered > _ENTRIES * len(passages):
        return REGISTER
    return 0


def _genre_of_passage(passage: Passage) -> int:
    called = passage.heading or passage.title
    genre = QUESTION if called.endswith(_ASKS) else 0
    for heading in passage.trail:
        genre |= CHANGES if _CHANGES_TITLE.search(heading) else 0
        genre |= LEGAL if _LEGAL_TITLE.search(heading) else 0
    for unit in passage.units:
        if unit.kind == "code":
            genre |= CODE
        elif _INSTRUCTION.match(unit.text):
            genre |= INSTRUCTIONS
    return genre
