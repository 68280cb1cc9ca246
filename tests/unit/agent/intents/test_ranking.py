"""The action that a visitor's words ask for is found among several."""

from __future__ import annotations

import pytest

from aitp_desk.agent.intents.ranking import ActionRanking
from aitp_desk.model.calls.action import Action, Example, Kind


class AnyPages:
    """Pages that hold no word in particular."""

    def knows(self, word: str) -> bool:
        return True

    def holds(self, word: str) -> bool:
        return False


def taking(name: str, summary: str, pattern: str, *examples: str, kind: Kind = "action") -> Action:
    """An action that needs the number of something."""
    number = {"type": "string", "pattern": pattern}
    schema = {"type": "object", "properties": {"number": number}, "required": ["number"]}
    said = tuple(Example(text) for text in examples)
    return Action(name=name, summary=summary, input_schema=schema, kind=kind, examples=said)


TABLE, ORDER = r"^R\d{4}$", r"^T-\d{3}$"
ACTIONS = (
    taking("cancel_table", "Cancels a table.", TABLE, "Please cancel R2208."),
    taking("return_goods", "Takes goods back.", TABLE, "Can I return R2208?"),
    taking("track_order", "Says where an order is.", ORDER, "Where is T-118?", kind="query"),
)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("My table R6018 is ready, but it won't be needed", "cancel_table"),
        ("It is the wrong size, so please cancel my table R6018", "cancel_table"),
        ("It is the wrong size, so please call off R6018", None),
        ("How many more minutes for T-127?", "track_order"),
    ],
)
def test_the_action_that_takes_the_number_is_asked_for(words: str, name: str | None) -> None:
    ranking = ActionRanking(ACTIONS, {})
    said = ranking.read(words)
    assert said is not None
    assert ranking.find(said, AnyPages(), None) == name


@pytest.mark.parametrize(
    "words",
    [
        "stop",
        "never mind",
        "Cancel that, please.",
        "Can a table be cancelled?",
        "Do the tables have to be cancelled in writing?",
    ],
)
def test_what_drops_nothing_or_asks_in_general_asks_for_no_action(words: str) -> None:
    assert ActionRanking(ACTIONS, {}).read(words) is None


@pytest.mark.parametrize(
    "words", ["I stop at the lights with R2208", "R2208 is no longer in my diary"]
)
def test_to_stop_oneself_is_not_to_cancel_and_no_longer_not_to_extend(words: str) -> None:
    said = ActionRanking(ACTIONS, {}).read(words)
    assert said is not None
    assert not {"cancel", "extend"} & said.deeds


def test_a_question_with_all_that_an_action_needs_asks_for_it() -> None:
    item = {"type": "string", "enum": ["stove", "lantern"]}
    store = {"type": "string", "enum": ["Bend", "Boise"]}
    schema = {
        "type": "object",
        "properties": {"item": item, "store": store},
        "required": ["item"],
    }
    stock = Action(
        name="inventory_check",
        summary="Says how many pieces are in stock.",
        input_schema=schema,
        kind="query",
        examples=(Example("Is the lantern in stock in Bend?"),),
    )
    ranking = ActionRanking((stock, *ACTIONS), {})
    said = ranking.read("how many stoves does Boise have")
    assert said is not None
    (best,) = (one for one in ranking.rank(said, AnyPages(), None) if one.name == stock.name)
    assert best.evidence["all_arguments"] == 1
    assert ranking.find(said, AnyPages(), None) == stock.name
