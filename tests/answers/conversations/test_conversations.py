"""The shop answers most turns of a conversation by what was talked about."""

from tests.answers.conversations.__main__ import ask_all

LEAST = 0.7
"""The share of right turns at the level of words."""


async def test_the_shop_keeps_the_topic_of_a_conversation() -> None:
    outcomes = await ask_all("shop", "words")
    assert sum(one.is_right for one in outcomes) >= LEAST * len(outcomes)
