"""Reads questions in languages without spaces or with inflected endings, by phrases.

Single words cannot be looked up: phrases are found anywhere. Question phrases are translated to
English and moved to the front of the sentence, as in English; phrases without meaning are replaced
by a space, so that no n-gram is cut across them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from aitp_desk.knowledge.documents.sentences import split_sentences
from aitp_desk.knowledge.search.tokenizer import fold_text

_STOPS = str.maketrans({"。": ".", "．": ".", "｡": ".", "、": ",", "，": ",", "？": "?", "！": "!"})
_SPACE = re.compile(r"\s+(?=[.,!?]|\Z)|(?<=\s)\s+|\A\s+")


class Phrases:
    """Reads questions of one language.

    Parameters:
        asks: question phrases and their English equivalents; empty for what only looks like one.
        stop: phrases without meaning, in any position.
        endings: endings without meaning, such as Korean particles.
    """

    def __init__(self, asks: Mapping[str, str], stop: Iterable[str], endings: str) -> None:
        self._asks = {fold_text(phrase): english for phrase, english in asks.items()}
        ends = _longest_first(map(fold_text, endings.split()))
        whole = r"(?<!\w){}(?!\w)" if ends else "{}"
        parts = [_any(_longest_first(self._asks), "(?P<asks>{})")]
        parts += [_any(_longest_first(stop), whole), _any(ends, r"(?<=\w){}(?!\w)")]
        self._parts = re.compile("|".join(filter(None, parts)))

    def plain(self, text: str) -> str:
        """Return a question as the agent reads it."""
        return " ".join([self._sentence(one) for one in split_sentences(text)] or [""])

    def _sentence(self, text: str) -> str:
        asked: dict[str, None] = {}

        def read(found: re.Match[str]) -> str:
            if found["asks"]:
                english = self._asks[found["asks"]]
                if not english:
                    return found[0]
                asked[english] = None
            return " "

        rest = self._parts.sub(read, fold_text(text).translate(_STOPS))
        return _SPACE.sub("", " ".join((*asked, rest)))


def _longest_first(phrases: Iterable[str]) -> list[str]:
    return sorted(phrases, key=len, reverse=True)


def _any(phrases: list[str], around: str) -> str:
    either = "|".join(map(re.escape, phrases))
    return around.format(f"(?:{either})") if phrases else ""
