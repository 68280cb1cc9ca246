"""Splits text into words, and provides their stems and stop words.

The full-text index cuts, folds and stems with SQLite's tokenizer :data:`TOKENIZER`. Everything that
is compared with the index goes through the same tokenizer here, so the two never disagree.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
import weakref
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from aitp_desk.knowledge.search.ngrams import FIRST, IN_RUN, MARKS, RUN, ngrams_of

TOKENIZER = "porter unicode61 remove_diacritics 2"

NAME_SIGN = "ː"
"""A name of several parts is also one word, which begins with this: see :func:`split_words`."""

_WORD = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(rf"(?:_|[^\w{MARKS}])+")
_JOINED = re.compile(r"[^\W_][._][^\W_]|(?<![\w-])-{1,2}[a-z]")
_CAPITAL_OPTION = re.compile(r"(?<![\w-])(-[A-Z])(?!\w)")
_ROLES = "|".join(
    "Agent Array Builder Cache Class Client Command Config Connection Context Controller Element "
    "Error Event Exception Factory Field File Filter Form Format Function Group Handler Info "
    "Interface Key Link List Loader Manager Map Message Method Mode Model Name Node Object Option "
    "Param Parameter Parser Path Plugin Policy Pool Property Provider Proxy Queue Range Reader "
    "Request Response Result Route Router Schema Server Service Session Set Size State Status "
    "Store Stream String Table Task Template Test Thread Time Type Url User Value View Warning "
    "Widget Writer".split()
)
"""By their last words, names of two parts such as ``RetryAgent`` differ from those of products."""
_HUMPS = re.compile(
    r"\b(?:\w+\.)?(?:[a-z]{2,}(?:[A-Z][a-z\d]+)+|(?:[A-Z][a-z\d]+){3,}"
    rf"|[A-Z][a-z\d]+(?:{_ROLES})s?)(?![.\w]?\w)",
)
_IN_HUMPS = re.compile(r"[A-Z](?<=[a-z\d][A-Z])")
"""A cheap test for texts without such a name."""
_HUMP = re.compile(r"[A-Z]?[a-z\d]+")
_MARKED = rf"\1{NAME_SIGN}"
_TOKEN = re.compile(
    r"(?<![\w-])-{1,2}(?P<name>[a-z][^\W_]*(?:[-_.][^\W_]+)*)"
    r"|[^\W_]+(?:[._]{1,2}[^\W_]+)*"
)
_LETTERS = re.compile(r"[^\W\d_]{2}")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_MAX_MET = 20_000
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b|n['’]t\b", re.IGNORECASE)

NEGATIONS = frozenset(
    "not no never cannot none neither nor without except exclude excluded".split()
)
"""Words that negate a sentence."""

BETWEEN = frozenset({"it", "them"})
"""Words that may be inside a phrase: ``put it up`` is ``put up``."""


def _read_english() -> dict[str, frozenset[str]]:
    """Return the groups of ``english.txt`` by their names."""
    groups: dict[str, set[str]] = {}
    name = ""
    text = files(__package__).joinpath("english.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            name = line[1 : line.index("]")]
        elif line and not line.startswith("#"):
            groups.setdefault(name, set()).update(line.split())
    return {name: frozenset(words) for name, words in groups.items()}


_ENGLISH = _read_english()

STOP_WORDS = _ENGLISH["stop"]
"""Words that form a question, without a subject."""

WEAK_WORDS = _ENGLISH["weak"]
"""Words so general that they are insignificant even if rare in the content."""

PEOPLE_WORDS = _ENGLISH["people"]
"""Words for relatives and friends, whom visitors mention when they explain a situation."""

EVERYDAY_WORDS = _ENGLISH["everyday"] | PEOPLE_WORDS
"""Words of everyday English: correct as written, even if near a word of the content."""

NAMES = _ENGLISH["names"]
"""Names of software, services and firms: correct as written, too."""


_LETTERS_OF_TWO = {
    "ß": "ss",
    "ẞ": "ss",
    "æ": "ae",
    "Æ": "ae",
    "œ": "oe",
    "Œ": "oe",
    "ø": "o",
    "Ø": "o",
    "ł": "l",
    "Ł": "l",
    "đ": "d",
    "Đ": "d",
    "ı": "i",
}
"""Letters that Unicode does not decompose, and their usual substitutes."""
_SIGNS_OF_SCRIPTS = frozenset((7, 8, 9, 84, 91, *range(103, 133)))
"""Combining classes of marks that are no accents but distinguish words: the voicing of kana, vowels
and tones of Thai and Lao, viramas of India.
"""


def fold_text(text: str) -> str:
    """Return a text in lower case, without accents, every character at its usual width."""
    if text.isascii():
        return text.lower()
    marked = unicodedata.normalize("NFKD", text)
    signs = set(marked)
    for sign in filter(unicodedata.combining, signs):
        if unicodedata.combining(sign) not in _SIGNS_OF_SCRIPTS:
            marked = marked.replace(sign, "")
    for letter in signs & _LETTERS_OF_TWO.keys():
        marked = marked.replace(letter, _LETTERS_OF_TWO[letter])
    marked = marked.lower()
    if marked.isascii():
        return marked
    return unicodedata.normalize("NFC", marked)


def to_plain_words(text: str) -> str:
    """Return folded words with one space between two, without signs."""
    return _NO_WORD.sub(" ", fold_text(text)).strip()


def split_words(text: str) -> list[str]:
    """Split a text into folded words, in order. ``don't`` is ``do``, ``Anna's`` is ``anna``.

    The technical names ``foreign_keys``, ``os.path.join``, ``--no-ff`` and ``-O`` are found by
    their parts, and exactly: after its parts each is added as one word. So is an option with the
    name of a stop word, ``--onto``; and ``-O`` differs from ``-o``. The version ``v3.11`` is
    found as ``3.11``, and by its parts. The names ``maxParamLength`` and ``ContentTypeParser`` are
    found by their parts, too. Scripts without spaces are split by
    :func:`~aitp_desk.knowledge.search.ngrams.ngrams_of`.
    """
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", text)
    if "-" in text:
        text = _CAPITAL_OPTION.sub(_MARKED, text)
    if _IN_HUMPS.search(text):
        text = _HUMPS.sub(_with_parts, text)
    text = fold_text(text)
    if text.isascii() or IN_RUN.search(text) is None:
        return _spaced(text)
    found: list[str] = []
    start = 0
    for run in RUN.finditer(text):
        if run.start() > start:
            found += _spaced(text[start : run.start()])
        found += ngrams_of(run)
        start = run.end()
    return found + _spaced(text[start:])


def _with_parts(name: re.Match[str]) -> str:
    """Return a name such as ``maxParamLength``, followed by its parts."""
    return f"{name[0]} {' '.join(_HUMP.findall(name[0].rpartition('.')[2]))}"


def _spaced(text: str) -> list[str]:
    """Return the words of a folded text with spaces."""
    may_join = "-" in text or "_" in text or "." in text[:-1]
    if not may_join or _JOINED.search(text) is None:
        return _WORD.findall(text)
    found: list[str] = []
    for token in _TOKEN.finditer(text):
        option = token["name"] or ""
        if len(option) == 2 and option[1] == NAME_SIGN:
            found += (option[0], NAME_SIGN + option)
            continue
        version = _VERSION.fullmatch(token[0])
        parts = _WORD.findall(version[1] if version else token[0])
        found += parts
        is_name = len(parts) > 1 and (version or _LETTERS.search(token[0]) is not None)
        if is_name or len(option) == 1 or option in STOP_WORDS:
            found.append(NAME_SIGN + NAME_SIGN.join(parts))
        elif len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts):
            found.append("".join(parts))  # P.O. box
    return found


def make_stems(words: Iterable[str]) -> Mapping[str, str]:
    """Return the stem of each of these folded words."""
    stemmer = Stemmer()
    found = dict.fromkeys(words, "")
    stemmer.learn(found)
    return {word: stemmer.stem(word) for word in found}


class Stemmer:
    """Returns the stems of words, as the full-text index makes them.

    Learnt words are kept for good; of others a bounded number is cached.

    Parameters:
        known: words whose stems are known.

    Attributes:
        has_learnt: whether a folded word was learnt.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, str] = dict(known or {})
        self.has_learnt = self._known.__contains__
        self._met: dict[str, str] = {}
        # an empty in-memory database: only its tokenizer is needed
        self._tokens = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._tokens.execute(
            f"CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='{TOKENIZER}')"
        )
        self._tokens.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance')")
        weakref.finalize(self, self._tokens.close)

    def learn(self, words: Iterable[str]) -> None:
        """Compute and keep the stems of many words at once."""
        known = self._known
        new = sorted(word for word in set(words) if word not in known)
        known.update(zip(new, self._stems(new), strict=True))

    def stem(self, word: str) -> str:
        """Return the stem of one folded word."""
        known = self._known.get(word) or self._met.get(word)
        if known is None:
            if len(self._met) >= _MAX_MET:
                self._met.clear()
            known = self._met[word] = self._stems([word])[0]
        return known

    def stems(self, words: Sequence[str]) -> list[str]:
        """Return the stems of folded words, in order."""
        try:
            return list(map(self._known.__getitem__, words))
        except KeyError:
            return [self.stem(word) for word in words]

    def _stems(self, words: list[str]) -> list[str]:
        run = self._tokens.execute
        run("BEGIN")
        run("INSERT INTO word (word) VALUES ('delete-all')")
        spelt = [(row, word) for row, word in enumerate(words) if word < FIRST]
        self._tokens.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", spelt)
        found = list(words)
        for row, term in run('SELECT doc, term FROM stem ORDER BY doc, "offset" DESC'):
            found[row] = term
        run("COMMIT")
        return found
