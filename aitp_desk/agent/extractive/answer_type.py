"""Determines the type of answer a question expects: money, duration, time, code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from aitp_desk.knowledge.search.quantities import (
    ADDRESS,
    CLOCK,
    CODE,
    DATE,
    DEFAULT,
    DURATION,
    EMAIL,
    LENGTH,
    MONEY,
    NUMBER,
    PERCENT,
    PERSON,
    PHONE,
    TEMPERATURE,
    VOLUME,
    WEIGHT,
)

_BY_WORD: dict[str, int] = {
    word: flags
    for words, flags in (
        ("cost costs price prices charge charges fee fees expensive cheap cheaper pay pays", MONEY),
        ("deadline expire expires expired expiry valid validity", DURATION),
        ("until date", CLOCK | DATE),
        ("open opening opens close closes closing", CLOCK),
        ("weigh weighs weight heavy heavier gram grams kilo kilos kg", WEIGHT),
        ("dimension dimensions size sizes height length width", LENGTH),
        ("capacity volume size", VOLUME),
        ("temperature temperatures degrees", TEMPERATURE),
        ("percent percentage discount discounts off commission", PERCENT),
        ("email mail", EMAIL),
        ("dollars dollar euros euro cents", MONEY),
        ("kilograms pounds ounces lb lbs oz", WEIGHT),
        ("inches feet meters metres centimeters centimetres millimeters", LENGTH),
        ("kilometers miles cm mm km", LENGTH),
        ("liters litres gallons milliliters bytes kilobytes megabytes tokens characters", VOLUME),
        ("celsius fahrenheit", TEMPERATURE),
        ("seconds minutes hours days nights weeks months years", DURATION),
        ("watts watt kilowatts volts amps horsepower calories kilocalories kcal hertz", NUMBER),
        ("where address", ADDRESS),
        ("default defaults", DEFAULT),
        ("curl command example examples snippet tag syntax sample minimal", CODE),
    )
    for word in words.split()
}
_BY_WORD["size"] = LENGTH | VOLUME

_AFTER_HOW: dict[str, int] = {
    word: flags
    for words, flags in (
        ("much many", NUMBER),
        ("long soon fast quick quickly often", DURATION),
        ("tall wide deep far thick", LENGTH),
        ("high old strong", NUMBER),
        ("big large", LENGTH | VOLUME),
        ("cold warm hot", TEMPERATURE),
    )
    for word in words.split()
}

_BY_PAIR: dict[tuple[str, str], int] = {
    tuple(pair.split()): flags  # type: ignore[misc]  # each names two words
    for pairs, flags in (
        ("what time, which day, and when", CLOCK | DATE),
        ("rate limit, rate limits, request limit, request limits", DURATION),
        ("phone number, call you, telephone number", PHONE),
        ("which url, which path, which endpoint, which address, the url, the path", ADDRESS),
        ("json body, json object, json document, what request", CODE),
        ("show me, look like, looks like", CODE),
        ("who wrote, who founded, who owns, who own, who runs, who made, who makes", PERSON),
        ("who invented, who created, who started, who is", PERSON),
    )
    for pair in pairs.split(",")
}
_BY_PAIR |= {("how", word): flags for word, flags in _AFTER_HOW.items()}

_CUES = _BY_WORD.keys() | {word for _, word in _BY_PAIR} | {"when", "phone"}
"""A question without any of these words, as most are, expects no type."""

_HOW_MUCH = ("how", "much")
_OF_MONEY = {(*_HOW_MUCH, word) for word in "is are for would money to do does".split()}
_OF_OPENING = {(word, "hours") for word in "your opening business office visiting the what".split()}
_OF_A_COMMAND = {("line", word) for word in ("option", "options", "flag", "argument", "switch")}


def find_expected_type(words: Sequence[str]) -> int:
    """Return the types of figures that a question expects, as flags.

    Parameters:
        words: of the question, folded and in order.
    """
    if _CUES.isdisjoint(words):
        return 0
    expects = 0
    for word in _BY_WORD.keys() & words:
        if word == "hours" and _asks_for_opening_hours(words):
            expects |= CLOCK | DATE
        elif word != "command" or _asks_for_a_command(words):
            expects |= _BY_WORD[word]
    for pair in _BY_PAIR.keys() & pairwise(words):
        expects |= _BY_PAIR[pair]
        if pair == _HOW_MUCH:
            expects |= _amount(words)
    if words[0] == "when":
        expects |= CLOCK | DATE
    if words[-1] == "phone":
        expects |= PHONE
    # any number fits only if nothing more exact is expected
    return expects & ~NUMBER or expects


def _asks_for_opening_hours(words: Sequence[str]) -> bool:
    """Return whether "hours" means opening hours, and not a duration."""
    return words[0] == "hours" or not _OF_OPENING.isdisjoint(pairwise(words))


def asks_for_code(word: str) -> bool:
    """Return whether a word mostly asks for an example or a command."""
    return bool(_BY_WORD.get(word, 0) & CODE)


def _asks_for_a_command(words: Sequence[str]) -> bool:
    """Return whether a command is expected, and not what a ``command line option`` is."""
    return any(
        word == "command" and tuple(words[at + 1 : at + 3]) not in _OF_A_COMMAND
        for at, word in enumerate(words)
    )


def _amount(words: Sequence[str]) -> int:
    """Return what "how much" expects: mostly money."""
    threes = zip(words, words[1:], words[2:], strict=False)
    return 0 if _OF_MONEY.isdisjoint(threes) else MONEY
