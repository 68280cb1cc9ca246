"""Words: how a text is cut into them, which carry no meaning, and what their stems are.

The full-text index cuts, folds and stems with SQLite's tokenizer :data:`TOKENIZER`. Everything that
is compared with the index goes through the same tokenizer here, so the two never disagree.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

TOKENIZER = "porter unicode61 remove_diacritics 2"

_WORD = re.compile(r"[^\W_]+")
_MAX_MET = 20_000
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
    happens long look looking mean means someones supposed wanna wonder wondering went took came gave
    gone got gotten tries tried seen saw knew known thought found said says told became began begun left kept put
    ca wo sha whats wheres whens hows whos cant dont doesnt isnt wont didnt wasnt arent im ill youre theres thats
    """.split()
)
"""Words that say how something is asked and not what about."""

NEGATIONS = frozenset("not no never cannot none neither nor without except exclude excluded".split())
"""Words that turn a sentence into its opposite."""

BETWEEN = frozenset({"it", "them"})
"""Words that may stand inside a phrase: ``put it up`` is ``put up``."""

WEAK_WORDS = frozenset(
    """
    above across actual additional already along alone although always among amount another anywhere
    apart around ask asked aside away back bad based basically begin behind believe below beside
    best better beyond big bit bring brought call called came care case cases certain come comes
    common complete completely concern correct couple current currently day days deal describe
    detail details different directly easily easy else end enough especially even exact explain
    fact far fear feel find fine first following general good great half happened hard heard
    high hope idea important include included including information instead interested involve
    involved keep kept kind know large later least leave left less level little live lot
    low main major matter maybe middle mind moment month near nearly never new next nice
    normal normally number often okay old open opposite own page part particular people person
    place plan planning point possible present prefer pretty previous probably problem provide put
    question quick quickly quite ready real reason recent regarding related relevant right
    rule run said second see seem seems seen send several short show side similar simple simply
    since single site small soon sort specific start state step stuff support surprise task tell
    thing think third thought three time times today told tomorrow tonight top total turn two 
    understand usual usually various visit week what whatever whole wide wish word words work works
    world worry write wrong wrote year years yesterday appear carry contain count cut depend fall
    fit follow force form front handle hang happening hit hold involve lay lead left lie lies
    document paper article text section manual
    website webpage policy way easier afterwards roughly afresh approximately instead aim wonder bother mid expect putting puts stuck stick look manage meet move notice offer pass pick present pull push reach remain remember run serve
    sit speak stand stay stick stuck touch treat turn wait walk watch
    """.split()
)
"""Words so general that even where the content uses them rarely they tell little."""


@cache
def everyday_words() -> frozenset[str]:
    """Words of everyday English (``english.txt``): right as they stand, whatever is near them."""
    text = files(__package__).joinpath("english.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


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
    """Stems of words, as the full-text index makes them.

    The words that it was taught are known for good; of others it keeps so many.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._met: dict[str, str] = {}
        # without a file or content: the tokenizer is all that is needed of this database
        self._tokens = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._tokens.execute(
            f"CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='{TOKENIZER}')"
        )
        self._tokens.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance')")

    def learn(self, words: Iterable[str]) -> None:
        """Find the stems of many words at once; they are kept."""
        new = sorted(set(words) - self._known.keys())
        self._known.update(zip(new, self._stems(new), strict=True))

    def stem(self, word: str) -> str:
        """The stem of one folded word."""
        known = self._known.get(word) or self._met.get(word)
        if known is None:
            if len(self._met) >= _MAX_MET:
                self._met.clear()
            known = self._met[word] = self._stems([word])[0]
        return known

    def stems_of(self, text: str) -> list[str]:
        """The stems of a text's words, in order."""
        return [self.stem(word) for word in words_of(text)]

    def close(self) -> None:
        """Close the tokenizer. The stems that were learnt stay known."""
        self._tokens.close()

    def _stems(self, words: list[str]) -> list[str]:
        run = self._tokens.execute
        run("BEGIN")
        run("INSERT INTO word (word) VALUES ('delete-all')")
        self._tokens.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", enumerate(words))
        found = list(words)
        for row, term in run('SELECT doc, term FROM stem ORDER BY doc, "offset" DESC'):
            found[row] = term
        run("COMMIT")
        return found
