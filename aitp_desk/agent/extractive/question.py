"""Reads a question: its subject, its weighted terms, and the expected type of answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from aitp_desk.agent.extractive.answer_type import find_expected_type
from aitp_desk.agent.extractive.dialogue.topics import asks_for_topics
from aitp_desk.knowledge.documents.genre import find_preferred_genres
from aitp_desk.knowledge.documents.sentences import split_sentences
from aitp_desk.knowledge.search.tokenizer import split_words
from aitp_desk.knowledge.search.vocabulary import Term, Vocabulary

MAX_READ = 4096
"""How many characters of a message are read."""

MAX_WANTED = 32
"""The most terms of a search: of a long message the most significant ones."""

ASIDE, NEAR = 0.45, 0.6
"""The weight of words that lead up to the question in a longer message, and of those in the
sentence just before a question without its own subject.
"""

_PREDICATE = 0.6
"""The weight of words in the predicate, relative to the subject."""

TELLING = 1.0
"""From this weight on a word is significant."""
_ENOUGH = 2

_ASKS = re.compile(
    r"^(?:(?:and|so|but|or|now|hi|hello|please)[, ]+)*"
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|am|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|have|has|show|"
    r"give|tell|explain|list|describe|find)\b",
    re.IGNORECASE,
)
_HOW_IT_WORKS = re.compile(r"\b(how (?:do|does)\b.*?) works?\b(?=\W*$)", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:(?<!\bis )it|it(?! \w+ (?:to|that)\b)|its|that|this|those|these|they|them|their|"
    r"theirs|one|ones|there|mine|either|neither|both|the same|"
    r"the other|the former|the latter|such)\b"
)
_ABBREVIATION = re.compile(
    r"\b(?:e\.\s?g|i\.\s?e|z\.\s?b|d\.\s?h|u\.\s?a|p\.\s?ex|p\.\s?ej|a\.\s?k\.\s?a)\.?(?!\w)",
    re.IGNORECASE,
)
"""Abbreviations without meaning for the search."""
_TELL_ME = re.compile(
    r"^((?:(?:and|so|but|or|now|hi|hello|please|can you|could you)[, ]+)*)"
    r"(?:explain|describe|define)(?: to)?(?: me| us)?(?=\s)",
    re.IGNORECASE,
)
_SHOW_ME = re.compile(
    r"^((?:(?:and|hi|hello|please|can you|could you)[, ]+)*)(?:show|give|write)(?: me| us)? "
    r"(?:(?:an?|the|some|your) )?(?:(?:code|example|short|simple|small|minimal|working) )*"
    r"(?:code|examples?|snippets?|commands?|samples?)(?: of code)? "
    r"(?:(?:of |on )?how to|to|for|that|which|of)\b",
    re.IGNORECASE,
)
"""Asks for code that does something, and not for the word "code"."""
_THING = re.compile(
    r"^(?:(?:and|so|but|or|now|hi|hello|please)[, ]+)*(?:what|which)\s+(\S.*?)\s+"
    r"(?:should|do|does|did|can|could|must|may|might|will|would|shall)\b(.*)$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]*")


class WantedTerm(msgspec.Struct, frozen=True):
    """A term and its weight in this turn.

    Parameters:
        weight: how much a match of the term counts in this turn.
        carried: whether it comes from an earlier question.
    """

    term: Term
    factor: float
    weight: float
    carried: bool = False

    @classmethod
    def of(cls, term: Term, factor: float = 1.0, *, carried: bool = False) -> WantedTerm:
        """Return a term with a share of its weight."""
        return cls(term, factor, term.weight * factor, carried)


class ReadQuestion(msgspec.Struct, frozen=True):
    """A question as it was read.

    Parameters:
        text: the part that asks.
        wanted: its terms.
        expects: the types of figures that would answer it, as flags; none for most questions.
        names: folded words that are written as names.
        document: path of the page that the conversation is about, or None.
        section: number of the passage on it that answered before, or None.
        leans: whether it depends on the conversation.
        said: the whole message, with its context: for what reads more than terms.
        length: how many words the message has.
        foreign: whether it is in another language than the content.
        prefers: the genres of passages that it prefers, as flags.
        business: what it asks about the site itself, such as "hours"; empty for most questions.
    """

    text: str
    wanted: tuple[WantedTerm, ...]
    expects: int
    names: frozenset[str] = frozenset()
    document: str | None = None
    section: int | None = None
    leans: bool = False
    said: str = ""
    length: int = 0
    foreign: bool = False
    prefers: int = 0
    business: str = ""


def read_question(text: str, vocabulary: Vocabulary) -> ReadQuestion:
    """Read a question of any length."""
    said = text = " ".join(text.split())
    if "." in text:
        text = _ABBREVIATION.sub("", text)
    if "work" in text:
        text = _HOW_IT_WORKS.sub(r"\1", text)
    if asks_for_topics(text):
        return ReadQuestion(text=text, wanted=(), expects=0, said=said)
    if example := _SHOW_ME.match(text):
        text = f"{example[1]}how to{text[example.end() :]}"
    if command := _TELL_ME.match(text):
        text = f"{command[1]}what is{text[command.end() :]}"
    parts = (split_sentences(text) if text != text.lower() else _SENTENCE_END.split(text)) or [text]
    names = _names(text)
    if len(parts) == 1:
        words = vocabulary.words(parts[0], names)
        terms = vocabulary.terms(words, names)
        wanted = {term.word: WantedTerm(term, 1.0, term.weight) for term in terms}
    else:
        parts, words, wanted = _read_several(parts, names, vocabulary)
    if "what" in words or "which" in words:
        _weigh_predicate(parts, wanted, vocabulary)
    if len(wanted) > MAX_WANTED:
        told = sorted(wanted.values(), key=_by_weight, reverse=True)[:MAX_WANTED]
        wanted = {item.term.word: item for item in told}
    asked = " ".join(parts)
    return ReadQuestion(
        text=asked,
        wanted=tuple(wanted.values()),
        expects=find_expected_type(words),
        names=names,
        said=said,
        prefers=find_preferred_genres(said),
    )


def shorten_message(text: str) -> str:
    """Shorten a very long message to its beginning and end. Questions are mostly there."""
    if len(text) <= MAX_READ:
        return text
    return f"{text[: MAX_READ // 2]} {text[-(MAX_READ // 2) :]}"


def is_question(text: str) -> bool:
    """Return whether a text is a whole question rather than keywords."""
    return _ASKS.match(text) is not None


def points_back(text: str) -> bool:
    """Return whether a text refers to something before by "it", "that" or the like."""
    return _POINTS_BACK.search(text.lower()) is not None


def count_telling_words(wanted: Iterable[WantedTerm]) -> int:
    """Return how many of a question's own words are significant."""
    return sum(w.factor >= 1 and w.weight > TELLING and not w.carried for w in wanted)


def _by_weight(wanted: WantedTerm) -> float:
    return wanted.weight


def _read_several(
    parts: list[str], names: frozenset[str], vocabulary: Vocabulary
) -> tuple[list[str], list[str], dict[str, WantedTerm]]:
    """Return the asking sentences, their words, and the weighted terms of all sentences."""
    said = [vocabulary.words(part, names) for part in parts]
    read = [vocabulary.terms(words, names) for words in said]
    asks = [part.endswith("?") or _ASKS.match(part) is not None for part in parts]
    if not any(asks):
        asks[-1] = True
    wanted: dict[str, WantedTerm] = {}
    for terms, factor in zip(read, _factors(asks, read), strict=True):
        for term in terms:
            known = wanted.get(term.word)
            if known is None or known.factor < factor:
                wanted[term.word] = WantedTerm.of(term, factor)
    asking = [part for part, does in zip(parts, asks, strict=True) if does]
    words = [word for part, does in zip(said, asks, strict=True) if does for word in part]
    return asking, words, wanted


def _factors(asks: list[bool], read: list[list[Term]]) -> list[float]:
    """Return the weight of each sentence's words.

    "Can I still use it?" has no subject: that is in the sentence before.
    """
    if all(asks):
        return [1.0] * len(asks)
    factors = [1.0 if does else ASIDE for does in asks]
    said = sum(_telling(terms) for terms, does in zip(read, asks, strict=True) if does)
    for at in reversed(range(len(read))):
        if said >= _ENOUGH:
            break
        if not asks[at] and read[at]:
            factors[at] = NEAR
            said += _telling(read[at])
    return factors


def _weigh_predicate(
    parts: list[str], wanted: dict[str, WantedTerm], vocabulary: Vocabulary
) -> None:
    """Reduce the weight of the predicate relative to the subject.

    "Which payment methods may a guest use?" asks for payment methods.
    """
    for part in parts:
        found = _THING.match(part)
        if found is None:
            continue
        thing = [wanted[term.word] for term in _terms(found[1], vocabulary) if term.word in wanted]
        if sum(item.weight > TELLING for item in thing) < _ENOUGH:
            continue
        for term in _terms(found[2], vocabulary):
            said = wanted.get(term.word)
            if said is not None and said not in thing and term.known:
                wanted[term.word] = WantedTerm.of(term, said.factor * _PREDICATE)


def _terms(text: str, vocabulary: Vocabulary) -> list[Term]:
    return vocabulary.terms(vocabulary.words(text))


def _telling(terms: list[Term]) -> int:
    return sum(term.weight > TELLING for term in terms)


def _names(text: str) -> frozenset[str]:
    """Return words with a capital inside a sentence; none if every other word has one."""
    if text[1:].islower():
        return frozenset()
    found = split_words(" ".join([name for name in _NAME.findall(text) if name != "I"]))
    return frozenset(found) if len(found) * 2 < len(text.split()) else frozenset()
