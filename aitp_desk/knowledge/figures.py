"""What sort of figures a text holds: money, times, weights. A question about one expects it."""

from __future__ import annotations

import re
from enum import IntFlag


class Figure(IntFlag):
    """The sorts of figures and other exact things that questions ask for."""

    NONE = 0
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


_COUNT = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|an?|each|per)"
_MONTHS = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_PATTERNS = {
    Figure.MONEY: r"[$€£¥]\s?\d|\d\s?(?:dollars?|euros?|usd|eur|gbp|cents?)\b|\bfree\b|\bno (?:fee|charge)",
    Figure.DURATION: rf"\b{_COUNT}[\s–-]*(?:(?:to|or|full|business|working|calendar)[\s-]+|\d+\s)*"
    r"(?:milli|micro)?(?:s|ms|sec|seconds?|min|minutes?|h|hours?|days?|nights?|weeks?|months?|years?)\b"
    r"|\b(?:next|same) (?:business )?day\b|\b(?:never|until) \w+|\b\d+/(?:second|minute|hour|day)",
    Figure.CLOCK: r"\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bmidnight\b|\bclosed\b",
    Figure.DATE: rf"\b(?:{_MONTHS})\.? \d|\d{{1,2}}\.? (?:{_MONTHS})\b|\b(?:19|20)\d\d\b|"
    rf"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b|\bof (?:{_MONTHS})\b",
    Figure.WEIGHT: r"\d\s?(?:kg|g|mg|lbs?|oz|ounces?|pounds?|grams?|kilos?|tons?|tonnes?)\b",
    Figure.LENGTH: r"\d\s?(?:mm|cm|m|km|in|inch(?:es)?|ft|feet|foot|miles?|met(?:er|re)s?)\b",
    Figure.VOLUME: r"\d[\s-]?(?:ml|l|lit(?:er|re)s?|gallons?|[kmgt]i?b|bytes|characters|tokens)\b",
    Figure.TEMPERATURE: r"\d\s?°|\bdegrees\b|\bfreezing\b",
    Figure.PERCENT: r"\d\s?%|\bpercent\b|\bhalf\b",
    Figure.NUMBER: r"\d|\b(?:once|twice|one|two|three|four|five|six|seven|eight|nine|ten|twelve|both)\b",
    Figure.EMAIL: r"\S@\w",
    Figure.PHONE: r"\+?\d[\d\s()-]{7,}\d",
    Figure.ADDRESS: r"\b\d+ [A-Z]?\w+ (?:street|st|avenue|ave|road|rd|way|lane|drive|boulevard)\b|/\w|\.(?:com|example|org)\b",
    Figure.PERSON: r"\b(?:written|founded|run|owned|led|made|created|edited|started) (?:in \d+ )?by\b|"
    r"\b(?:authors?|founders?|owners?|director|manager|editors?)\b",
    Figure.CODE: r"^```|/[\w.{}-]+/[\w{}-]+",
}  # fmt: skip
_READERS = [
    (kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for kind, pattern in _PATTERNS.items()
]


def figures_in(text: str) -> Figure:
    """The sorts of figures that a text holds."""
    found = Figure.NONE
    for kind, pattern in _READERS:
        if pattern.search(text):
            found |= kind
    return found
