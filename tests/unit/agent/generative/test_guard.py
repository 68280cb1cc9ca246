"""What the model was told stays with it, and ordinary words pass as they are."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.generative.guard import BEGINS, RUN, OutputGuard, PromptLeak
from aitp_desk.agent.generative.prompt import rules_text

RULES = rules_text()
URL = "https://shop.example"


def shown(text: str, size: int) -> tuple[str, bool]:
    """What is given out of a text that comes in pieces of a size, and whether it leaked."""
    guard = OutputGuard(URL, RULES)
    said = ""
    try:
        for at in range(0, len(text), size):
            said += guard.feed(text[at : at + size])
        return said + guard.close(), False
    except PromptLeak:
        return said, True


def bold(letter: str) -> str:
    """A letter as it is printed in formulas."""
    if not ("a" <= letter <= "z"):
        return letter
    return chr(ord("\N{MATHEMATICAL BOLD SMALL A}") + ord(letter) - ord("a"))


REPEATS = {
    "whole": RULES,
    "large": RULES.upper(),
    "spaced": " ".join(RULES),
    "in bold letters": "".join(map(bold, RULES)),
    "marked up": "**" + "**-**".join(RULES.split()) + "**",
    "turned round": RULES[::-1],
    "in the middle": f"Here they are: {RULES[200:320]} and so on.",
    "after much else": f"{'Boots are fine. ' * 50}{RULES[-120:]}",
}


FAR_APART = {
    "spaced far apart": (" . " * 20).join(RULES[:60]),
    "with figures between": "1234567890123".join(RULES[:60]),
}


def told_in(said: str) -> int:
    """How many letters of the rules in a row stand in a text."""
    letters = "".join(filter(str.isalpha, normalize("NFKD", said).lower()))
    told = "".join(filter(str.isalpha, RULES.lower()))
    return max(
        n
        for n in range(len(letters) + 1)
        for at in range(len(letters) - n + 1)
        if any(letters[at : at + n] in rules for rules in (told, told[::-1]))
    )


def test_a_run_of_the_rules_is_held_back_from_its_beginning(subtests: pytest.Subtests) -> None:
    sizes: list[int] = [1, 7, 100_000]
    for text in REPEATS.values():
        for size in sizes:
            with subtests.test(size=size, text=text):
                said, leaked = shown(text, size)
                assert leaked
                assert told_in(said[-200:]) < BEGINS


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("text", FAR_APART.values(), ids=FAR_APART.keys())
def test_a_run_is_found_however_far_its_letters_stand_apart(text: str, size: int) -> None:
    said, leaked = shown(text, size)
    assert leaked
    assert told_in(said) < RUN


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_words_that_only_begin_like_the_rules_are_shown(size: int) -> None:
    text = "Answer from search results and tool belts: both are on sale. In one to three sentences!"
    assert shown(text, size) == (text, False)


@given(st.text(max_size=200), st.integers(1, 20))
def test_nothing_is_lost_or_added_by_holding_back(text: str, size: int) -> None:
    assert shown(text, size) == shown(text, 10_000)


def test_words_that_leave_by_another_way_are_looked_at_too() -> None:
    guard = OutputGuard(URL, RULES)
    guard.check('{"order": "A7"}')
    with pytest.raises(PromptLeak):
        guard.check(f'{{"order": "{RULES[:200]}"}}')
