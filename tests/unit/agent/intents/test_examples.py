"""Which texts are the declared example of one action."""

from __future__ import annotations

import pytest

from aitp_desk.agent.intents.examples import DeclaredExamples
from aitp_desk.model.calls.action import Action, Example

PRICE = Action("price", "Says a price.", examples=(Example("How much is a LAMP?"), Example("?")))
STOCK = Action("stock", "Says what is left.", examples=(Example("What is left?"), Example("Tall")))
HEIGHT = Action("height", "Says how tall it is.", examples=(Example("tall!"),))
EXAMPLES = DeclaredExamples((PRICE, STOCK, HEIGHT))


@pytest.mark.parametrize(
    "text",
    [
        "How much is a LAMP?",
        "how  much is\na lamp",
        "How much is a lamp ?!",
        "HOW MUCH IS A lamp？",
    ],
)
def test_case_space_width_and_the_sign_at_the_end_do_not_count(text: str) -> None:
    assert EXAMPLES.find(text, ()) == "price"


@pytest.mark.parametrize(
    "text", ["How much is a tall lamp?", "How much is a lamp? And a bulb?", "a lamp", "tall", "?"]
)
def test_other_words_and_those_of_two_actions_name_none(text: str) -> None:
    assert EXAMPLES.find(text, ()) is None


def test_the_title_of_a_page_is_no_example() -> None:
    assert EXAMPLES.find("What is left?", ["Lamps", "what is left"]) is None
    assert EXAMPLES.find("What is left?", ["Lamps", "What is left of it"]) == "stock"
