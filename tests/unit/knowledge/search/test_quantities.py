"""What sort of figures a text holds, whatever it begins to be looked for by."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.search import quantities as figures
from aitp_desk.knowledge.search.quantities import find_quantities

HELD = {
    "MONEY": [
        "It costs $ 5.",
        "€9",
        "12 dollars",
        "3 eur",
        "50 cents",
        "Repairs are free.",
        "no fee",
    ],
    "DURATION": [
        "within 3 working days",
        "half an hour",
        "two to three weeks",
        "a 14-day trial",
        "after 30ms",
        "once per s",
        "the next business day",
        "100/minute",
    ],
    "CLOCK": ["at 9 am", "17:30", "until noon", "midnight", "Closed on Sunday"],
    "DATE": ["May 5", "5 June", "since 1998", "the first of March", "on Mondays", "Saturday"],
    "WEIGHT": ["540 g", "2 pounds"],
    "LENGTH": ["30 cm", "6 feet"],
    "VOLUME": ["2 l", "64 kib", "300 characters"],
    "TEMPERATURE": ["20 °C", "five degrees", "below freezing"],
    "PERCENT": ["10 %", "ten percent", "half of it"],
    "NUMBER": ["7 shops", "twice a day", "both of them", "twelve"],
    "EMAIL": ["write to us@example.org"],
    "PHONE": ["+1 208 555 0100"],
    "ADDRESS": ["see /returns", "example.org", "desk.example is it", "12 Mill Street"],
    "CODE": ["```\nx\n```", "GET /agent/converse"],
    "DEFAULT": ["The default is 5.", "by default", "wait(timeout=10)"],
    "PERSON": ["It is run by Anna.", "founded in 1998 by two", "the author of it", "our director"],
}


def test_a_figure_is_found_alone_and_among_texts_that_hold_others(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, str]] = [(sort, text) for sort in HELD for text in HELD[sort]]
    for sort, text in cases:
        with subtests.test(sort=sort, text=text):
            flag = getattr(figures, sort)
            others = [other for texts in HELD.values() for other in texts]
            assert find_quantities([text])[0] & flag
            assert find_quantities([*others, text]) == [
                *(find_quantities([other])[0] for other in others),
                find_quantities([text])[0],
            ]


@pytest.mark.parametrize("text", ["Our people mend shoes.", "It is used as a table.", ""])
def test_a_text_without_figures_holds_none(text: str) -> None:
    assert find_quantities([text]) == [0]
