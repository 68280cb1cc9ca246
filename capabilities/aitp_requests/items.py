"""Parses one item of a text answer: a choice, and a quantity."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict

from aitp_requests.choices import choices_of
from aitp_requests.messages import RequestDecision

Pick = tuple[str, int | None]
"""The id of a choice, and the quantity if there is one."""

_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_WORDS = {word: number for number, word in enumerate(_NUMBERS, 1)}
_ORDINALS = {word: number for number, word in enumerate(_PLACES, 1)}
_COUNT = rf"(?P<count>[1-9][0-9]{{0,5}}|{'|'.join(_NUMBERS)})"

_BY_NUMBER = re.compile(r"(?P<prefix>option |number |no\. ?|nr\. ?|#)?(?P<number>[0-9]{1,3})[.)]?")
_BY_WORD = re.compile(rf"(?P<prefix>option |number )?(?P<word>{'|'.join(_NUMBERS)})")
_BY_PLACE = re.compile(
    rf"(?:the )?(?:(?P<word>{'|'.join(_PLACES)}|last)|(?P<digits>[1-9][0-9]?)(?:st|nd|rd|th))"
    r"(?: one| option)?"
)
_COUNT_OF = re.compile(rf"{_COUNT} of (?P<what>.+)")
_COUNT_BEFORE = re.compile(rf"{_COUNT}(?: ?[x×])? (?P<what>.+)")
_COUNT_AFTER = re.compile(rf"(?P<what>.+?) ?[x×] ?{_COUNT}")
_COUNT_ALONE = re.compile(
    rf"{_COUNT} (?:of (?:them|those|these|it)|pieces)|[x×] ?(?P<again>[1-9]\d?)"
)

_YES = frozenset("yes|y|yep|yeah|ok|okay|sure|confirm|confirmed|go ahead".split("|"))
_NO = frozenset("no|n|nope|no thanks|no thank you".split("|"))
_AGREEMENT = ((_YES, frozenset({"yes", "confirm"})), (_NO, frozenset({"no"})))
"""Words of agreement, and the first words of the one choice that they mean."""


class Items:
    """Finds the possible meanings of an answer's items for one request.

    Parameters:
        by_name_only: whether other requests are open too: a number could answer each of them.
    """

    def __init__(self, request: RequestDecision, *, by_name_only: bool) -> None:
        self._by_name_only = by_name_only
        self._type = request.type
        self.ids = tuple(choice.id for choice in choices_of(request))
        self._named: dict[str, set[str]] = defaultdict(set)
        self._begun: dict[str, set[str]] = defaultdict(set)
        for choice in choices_of(request):
            for name in (choice.name, *choice.names):
                label = plain(name)
                self._named[label].add(choice.id)
                self._named[label.replace(", ", " ")].add(choice.id)
            self._begun[re.split(r"\W", plain(choice.name), maxsplit=1)[0]].add(choice.id)
        self._named.pop("", None)

    @property
    def are_counted(self) -> bool:
        """Whether quantities are asked for."""
        return self._type == "products"

    def picks(self, item: str, *, is_wished: bool) -> frozenset[Pick]:
        """Return all possible meanings of an item.

        Parameters:
            is_wished: whether a phrase such as *I'll take* preceded it: for products *I'll take 2*
                may be a quantity.
        """
        found: set[Pick] = {(id, None) for id in self._by_number(item, is_wished=is_wished)}
        if not (self._by_name_only and _is_number(item)):
            found |= {(id, None) for id in self._by_name(item)}
        if self.are_counted:
            found |= self._counted(item)
        return frozenset(found)

    def count_alone(self, item: str) -> int | None:
        """Return the quantity of a reference to the previous item: *two of them*."""
        match = _COUNT_ALONE.fullmatch(item) if self.are_counted else None
        return None if match is None else _count(match["count"] or match["again"])

    def _by_name(self, item: str) -> set[str]:
        bare = re.sub(r"\Athe | (?:one|option)\Z", "", item)
        forms = {item, bare, bare.removesuffix(" one")}
        return set().union(*(self._named[form] for form in forms if form in self._named))

    def _by_number(self, item: str, *, is_wished: bool) -> set[str]:
        """Return choices by number or position, and the yes and no of a confirmation."""
        if self._by_name_only:
            return set()
        if by_number := _BY_NUMBER.fullmatch(item):
            is_count = self.are_counted and is_wished and not by_number["prefix"]
            return set() if is_count else self._at(int(by_number["number"]))
        by_word = _BY_WORD.fullmatch(item)
        # for products, "two" may be a quantity
        if by_word and (by_word["prefix"] or not self.are_counted):
            return self._at(_WORDS[by_word["word"]])
        if by_place := _BY_PLACE.fullmatch(item):
            return self._at(self._place(by_place))
        return self._agreed(item) if self._type == "confirmation" else set()

    def _agreed(self, item: str) -> set[str]:
        """Return the choice for yes or no, if only one begins so."""
        for words, beginnings in _AGREEMENT:
            if item in words:
                begun = set().union(*(self._begun.get(word, set()) for word in beginnings))
                return begun if len(begun) == 1 else set()
        return set()

    def _counted(self, item: str) -> set[Pick]:
        """Return choices with quantities. ``2 x 1`` is ambiguous: numbers are counted with *of*."""
        found: set[Pick] = set()
        for form in (_COUNT_OF, _COUNT_BEFORE, _COUNT_AFTER):
            match = form.fullmatch(item)
            if match is None:
                continue
            what = match["what"].removeprefix("the ") if form is _COUNT_OF else match["what"]
            ids = set() if _is_number(what) else self._by_name(what)
            if not ids:
                ids = self._by_name(what.removesuffix("s"))
            if form is _COUNT_OF or _BY_PLACE.fullmatch(what):
                ids = ids | self._by_number(what, is_wished=False)
            found |= {(id, _count(match["count"])) for id in ids}
        return found

    def _at(self, number: int) -> set[str]:
        return {self.ids[number - 1]} if 1 <= number <= len(self.ids) else set()

    def _place(self, match: re.Match[str]) -> int:
        if match["digits"]:
            return int(match["digits"])
        return len(self.ids) if match["word"] == "last" else _ORDINALS[match["word"]]


def plain(text: str) -> str:
    """Normalise text for comparison, without the punctuation at its ends."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    lines = [" ".join(line.split()) for line in folded.strip().splitlines()]
    return "\n".join(filter(None, lines)).strip(" \"'“”„«».!")


def _is_number(item: str) -> bool:
    return any(form.fullmatch(item) for form in (_BY_NUMBER, _BY_WORD, _BY_PLACE))


def _count(words: str) -> int:
    return _WORDS.get(words) or int(words)
