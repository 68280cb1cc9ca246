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

_ASKS = re.compile(
    r"^(?:(?:and|so|but|or|now|hi|hello|please)[, ]+)*(?:who|whom|whose|what|when|where|which|why|how|"
    r"is|are|am|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|have|has|show|"
    r"give|tell|explain|list|describe|find)\b",
    re.IGNORECASE,
)

_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]*")

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
        (r"\bwhen\b|\buntil\b|\bwhat time\b|\bwhich day|\bdate\b", Figure.CLOCK | Figure.DATE),
        (r"\bhours\b|\bopen(?:ing)?\b|\bclos(?:e|ing)\b", Figure.CLOCK),
        (r"\bweigh|\bheavy\b|\bgrams?\b|\bkilos?\b|\bkg\b", Figure.WEIGHT),
        (r"\bhow (?:tall|high|wide|deep|far|big|large|long is)|\bdimensions?\b|\bsizes?\b|\bheight\b|"
         r"\blength\b|\bwidth\b", Figure.LENGTH),
        (r"\bhow (?:big|large)|\bcapacity\b|\bvolume\b|\blit(?:er|re)s?\b|\bsize\b", Figure.VOLUME),
        (r"\btemperature|\bhow (?:cold|warm|hot)\b|\bdegrees\b", Figure.TEMPERATURE),
        (r"\bpercent|\bdiscount|\boff\b|\bcommission\b|\brate\b", Figure.PERCENT),
        (r"\bwho (?:wrote|founded|owns?|runs?|made|makes|invented|created|started|is your|is the)\b",
         Figure.PERSON),
        (r"\be-?mail\b", Figure.EMAIL),
        (r"\bphone\b|\bcall\b|\btelephone\b", Figure.PHONE),
        (r"\bwhere\b|\baddress\b|\burl\b|\bpath\b|\blocat|\bendpoint\b|\blink\b", Figure.ADDRESS),
        (r"\bcurl\b|\bcommand\b|\bexamples?\b|\bsnippet\b|\bjson\b|\bshow me\b|\btag\b|"
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
    parts = sentences(" ".join(text.split())) or [text]
    asking = [part for part in parts if part.endswith("?") or (len(parts) > 1 and _ASKS.match(part))]
    core = asking or parts[-1:]
    names = _names(text)
    factors: dict[str, Wanted] = {}
    for part in parts:
        factor = 1.0 if part in core else ASIDE
        for term in vocabulary.terms(part, names):
            known = factors.get(term.word)
            if known is None or known.factor < factor:
                factors[term.word] = Wanted(term, factor)
    asked = vocabulary.corrected(" ".join(core))
    return Asked(asked, tuple(factors.values()), expected_in(asked), names)


def _names(text: str) -> frozenset[str]:
    """Words with a capital inside a sentence; none where every other word has one."""
    found = [name for match in _NAME.findall(text) for name in words_of(match)]
    return frozenset(found) if len(found) * 2 < len(text.split()) else frozenset()


def is_question(text: str) -> bool:
    """Whether a text asks in a sentence, and is not just a row of key words."""
    return _ASKS.match(text) is not None


def expected_in(text: str) -> Figure:
    """The sorts of figures that a question's wording asks for."""
    expects = Figure.NONE
    for pattern, figure in _EXPECTATIONS:
        if pattern.search(text):
            expects |= figure
    # any number will do only where nothing more exact is asked for
    exact = expects & ~Figure.NUMBER
    return exact or expects
