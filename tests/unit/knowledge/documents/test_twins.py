"""Passages that say the same, of which a search returns one."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.documents.twins import DuplicateFinder, make_runs

SAID = (
    "The extension fills the names and passwords of your database into the fields of websites. "
    "Open the program and unlock the database. Figure {}. The states of its sign. Then {}."
)


def find_twins(*texts: str) -> list[int]:
    finder = DuplicateFinder()
    for text in texts:
        finder.add(make_runs(text, text.lower().replace(".", "").split()))
    return finder.first


def test_pictures_may_be_numbered_differently() -> None:
    assert find_twins(SAID.format(3, "click it"), SAID.format(41, "click it")) == [0, 0]


@pytest.mark.parametrize("other", ["pay 25 euros", "pay 20 dollars of the old kind at the door"])
def test_other_figures_and_other_words_are_another_text(other: str) -> None:
    assert find_twins(SAID.format(3, "pay 20 euros"), SAID.format(3, other)) == [0, 1]
