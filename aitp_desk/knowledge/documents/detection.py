"""Detects the language of pages by their declaration, script and function words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from aitp_desk.knowledge.documents.languages import spell_tag

MAX_PAGES = 50
"""How many pages are examined."""
_BEGINNING = 8192
"""How many bytes of each are examined."""
_SHARE = 0.6
"""The share of them that must agree."""
_SHARE_OF_SCRIPT = 0.2
"""The share of a page that must be in its script; markup and names are Latin everywhere."""
_LANG = re.compile(r"<html\b[^>]*?\slang\s*=\s*[\"']?([A-Za-z-]{2,12})", re.IGNORECASE)
_TAGS = re.compile(r"<(script|style)\b.*?(?:</\1>|\Z)|<[^>]*>", re.DOTALL | re.IGNORECASE)
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_SCRIPTS = {
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
    "th": re.compile(r"[\u0e01-\u0e4e]"),
}
_SMALL_WORDS = {
    tag: frozenset(words.split())
    for tag, words in {
        "en": "the and of to is in for you with are this on it your be or we not",
        "de": "der die das und ist nicht sie für mit ein eine wir auf im den dem zu bei von werden",
        "nl": "de het een en van niet voor zijn met wij op je naar aan ook worden bij deze u",
        "fr": "le la les des et est une pour dans vous du au nous sur par avec pas en votre",
        "it": "il la gli di e è che per con non della una sono le del alla si nel vi",
        "es": "el la los las y del con por una es más su al que para se en de no",
        "pt": "o a os as e do da em não com uma é ao que para se no na por",
    }.items()
}
"""Words that are frequent in any text of a language."""
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LEAST_WORDS = 3
_SHARE_OF_WORDS = 0.06
_LEAD = 1.5
"""How many times more frequent they must be than those of any other language."""


def detect_language(pages: Iterable[bytes]) -> str | None:
    """Return the language that most pages declare or clearly use; None if none is clear.

    English is not detected: many generators declare it regardless of the page's language.
    """
    found: Counter[str] = Counter()
    count = 0
    for count, page in enumerate(pages, start=1):
        if tag := _language_of(page[:_BEGINNING].decode("utf-8", "ignore")):
            found[tag] += 1
        if count == MAX_PAGES:
            break
    tag, uses = found.most_common(1)[0] if found else ("", 0)
    return tag if uses and uses >= _SHARE * count else None


def _language_of(text: str) -> str | None:
    declared = _LANG.search(text)
    tag = spell_tag(declared[1]) if declared else None
    if tag is not None and not tag.startswith("en"):
        return tag
    plain = _TAGS.sub(" ", text)
    if not plain.isascii():
        least = _SHARE_OF_SCRIPT * len(plain)
        if len(_KANA.findall(plain)) >= least / 2:
            return "ja"
        for one, script in _SCRIPTS.items():
            if len(script.findall(plain)) > least:
                return one
    return _by_small_words(_CODE.sub(" ", plain))


def _by_small_words(text: str) -> str | None:
    words = Counter(_WORD.findall(text.lower()))
    counts = Counter({tag: sum(words[word] for word in of) for tag, of in _SMALL_WORDS.items()})
    (tag, most), (_, second) = counts.most_common(2)
    is_plain = most >= max(_LEAST_WORDS, _SHARE_OF_WORDS * words.total(), _LEAD * second)
    return tag if is_plain and tag != "en" else None
