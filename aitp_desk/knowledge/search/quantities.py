"""Detects figures in a text: money, times, weights. A question about one expects it."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Flags, joined by "|". Plain integers: they are compared thousands of times for an answer.
MONEY = 1
DURATION = 2
CLOCK = 4
DATE = 8
WEIGHT = 16
LENGTH = 32
VOLUME = 64
TEMPERATURE = 128
PERCENT = 256
NUMBER = 512
EMAIL = 1024
PHONE = 2048
ADDRESS = 4096
CODE = 8192
PERSON = 16384
DEFAULT = 32768

_COUNT = (
    r"(?:\d[\d.,]*[\s–-]*|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|an?|each|per)[\s–-]+)"
)
_PERIOD = r"(?:s|ms|sec|seconds?|min|minutes?|h|hours?|days?|nights?|weeks?|months?|years?)\b"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_PATTERNS = {
    MONEY: r"[$€£¥]\s?\d|\d\s?(?:dollars?|euros?|usd|eur|gbp|cents?)\b|\bfree\b|"
    r"\bno (?:fee|charge)",
    DURATION: rf"\b{_COUNT}"
    rf"(?:(?:to|or|full|business|working|calendar)[\s-]+|\d+\s)*{_PERIOD}|"
    r"\b(?:next|same) (?:business )?day\b|\b(?:never|until) \w+|\b\d+/(?:second|minute|hour|day)",
    CLOCK: r"\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bclosed\b",
    DATE: rf"\b{_MONTH}\.? \d|\d{{1,2}}\.? {_MONTH}\b|\b(?:19|20)\d\d\b|\bof {_MONTH}\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    WEIGHT: r"\d\s?(?:kg|g|mg|lbs?|oz|ounces?|pounds?|grams?|kilos?|tons?|tonnes?)\b",
    LENGTH: r"\d\s?(?:mm|cm|m|km|in|inch(?:es)?|ft|feet|foot|miles?|met(?:er|re)s?)\b",
    VOLUME: r"\d[\s-]?(?:ml|l|lit(?:er|re)s?|gallons?|[kmgt]i?b|bytes|characters|tokens)\b",
    TEMPERATURE: r"\d\s?°|\bdegrees\b|\bfreezing\b",
    PERCENT: r"\d\s?%|\bpercent\b|\bhalf\b",
    NUMBER: r"\d|\b(?:once|twice|one|two|three|four|five|six|seven|eight|nine|ten|twelve|both)\b",
    EMAIL: r"\S@\w",
    PHONE: r"\+?\d[\d\s()-]{7,}\d",
    ADDRESS: r"/\w|\.(?:com|example|org)\b|"
    r"\b\d+ (?:\w+ )?\w+ (?:street|st|avenue|ave|road|rd|way|lane|drive|boulevard|yard)\b",
    CODE: r"^```|/[\w.{}-]+/[\w{}-]+",
    DEFAULT: r"(?<!non-)\bdefaults?\b.{0,60}?\b(?:is|are|to|was|of|value|=)\b|\bby default\b|"
    r"\(default|\bdefault:|^default\b|\w ?= ?\w+[,)]",
    PERSON: r"\b(?:written|founded|run|owned|led|made|created|edited|started) (?:in \d+ )?by\b|"
    r"\b(?:authors?|founders?|owner|director|manager|editors?)\b",
}
# in lower case, which is searched in two thirds of the time of both cases
_READERS = [(flag, re.compile(pattern, re.MULTILINE)) for flag, pattern in _PATTERNS.items()]

_DIGIT = re.compile(r"\d")
_WITH_A_DIGIT = CLOCK | DATE | WEIGHT | LENGTH | VOLUME | NUMBER | PHONE | ADDRESS
_WITH_A_WORD: dict[int, tuple[str, ...]] = {
    MONEY: (*"$ € £ ¥ dollar eur usd gbp cent free".split(), "no fee", "no charge"),
    CLOCK: ("noon", "midnight", "closed"),
    DATE: (
        "day",
        *(f"of {month}" for month in "jan feb mar apr may jun jul aug sep oct nov dec".split()),
    ),
    TEMPERATURE: ("°", "degrees", "freezing"),
    PERCENT: ("%", "percent", "half"),
    NUMBER: tuple(
        "once twice one two three four five six seven eight nine ten twelve both".split()
    ),
    EMAIL: ("@",),
    ADDRESS: ("/", ".com", ".example", ".org"),
    CODE: ("/", "```"),
    DEFAULT: ("default", "="),
    PERSON: (" by", "author", "founder", "owner", "director", "manager", "editor"),
}
"""A figure of a type contains one of its words, or, if allowed, a digit: that is tested first, and
takes a small part of the time. Durations are in nearly every text.
"""
_ALWAYS = DURATION


def find_quantities(texts: Sequence[str]) -> list[int]:
    """Return the types of figures in each text, as flags."""
    texts = [text.lower() for text in texts]
    joined = "\n".join(texts)
    worded = _ALWAYS
    for flag, words in _WITH_A_WORD.items():
        if any(word in joined for word in words):
            worded |= flag
    without_digits = [reader for reader in _READERS if reader[0] & worded]
    with_digits = [reader for reader in _READERS if reader[0] & (worded | _WITH_A_DIGIT)]
    found: list[int] = []
    for text in texts:
        readers = with_digits if _DIGIT.search(text) else without_digits
        found.append(sum(flag for flag, pattern in readers if pattern.search(text)))
    return found
