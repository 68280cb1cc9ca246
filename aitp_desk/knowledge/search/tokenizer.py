"""Words: how a text is cut into them, which carry no meaning, and what their stems are.

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
"""A name of several parts is also one word, which begins with this letter: see `words_of`."""

_WORD = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(rf"(?:_|[^\w{MARKS}])+")
_JOINED = re.compile(r"[^\W_][._][^\W_]|(?<![\w-])-{1,2}[a-z]")
_CAPITAL_OPTION = re.compile(r"(?<![\w-])(-[A-Z])(?!\w)")
_HUMPS = re.compile(
    r"\b(?:\w+\.)?(?:[a-z]{2,}(?:[A-Z][a-z\d]+)+|(?:[A-Z][a-z\d]+){3,})(?![.\w]?\w)",
)
_IN_HUMPS = re.compile(r"[A-Z](?<=[a-z\d][A-Z])")
"""The fast way to find out that a text has no such name."""
_HUMP = re.compile(r"[A-Z]?[a-z\d]+")
_MARKED = rf"\1{NAME_SIGN}"
_TOKEN = re.compile(
    r"(?<![\w-])-{1,2}(?P<name>[a-z][^\W_]*(?:[-_.][^\W_]+)*)"
    r"|[^\W_]+(?:[._]{1,2}[^\W_]+)*"
)
_LETTERS = re.compile(r"[^\W\d_]{2}")
_MAX_MET = 20_000
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b|n['’]t\b", re.IGNORECASE)

NEGATIONS = frozenset(
    "not no never cannot none neither nor without except exclude excluded".split()
)
"""Words that turn a sentence into its opposite."""

BETWEEN = frozenset({"it", "them"})
"""Words that may stand inside a phrase: ``put it up`` is ``put up``."""


def _read_english() -> dict[str, frozenset[str]]:
    """The groups of ``english.txt`` by their names."""
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
"""Words that say how something is asked and not what about."""

WEAK_WORDS = _ENGLISH["weak"]
"""Words so general that even where the content uses them rarely they tell little."""

EVERYDAY_WORDS = _ENGLISH["everyday"]
"""Words of everyday English: right as they stand, whatever word of the content is near them."""

NAMES = _ENGLISH["names"]
"""What software, services and firms are called: right as they stand, too."""


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
"""Letters that Unicode does not take apart, and what is typed for them without their key."""
_SIGNS_OF_SCRIPTS = frozenset((7, 8, 9, 84, 91, *range(103, 133)))
"""Combining classes of marks that are no accents but tell words apart: the voicing of kana, vowels
and tones of Thai and Lao, what joins consonants in India."""


def fold_text(text: str) -> str:
    """Lower case, without accents, every character at its usual width."""
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
    """Folded words with one space between two, without signs."""
    return _NO_WORD.sub(" ", fold_text(text)).strip()


def split_words(text: str) -> list[str]:
    """The words of a text, folded, in order. ``don't`` is ``do``, ``Anna's`` is ``anna``.

    The technical names ``foreign_keys``, ``os.path.join``, ``--no-ff`` and ``-O`` are found by
    their parts, and exactly: after its parts each stands as one word more. So does an option that
    is called like a stop word, ``--onto``; and ``-O`` is another one than ``-o``. The names
    ``maxParamLength`` and ``ContentTypeParser`` are found by their parts, too. Scripts without
    spaces are cut by :func:`~aitp_desk.knowledge.search.ngrams.ngrams_of`.
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
    """A name such as ``maxParamLength``, and its parts after it."""
    return f"{name[0]} {' '.join(_HUMP.findall(name[0].rpartition('.')[2]))}"


def _spaced(text: str) -> list[str]:
    """The words of a folded text that has spaces between them."""
    may_join = "-" in text or "_" in text or "." in text[:-1]
    if not may_join or _JOINED.search(text) is None:
        return _WORD.findall(text)
    found: list[str] = []
    for token in _TOKEN.finditer(text):
        option = token["name"] or ""
        if len(option) == 2 and option[1] == NAME_SIGN:
            found += (option[0], NAME_SIGN + option)
            continue
        parts = _WORD.findall(token[0])
        found += parts
        is_name = len(parts) > 1 and _LETTERS.search(token[0]) is not None
        if is_name or len(option) == 1 or option in STOP_WORDS:
            found.append(NAME_SIGN + NAME_SIGN.join(parts))
    return found


def make_stems(words: Iterable[str]) -> Mapping[str, str]:
    """The stem of each of these folded words."""
    stemmer = Stemmer()
    found = dict.fromkeys(words, "")
    stemmer.learn(found)
    return {word: stemmer.stem(word) for word in found}


class Stemmer:
    """Stems of words, as the full-text index makes them.

    The words that it was taught are known for good; of others it keeps so many.

    Parameters:
        known: words whose stems are known.

    Attributes:
        has_learnt: whether a folded word is among those that were taught.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, str] = dict(known or {})
        self.has_learnt = self._known.__contains__
        self._met: dict[str, str] = {}
        # without a file or content: the tokenizer is all that is needed of this database
        self._tokens = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._tokens.execute(
            f"CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='{TOKENIZER}')"
        )
        self._tokens.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance')")
        weakref.finalize(self, self._tokens.close)

    def learn(self, words: Iterable[str]) -> None:
        """Find the stems of many words at once; they are kept."""
        known = self._known
        new = sorted(word for word in set(words) if word not in known)
        known.update(zip(new, self._stems(new), strict=True))

    def stem(self, word: str) -> str:
        """The stem of one folded word."""
        known = self._known.get(word) or self._met.get(word)
        if known is None:
            if len(self._met) >= _MAX_MET:
                self._met.clear()
            known = self._met[word] = self._stems([word])[0]
        return known

    def stems(self, words: Sequence[str]) -> list[str]:
        """The stems of folded words, in order."""
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
