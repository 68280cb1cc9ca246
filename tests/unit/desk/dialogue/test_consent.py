"""What is replied to whether something shall be done: a yes, a no, or something else instead."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.desk.dialogue.consent import parse_answer
from tests.unit.agent.slots.rows.late_reply_holdout import REPLIES_FRESH
from tests.unit.agent.slots.rows.reply_holdout import REPLIES_UNSEEN
from tests.unit.agent.slots.rows.shop import ACTIONS
from tests.unit.agent.slots.test_filler import missing_of

NOW = datetime(2026, 11, 25, 10, 0, tzinfo=timezone(timedelta(hours=1)))
"""A Wednesday."""


def answered(name: str, arguments: dict[str, Any], words: str) -> Any:
    """What a reply comes to, as the tables write it."""
    match parse_answer(words, ACTIONS[name], arguments, NOW):
        case FilledArguments() as filled:
            return [missing_of(filled)] if filled.missing else filled.arguments
        case None:
            return "again"
        case agreed:
            return "yes" if agreed else "no"


@pytest.mark.parametrize("table", [REPLIES_UNSEEN, REPLIES_FRESH], ids=["unseen", "fresh"])
def test_a_reply_is_a_yes_a_no_or_what_is_meant_instead(
    table: list[tuple[str, dict[str, Any], str, Any]],
) -> None:
    wrong = [
        (words, said, outcome)
        for name, arguments, words, outcome in table
        if (said := answered(name, arguments, words)) != outcome
    ]
    assert wrong == []
