"""Splitting text into sentences."""

import pytest

from aitp_desk.knowledge.sentences import sentences


@pytest.mark.parametrize(
    "whole",
    [
        "Orders placed before 1 p.m. Pacific time leave the same day.",
        "Bring e.g. Boise maps.",
        "Wash at approx. 30 degrees.",
        "Dr. Smith and J. R. Hartley came.",
        "It costs $1.50 or 2.5 percent.",
        "See trailhead.example/orders for more.",
        "Hike Mt. St. Helens with No. 5 poles.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Be in by 11 a.m. Nothing leaves later.", ["Be in by 11 a.m.", "Nothing leaves later."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Is it waterproof? No. Use a bag.", ["Is it waterproof?", "No.", "Use a bag."]),
        ("It weighs 3 kg. 40% of it is water.", ["It weighs 3 kg.", "40% of it is water."]),
        ("", []),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts
