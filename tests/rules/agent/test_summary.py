"""A conversation that no model shortens is cut: the newest stays."""

from __future__ import annotations

from aitp_desk.agent.base import Utterance
from aitp_desk.agent.summary import MAX_CHARACTERS, shortened_conversation


def test_the_first_sentences_stay_and_the_newest_before_the_older() -> None:
    said = [Utterance("visitor", f"Question {n} is here. {'And more. ' * 20}") for n in range(200)]
    text = shortened_conversation("Long ago.", said)
    assert len(text) <= MAX_CHARACTERS
    assert text.endswith("Visitor: Question 199 is here.")
    assert "Question 0 " not in text


def test_what_was_kept_before_stays_while_there_is_room() -> None:
    assert shortened_conversation("Long ago.", [Utterance("desk", "")]) == "Long ago.\nDesk: "
    assert shortened_conversation("", []) == ""
