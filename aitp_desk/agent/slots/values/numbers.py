"""Reads numbers in words and digits, and amounts of money."""

from __future__ import annotations

import re
from decimal import Decimal

import msgspec

from aitp_desk.agent.slots.tokens import TokenText, fold_word

_DIGITS = re.compile(r"[0-9]{1,15}(?:[.,][0-9]{1,15})*", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,6})[-–]([0-9]{1,6})", re.ASCII)
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+", re.ASCII)
_THOUSANDS_AND_MORE = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+", re.ASCII)
_DOTTED = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+", re.ASCII)
_DOTTED_AND_MORE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+", re.ASCII)
_COMMA = re.compile(r"[0-9]+,[0-9]+", re.ASCII)

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_LONGEST_SPELLED = 12
_A_PAIR = (Decimal(1), Decimal(2))
_LARGE = {"hundred": 100, "thousand": 1000}
_PARTS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_WRITTEN_PARTS = {"1/2": _PARTS["½"], "1/4": _PARTS["¼"], "3/4": _PARTS["¾"]}
_WITH_PART = re.compile(r"([0-9]{0,6})([½¼¾])")
_NOT_A_COUNT = frozenset(
    "that this which every each no the other another any last next new".split()
)
"""After one of these "one" is not a number: "the blue one", "that one"."""

_CODES = "EUR USD GBP CHF JPY CAD AUD NZD SEK NOK DKK PLN CZK HUF INR CNY SGD HKD MXN".split()
_CURRENCIES = {code.lower(): (code,) for code in _CODES} | {
    "€": ("EUR",),
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "euro": ("EUR",),
    "dollar": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD"),
    "buck": ("USD", "CAD", "AUD"),
    "pound": ("GBP",),
    "quid": ("GBP",),
    "franc": ("CHF",),
    "yen": ("JPY",),
    "krona": ("SEK",),
    "kronor": ("SEK",),
    "zloty": ("PLN",),
}

UNITS = frozenset(
    fold_word(word)
    for word in "second seconds minute minutes min mins hour hours hr day days night nights week "
    "weeks month months year years yr decade percent percentage degree degrees kg kilo kilos "
    "kilogram gram grams g mg lb lbs ounce ounces oz ton m cm mm km metre metres meter meters "
    "mile miles foot feet ft inch inches l litre litres liter liters ml gallon gb mb watt watts "
    "volt volts star stars point points am pm o'clock times cent cents "
    "person persons people man men guest adult child children kid kids "
    "floor stop page pages mph kmh k".split()
)
"""Units that are counted instead of the thing that is asked for."""

_ABOUT = frozenset("about around roughly approximately circa almost nearly maybe perhaps".split())
_BOUNDS = sorted(
    (
        (bound, tuple(phrase.split()))
        for bound, phrases in (
            ("most", "no more than, less than, cheaper than, up to, at most, under, below, within"),
            ("most", "max, maximum"),
            ("least", "no less than, more than, at least, starting at, over, above, min, minimum"),
        )
        for phrase in phrases.split(", ")
    ),
    key=lambda known: -len(known[1]),
)
"""How a number is bounded, by the words before it; longer phrases precede their endings."""
_ENDS_OF_BOUNDS = frozenset(phrase[-1] for _, phrase in _BOUNDS)


class Number(msgspec.Struct, frozen=True):
    """A number in a text.

    Parameters:
        start: its first token.
        end: the position after its last token.
        values: several if it is ambiguous, or if two are named.
        bound: ``most`` (under 50), ``least`` (over 50), ``about``, or empty.
        begins: its first token, or that of the words that bound it.
    """

    start: int
    end: int
    values: tuple[Decimal, ...]
    bound: str = ""
    begins: int = 0


class Amount(msgspec.Struct, frozen=True):
    """A number with a currency: ``29.99 EUR``, ``€20``.

    Parameters:
        currencies: possible ISO 4217 codes of the sign or word.
    """

    number: Number
    start: int
    end: int
    currencies: tuple[str, ...]


def read_number(text: TokenText, start: int) -> Number | None:
    """Read the number at a token, and an alternative one (2 or 3)."""
    first = _one_at(text, start)
    if first is None:
        return None
    end, values = first
    joins = text.fold(end) in {"or", "to"} or text.word(end) in {"-", "–", "/"}
    joins = joins or (text.fold(end), text.fold(start - 1)) == ("and", "between")
    if joins and (second := _one_at(text, end + 1)) is not None:
        end, values = second[0], values + second[1]
    bound, begins = _bound_before(text, start)
    return Number(start, end, tuple(dict.fromkeys(values)), bound, begins)


def read_amount(text: TokenText, start: int) -> Amount | None:
    """Read the amount of money whose number begins at a token."""
    number = read_number(text, start)
    if number is None:
        return None
    if after := _currency_at(text, number.end):
        return Amount(number, start, number.end + 1, after)
    before = _currency_at(text, start - 1)
    if not before or (start > 1 and read_number(text, start - 2) is not None):
        return None
    bound, begins = _bound_before(text, start - 1)
    number = msgspec.structs.replace(number, bound=bound, begins=begins)
    return Amount(number, start - 1, number.end, before)


def _currency_at(text: TokenText, place: int) -> tuple[str, ...]:
    return _CURRENCIES.get(text.fold(place) or text.word(place), ())


def _one_at(text: TokenText, start: int) -> tuple[int, tuple[Decimal, ...]] | None:
    """Read a number with a following fraction or pairs: ``two and a half``, ``2 pairs of``."""
    found = _whole_at(text, start)
    if found is None:
        return None
    end, values = found
    if text.fold(end) == "pair" and text.fold(end + 1) == "of":
        # boots are sold by the pair and mugs are not
        return end + 1, (*values, *(2 * value for value in values))
    part, after = _part_at(text, end)
    if part and len(values) == 1 and values[0] == values[0].to_integral_value():
        return after, (values[0] + part,)
    return found


def _part_at(text: TokenText, place: int) -> tuple[Decimal, int]:
    """Read a fraction after a number, and return where it ends; zero for nothing."""
    if [text.fold(place + at) for at in range(3)] == ["and", "a", "half"]:
        return _PARTS["½"], place + 3
    word = text.word(place)
    return _PARTS.get(word) or _WRITTEN_PARTS.get(word) or Decimal(0), place + 1


def _whole_at(text: TokenText, start: int) -> tuple[int, tuple[Decimal, ...]] | None:
    word = text.word(start)
    if word in {"-", "−"} and text.touches(start + 1) and not text.touches(start):
        below = _one_at(text, start + 1)
        if below is None or not text.word(start + 1)[0].isdigit():
            return None
        return below[0], tuple(-value for value in below[1])
    if found := _RANGE.fullmatch(word):
        return start + 1, (Decimal(found[1]), Decimal(found[2]))
    if found := _WITH_PART.fullmatch(word):
        return start + 1, (Decimal(found[1] or 0) + _PARTS[found[2]],)
    if _DIGITS.fullmatch(word):
        end = start + 1
        values = _values(word)
        if text.fold(end) == "dozen":
            return end + 1, tuple(12 * value for value in values)
        return end, values
    return _spelled_at(text, start)


def _values(digits: str) -> tuple[Decimal, ...]:
    """Return the possible values of digits, with separators of thousands and decimals."""
    if _THOUSANDS.fullmatch(digits) or _THOUSANDS_AND_MORE.fullmatch(digits):
        return (Decimal(digits.replace(",", "")),)
    if _DOTTED_AND_MORE.fullmatch(digits):
        return (Decimal(digits.replace(".", "").replace(",", ".")),)
    if _DOTTED.fullmatch(digits):
        thousands = Decimal(digits.replace(".", ""))
        return (thousands,) if digits.count(".") > 1 else (Decimal(digits), thousands)
    if _COMMA.fullmatch(digits):
        return (Decimal(digits.replace(",", ".")),)
    if digits.count(".") + digits.count(",") > 1:
        return ()
    return (Decimal(digits),)


def _spelled_at(text: TokenText, start: int) -> tuple[int, tuple[Decimal, ...]] | None:
    """Read a number in words: ``twenty-five``, ``half a dozen``, ``a pair of``."""
    place, word = start, text.fold(start)
    if word == "half" and text.fold(start + 1) == "a" and text.fold(start + 2) == "dozen":
        return start + 3, (Decimal(6),)
    if word in {"a", "an"}:
        place += 1
        if text.fold(place) == "pair" and text.fold(place + 1) == "of":
            return place + 1, _A_PAIR
        if text.fold(place) not in {"dozen", *_LARGE}:
            return None
        total = 1
    elif word in _SMALL or word in _TENS:
        if word == "one" and (text.fold(start - 1) in _NOT_A_COUNT or text.fold(start + 1) == "of"):
            return None
        place, total = _below_hundred(text, start)
    else:
        return None
    if text.fold(place) == "dozen":
        return place + 1, (Decimal(12 * total),)
    return _with_hundreds(text, place, total)


def _with_hundreds(text: TokenText, place: int, total: int) -> tuple[int, tuple[Decimal, ...]]:
    """Add the hundreds and thousands that follow a number's first words."""
    whole, last = 0, place + _LONGEST_SPELLED
    while place < last and (factor := _LARGE.get(text.fold(place))) is not None:
        place += 1
        if factor == 1000:
            whole, total = (whole + total) * factor, 0
        else:
            total *= factor
        after = place + (text.fold(place) == "and")
        if _is_small(text.fold(after)):
            place, more = _below_hundred(text, after)
            total += more
    return place, (Decimal(whole + total),)


def _is_small(word: str) -> bool:
    return word in _SMALL or word in _TENS


def _below_hundred(text: TokenText, place: int) -> tuple[int, int]:
    tens = _TENS.get(text.fold(place))
    if tens is None:
        return place + 1, _SMALL[text.fold(place)]
    place += 1
    if text.word(place) in {"-", "–"}:
        units = _SMALL.get(text.fold(place + 1), 0)
        return (place + 2, tens + units) if 0 < units < 10 else (place, tens)
    units = _SMALL.get(text.fold(place), 0)
    return (place + 1, tens + units) if 0 < units < 10 else (place, tens)


def _bound_before(text: TokenText, start: int) -> tuple[str, int]:
    """Return how the words before a number bound it, and where they begin."""
    last = text.fold(start - 1)
    if last in _ABOUT:
        return "about", start - 1
    if last in _ENDS_OF_BOUNDS:
        for bound, phrase in _BOUNDS:
            begins = start - len(phrase)
            if all(text.fold(begins + at) == word for at, word in enumerate(phrase)):
                return bound, begins
    return "", start
