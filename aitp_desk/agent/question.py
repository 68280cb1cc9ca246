"""Reading a question: what it is about, which words count, and what sort of thing would answer it."""

from __future__ import annotations

import re

import msgspec

from aitp_desk.knowledge.figures import Figure
from aitp_desk.knowledge.sentences import sentences
from aitp_desk.knowledge.vocabulary import Term, Vocabulary
from aitp_desk.knowledge.words import words_of

ASIDE = 0.3
"""How much the words count that lead up to the question in a longer message."""

NEAR = 0.6
"""How much they count in the sentence before a question that says nothing by itself."""

TELLING = 1.0
"""From this weight on a word says what a question is about."""
_ENOUGH = 2

_ASKS = re.compile(
    r"^(?:(?:and|so|but|or|now|hi|hello|please)[, ]+)*(?:who|whom|whose|what|when|where|which|why|how|"
    r"is|are|am|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|have|has|show|"
    r"give|tell|explain|list|describe|find)\b",
    re.IGNORECASE,
)

_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]*")

_HOW_IT_WORKS = re.compile(r"\b(how (?:do|does)\b.*?) works?\b(?=\W*$)", re.IGNORECASE)
_ABOUT = re.compile(r"^(?:(?:and|so|but|or|now)[, ]+)*(?:what|how) about\b", re.IGNORECASE)

_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|theirs|one|ones|there|mine|either|neither|"
    r"both|the same|the other|the former|the latter|such)\b",
    re.IGNORECASE,
)

_MONEY = r"\bcosts?\b|\bprices?\b|\bcharges?\b|\bfees?\b|\bexpensive\b|\bcheap|\bpays?\b"
_EXPECTATIONS: list[tuple[re.Pattern[str], Figure]] = [
    (re.compile(pattern, re.IGNORECASE), figure)
    for pattern, figure in (
        (_MONEY, Figure.MONEY),
        (r"\bhow much (?:is|are|for|does it|do i|would|money|to)\b", Figure.MONEY),
        (r"\bhow much\b", Figure.NUMBER),
        (r"\bhow many\b", Figure.NUMBER),
        (r"\bhow (?:long|soon|fast|quick)|\bhow many (?:\w+ )?(?:days|weeks|months|years|hours|"
         r"minutes)|\bdeadline|\bhow often\b|\bexpir|\bvalid\b", Figure.DURATION),
        (r"(?:^|\band |[,.?!] )when\b|\buntil\b|\bwhat time\b|\bwhich day|\bdate\b", Figure.CLOCK | Figure.DATE),
        (r"\bhours\b|\bopen(?:ing)?\b|\bclos(?:e|ing)\b", Figure.CLOCK),
        (r"\bweigh|\bheavy\b|\bgrams?\b|\bkilos?\b|\bkg\b", Figure.WEIGHT),
        (r"\bhow (?:tall|high|wide|deep|far|big|large|long is)|\bdimensions?\b|\bsizes?\b|\bheight\b|"
         r"\blength\b|\bwidth\b", Figure.LENGTH),
        (r"\bhow (?:big|large)|\bcapacity\b|\bvolume\b|\bhow many (?:lit(?:er|re)s|bytes|tokens)|"
         r"\bsize\b", Figure.VOLUME),
        (r"\btemperature|\bhow (?:cold|warm|hot)\b|\bdegrees\b", Figure.TEMPERATURE),
        (r"\bpercent|\bdiscount|\boff\b|\bcommission\b", Figure.PERCENT),
        (r"\bwho (?:wrote|founded|owns?|runs?|made|makes|invented|created|started|is your|is the)\b",
         Figure.PERSON),
        (r"\be-?mail\b", Figure.EMAIL),
        (r"\bphone number\b|\bphone\W*$|\bcall you\b|\btelephone number\b", Figure.PHONE),
        (r"\bwhere\b|\baddress\b|\bwhat(?: is the|'s the)? (?:url|path|location|endpoint|link)\b|"
         r"\bwhich (?:url|path|endpoint|address)\b", Figure.ADDRESS),
        (r"\bcurl\b|\bcommand\b|\bexamples?\b|\bsnippet\b|\bjson (?:body|object|document)\b|"
         r"\bshow me\b|\btag\b|"
         r"\bsyntax\b|\blook(?:s)? like\b|\bsample\b|\bminimal\b|\bwhat request\b", Figure.CODE),
    )
]  # fmt: skip


class Wanted(msgspec.Struct, frozen=True):
    """A term and how much it counts in this turn.

    Parameters:
        carried: whether it comes from an earlier question.
    """

    term: Term
    factor: float = 1.0
    carried: bool = False

    @property
    def weight(self) -> float:
        """What finding the term tells in this turn."""
        return self.term.weight * self.factor


class Asked(msgspec.Struct, frozen=True):
    """A question as it was read.

    Parameters:
        text: the part that asks.
        wanted: what it is about.
        expects: the sorts of figures that would answer it; none for most questions.
        names: folded words that are written as names in the part that asks.
        document: path of the page that the conversation is about, or None.
        bare: whether it says nothing but what sort of thing is asked for: ``How long is that?``.
    """

    text: str
    wanted: tuple[Wanted, ...]
    expects: Figure
    names: frozenset[str] = frozenset()
    document: str | None = None
    bare: bool = False


def read_question(text: str, vocabulary: Vocabulary) -> Asked:
    """Read a message that asks something, however long it is."""
    text = _HOW_IT_WORKS.sub(r"\1", " ".join(text.split()))
    parts = sentences(text) or [text]
    asking = [part for part in parts if part.endswith("?") or (len(parts) > 1 and _ASKS.match(part))]
    core = asking or parts[-1:]
    names = _names(text)
    read = [(part, vocabulary.terms(part, names)) for part in parts]
    # "Can I still use it?" says nothing by itself: what it is about stands just before
    near = set(core)
    for part, terms in reversed(read):
        if sum(term.weight > TELLING for p, known in read if p in near for term in known) >= _ENOUGH:
            break
        if terms:
            near.add(part)
    factors: dict[str, Wanted] = {}
    for part, terms in read:
        factor = 1.0 if part in core else NEAR if part in near else ASIDE
        for term in terms:
            known = factors.get(term.word)
            if known is None or known.factor < factor:
                factors[term.word] = Wanted(term, factor)
    asked = vocabulary.corrected(" ".join(asking or parts[-1:]))
    return Asked(asked, tuple(factors.values()), expected_in(asked), names)


def points_back(text: str) -> bool:
    """Whether a text says "it", "that" or the like for something named before."""
    return _POINTS_BACK.search(text) is not None


def _names(text: str) -> frozenset[str]:
    """Words with a capital inside a sentence; none where every other word has one."""
    found = [name for match in _NAME.findall(text) if match != "I" for name in words_of(match)]
    return frozenset(found) if len(found) * 2 < len(text.split()) else frozenset()


def is_question(text: str) -> bool:
    """Whether a text asks in a sentence, and is not just a row of key words or a fragment."""
    return _ASKS.match(text) is not None and _ABOUT.match(text) is None


def expected_in(text: str) -> Figure:
    """The sorts of figures that a question's wording asks for."""
    expects = Figure.NONE
    for pattern, figure in _EXPECTATIONS:
        if pattern.search(text):
            expects |= figure
    # any number will do only where nothing more exact is asked for
    exact = expects & ~Figure.NUMBER
    return exact or expects
