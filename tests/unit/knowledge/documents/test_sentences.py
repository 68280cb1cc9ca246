"""Splitting text into sentences."""

import pytest

from aitp_desk.knowledge.documents.sentences import join_sentences, split_sentences


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
        "Das gilt für Pakete bzw. Briefe ab dem 3. Januar.",
        "「はい。」と答えてください。",
        "版本为5.5。",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(whole: str) -> None:
    assert split_sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Be in by 11 a.m. Nothing leaves later.", ["Be in by 11 a.m.", "Nothing leaves later."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Is it waterproof? No. Use a bag.", ["Is it waterproof?", "No.", "Use a bag."]),
        ("It weighs 3 kg. 40% of it is water.", ["It weighs 3 kg.", "40% of it is water."]),
        ("", []),
        ("送料は500円です。返品は？はい。", ["送料は500円です。", "返品は？", "はい。"]),
        ("可以退货吗?可以。", ["可以退货吗?", "可以。"]),
        ("배송비는 무료입니다. 반품은 7일입니다.", ["배송비는 무료입니다.", "반품은 7일입니다."]),
        ("Es ist offen. ¿Cuándo? Да. Нет.", ["Es ist offen.", "¿Cuándo?", "Да.", "Нет."]),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


def test_sentences_are_joined_as_their_script_does() -> None:
    assert join_sentences(["One.", "Two."]) == "One. Two."
    assert join_sentences(["送料です。", "「はい。」", "終わり"]) == "送料です。「はい。」終わり"
