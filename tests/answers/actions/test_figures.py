"""Visitors' words reach the actions that they ask for, and the documentation says how often."""

from __future__ import annotations

import pytest

from tests.answers.actions.figures import PAGE, Result, measure, write_table
from tests.answers.actions.table import GROUPS


@pytest.mark.parametrize("by_meaning", [False, True], ids=["words", "meaning"])
@pytest.mark.slow
async def test_words_reach_their_action_and_questions_call_nothing(*, by_meaning: bool) -> None:
    if by_meaning:
        pytest.importorskip("onnxruntime")
    result = await measure(by_meaning=by_meaning)
    check(result, GROUPS["seen"], 0.95, 0.98)
    check(result, GROUPS["unseen"], 0.85, 0.95)
    if not by_meaning:  # the model's cosines differ a little from one processor to another
        page = PAGE.read_text("utf-8")
        for row in write_table([result]).splitlines()[2:]:
            assert row in page


def check(result: Result, files: tuple[str, ...], least: float, least_quiet: float) -> None:
    """Compare the shares with the least ones."""
    right, asked, quiet, other, given, all_given = result.count(files)
    assert right / asked >= least
    assert quiet / other >= least_quiet
    assert given / all_given >= 0.88
