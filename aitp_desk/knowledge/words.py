"""Words: how a text is cut into them, which carry no meaning, and what their stems are.

The full-text index cuts, folds and stems with SQLite's tokenizer :data:`TOKENIZER`. Everything that
is compared with the index goes through the same tokenizer here, so the two never disagree.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable

TOKENIZER = "porter unicode61 remove_diacritics 2"

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b|n['’]t\b", re.IGNORECASE)

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any anybody anyone anything are aren as at be because
    been before being both but by can cannot could couldn did didn do does doesn doing don done
    each either else ever every everything few for from further get gets getting give given go goes
    going gonna got had has hasn have haven having he hello her here hers hey hi him his how i if im
    in into is isn it its itself ive just know let lets like ll lot made make makes many may maybe me
    might mine more most much must my myself need needs neither no nor not now of off oh ok okay on
    once one ones only onto or other others otherwise our ours out over own per perhaps please
    possible quite rather re really s same say says shall she should shouldn so some somebody someone
    something somehow still such sure t take takes tell than thank thanks that the their theirs them
    themselves then there these they thing things this those though through thus to together too
    try trying u under until up upon us use used using ve very via want wants was wasn way we well
    were what whatever when where whether which while who whoever whom whose why will with within
    without won would wouldn yes yet you your yours yourself able actually anyway exactly happen
    happens long look looking mean means someones supposed wanna wonder wondering
    """.split()
)
"""Words that say how something is asked and not what about."""


def fold(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    marked = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in marked if not unicodedata.combining(sign)).lower()


def words_of(text: str) -> list[str]:
    """The words of a text, folded, in order. ``don't`` is ``do``, ``Anna's`` is ``anna``."""
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", text)
    return _WORD.findall(fold(text))


class Stemmer:
    """Stems of words, as the full-text index makes them."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        # without a file: the tokenizer is all that is needed of this database
        self._tokens = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._tokens.execute(f"CREATE VIRTUAL TABLE word USING fts5(text, tokenize='{TOKENIZER}')")
        self._tokens.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance')")

    def learn(self, words: Iterable[str]) -> None:
        """Find the stems of many words at once; they are kept."""
        new = sorted(set(words) - self._known.keys())
        self._known.update(zip(new, self._stems(new), strict=True))

    def stem(self, word: str) -> str:
        """The stem of one folded word. Words that were not learnt are looked up each time."""
        known = self._known.get(word)
        return known if known is not None else self._stems([word])[0]

    def stems_of(self, text: str) -> list[str]:
        """The stems of a text's words, in order."""
        return [self.stem(word) for word in words_of(text)]

    def close(self) -> None:
        """Close the tokenizer. The stems that were learnt stay known."""
        self._tokens.close()

    def _stems(self, words: list[str]) -> list[str]:
        run = self._tokens.execute
        run("DELETE FROM word")
        self._tokens.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", enumerate(words))
        found = list(words)
        for row, term in run('SELECT doc, term FROM stem ORDER BY doc, "offset" DESC'):
            found[row] = term
        return found
