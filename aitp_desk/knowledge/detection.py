"""Detection of the language that pages are in, by what they declare and the script they write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from aitp_desk.knowledge.languages import spell_tag

MOST_PAGES = 50
"""So many pages are looked into."""
_BEGINNING = 8192
"""So much of each, in bytes."""
_SHARE = 0.6
"""How many of them must agree."""
_SHARE_OF_SCRIPT = 0.2
"""How much of a page its script must be; markup and names are Latin everywhere."""
_LANG = re.compile(r"<html\b[^>]*?\slang\s*=\s*[\"']?([A-Za-z-]{2,12})", re.IGNORECASE)
_TAGS = re.compile(r"<(script|style)\b.*?(?:</\1>|\Z)|<[^>]*>", re.DOTALL | re.IGNORECASE)
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_SCRIPTS = {
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
    "th": re.compile(r"[\u0e01-\u0e4e]"),
}


def language_of_pages(pages: Iterable[bytes]) -> str | None:
    """The tag of the language that most pages declare or plainly write; None where none is plain.

    English is not detected: many generators declare it whatever a page is in.
    """
    found: Counter[str] = Counter()
    count = 0
    for count, page in enumerate(pages, start=1):
        if tag := _language_of(page[:_BEGINNING].decode("utf-8", "ignore")):
            found[tag] += 1
        if count == MOST_PAGES:
            break
    tag, uses = found.most_common(1)[0] if found else ("", 0)
    return tag if uses and uses >= _SHARE * count else None


def _language_of(text: str) -> str | None:
    declared = _LANG.search(text)
    tag = spell_tag(declared[1]) if declared else None
    if tag is not None and not tag.startswith("en"):
        return tag
    plain = "" if text.isascii() else _TAGS.sub("", text)
    least = _SHARE_OF_SCRIPT * len(plain)
    if plain and len(_KANA.findall(plain)) >= least / 2:
        return "ja"
    return next(
        (one for one, script in _SCRIPTS.items() if len(script.findall(plain)) > least), None
    )
