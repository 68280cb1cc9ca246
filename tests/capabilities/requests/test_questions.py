"""Questions of the desk as requests: what is asked, and what answers carry on."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from aitp_desk.capability import (
    Asking,
    Choice,
    Choose,
    Confirm,
    Context,
    Field,
    Fill,
    Keep,
    Money,
    Part,
    Party,
    Question,
    Record,
    Resume,
    State,
    Take,
)
from aitp_requests.capability import Requests, RequestsSettings

REQUESTS = Requests(RequestsSettings())
TENTS = Choose(
    title="Which tent?",
    many="counted",
    choices=(
        Choice(
            id="ridge",
            name="Ridge",
            description="Light",
            image_url="https://shop.example/ridge.jpg",
            price=Money(Decimal("349.00"), "EUR"),
            variants=(Choice(id="ridge-red", name="Ridge, red"),),
        ),
        Choice(id="cove", name="Cove", value={"sku": "TO-1"}),
    ),
)
CANCEL = Confirm(title="Cancel the order?", yes="Cancel it", no="Keep it")


def asking(question: Question) -> Asking:
    return Asking(id="ask-1", question=question, of="visitor", call_id="call-1")


def context(actor: str, **more: Any) -> Context:
    return Context(
        now=1000, thread_id="t", own="desk", actor=actor, parties=(Party(id="visitor"),), **more
    )


def part(message: Any) -> Part:
    given = msgspec.to_builtins(message)
    ((key, content),) = given.items()
    return Part(
        version=1,
        key=key,
        content=msgspec.convert(content, REQUESTS.schemas()[0].messages[key]),
        given=given,
    )


def kept_of(effects: Any) -> dict[str, Record]:
    return {
        effect.key: Record(key=effect.key, version=1, value=msgspec.to_builtins(effect.value))
        for effect in effects
        if isinstance(effect, Keep)
    }


def answer_to(question: Question, options: list[dict[str, Any]]) -> Take:
    """Ask by the desk, and answer by the visitor."""
    asked = asking(question)
    message = REQUESTS.phrase(asked)
    opened = REQUESTS.judge(part(message), context("desk", asking=asked))
    assert isinstance(opened, Take)
    decision = part({"decision": {"options": options}})
    answered = REQUESTS.judge(decision, context("visitor", records=kept_of(opened.effects)))
    assert isinstance(answered, Take)
    return answered


def test_a_choice_is_asked_with_its_variants_and_what_they_cost() -> None:
    message = msgspec.json.decode(msgspec.json.encode(REQUESTS.phrase(asking(TENTS))))
    assert message == {
        "request_decision": {
            "id": "ask-1",
            "title": "Which tent?",
            "type": "products",
            "actor": "visitor",
            "options": [
                {
                    "id": "ridge",
                    "name": "Ridge",
                    "description": "Light. 349.00 EUR",
                    "image_url": "https://shop.example/ridge.jpg",
                    "variants": [{"id": "ridge-red", "name": "Ridge, red"}],
                },
                {"id": "cove", "name": "Cove"},
            ],
        }
    }


@pytest.mark.parametrize(("chosen", "value"), [("yes", True), ("no", False)])
def test_a_yes_and_a_no_carry_the_call_on_that_waits(chosen: str, value: bool) -> None:
    assert answer_to(CANCEL, [{"id": chosen}]).then == Resume("call-1", value)


def test_what_was_chosen_carries_the_call_on_with_how_many() -> None:
    taken = answer_to(TENTS, [{"id": "ridge-red", "quantity": 2}, {"id": "cove"}])
    assert taken.then == Resume(
        "call-1", [{"id": "ridge-red", "quantity": 2}, {"id": "cove", "quantity": 1}]
    )


def test_no_other_participant_answers_what_the_desk_asks_one() -> None:
    asked = asking(CANCEL)
    opened = REQUESTS.judge(part(REQUESTS.phrase(asked)), context("desk", asking=asked))
    assert isinstance(opened, Take)
    decision = part({"decision": {"options": [{"id": "yes"}]}})
    told = REQUESTS.judge(decision, context("another", records=kept_of(opened.effects)))
    assert isinstance(told, Take)
    assert not isinstance(told.then, Resume)
    (kept,) = (effect.value for effect in told.effects if isinstance(effect, Keep))
    assert (kept.state, kept.answer) == (State.OPEN, None)
    assert [one.reason for one in kept.rejected] == ["not_yours"]


def test_a_form_is_for_another_capability() -> None:
    form = Fill(title="Where to?", fields=(Field(id="street"),))
    assert REQUESTS.phrase(asking(form)) is None
