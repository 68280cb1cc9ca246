"""What a dialogue about a call asks for and states, without a desk: outcomes are sent to it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Clarification
from aitp_desk.agent.slots.questions import ArgumentQuestion, write_memory
from aitp_desk.desk.calls.invocation import (
    CompletedCall,
    Consent,
    ConsentRequired,
    Invocation,
    PaymentNeeded,
)
from aitp_desk.desk.dialogue import action_dialogue
from aitp_desk.desk.dialogue.action_dialogue import ActionDialogue, Dialogue
from aitp_desk.desk.dialogue.consent import ONLY_YES
from aitp_desk.desk.dialogue.prompts import NOT_YET
from aitp_desk.desk.dialogue.statements import Ask, Call, Decline, FindQuestion, Refuse, Remind
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Fill, Pay
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, Recovery, StoreBusy
from aitp_desk.model.money import Money
from tests.support.sites.actions import offering

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PRICE = Money(Decimal("29.99"), "EUR")
SIZES = {"type": "string", "enum": ["small", "large"]}
SCHEMA = {"type": "object", "properties": {"size": SIZES}, "required": ["size"]}
WHICH = ArgumentQuestion(
    Choose(title="Which size?", choices=(Choice(id="small"), Choice(id="large"))), "size"
)


async def perform(_who: str, _arguments: Mapping[str, Any]) -> str:
    return "Done."


def order(*, is_grave: bool = True) -> OfferedAction:
    safety = Safety("irreversible" if is_grave else "reversible", "self")
    return offering(
        Action("order", "Orders it.", kind="action", safety=safety, input_schema=SCHEMA), perform
    )


def dialogue(*, asks: bool = True, is_free: bool = False) -> ActionDialogue:
    base = Invocation("order", {}, "arguments", thread_id="thread_1")
    return ActionDialogue(
        order(is_grave=not is_free),
        base,
        can_ask=(lambda _question: True) if asks else None,
        now=NOW,
    )


def waiting(state: CallState = CallState.WAITING_INPUT, **more: Any) -> ActionCall:
    given: dict[str, Any] = {"arguments": {"size": "small"}, "price": PRICE} | more
    return ActionCall("call_1", "", "order", state, make_anonymous(""), "text", 0, 600, **given)


def state(held: Dialogue[Any], *outcomes: Any) -> tuple[list[Any], Any]:
    """Hold a dialogue with these outcomes; returns what it asked for, and its statement."""
    asked = []
    try:
        step = next(held)
        for outcome in outcomes:
            asked.append(step)
            step = held.throw(outcome) if isinstance(outcome, Exception) else held.send(outcome)
    except StopIteration as ended:
        return asked, ended.value
    raise AssertionError(f"It asks for more: {step}")


def test_it_awaits_nothing_and_knows_no_store_thread_or_plugin() -> None:
    nodes = list(ast.walk(ast.parse(inspect.getsource(action_dialogue))))
    assert not any(isinstance(one, ast.AsyncFunctionDef | ast.Await) for one in nodes)
    modules = {one.module or "" for one in nodes if isinstance(one, ast.ImportFrom)}
    own = {name for name in modules if name.startswith("aitp_desk.desk.")}
    assert own <= {
        "aitp_desk.desk.calls.invocation",
        "aitp_desk.desk.dialogue.consent",
        "aitp_desk.desk.dialogue.next_question",
        "aitp_desk.desk.dialogue.prompts",
        "aitp_desk.desk.dialogue.statements",
    }
    assert not any(name.startswith(("aitp_desk.store", "aitp_desk.egress")) for name in modules)


def test_words_that_name_no_action_agree_refuse_or_change_and_mean_nothing_else() -> None:
    call = waiting()
    assert state(dialogue().amend("never mind", call)) == ([], Decline(call))
    for words in ("What else is there?", "hm", "yesterday"):
        assert state(dialogue().amend(words, call)) == ([], None)
    for words in ("yes", "Yes!", "ja", "Oui."):
        agreed = next(dialogue().amend(words, call))
        assert isinstance(agreed, Call)
        assert agreed.invocation.consent == Consent(PRICE)
    held = dialogue().amend("no, large", call)
    needed = next(held)
    assert isinstance(needed, Call)
    assert (needed.invocation.arguments, needed.invocation.only_asks) == ({"size": "large"}, True)
    unpaid = waiting(CallState.WAITING_PAYMENT)
    assert state(dialogue().amend("no", unpaid)) == ([], Decline(unpaid))
    open_ = waiting(arguments={}, memory=write_memory(WHICH, {}), price=None)
    assert state(dialogue().amend("never mind", open_)) == ([], Decline(open_))
    assert state(dialogue().amend("What is it?", open_)) == ([], None)
    assert state(dialogue().amend("a good day to you", open_)) == ([], None)
    answered = dialogue(asks=False).amend("large", open_)
    given = next(answered)
    assert isinstance(given, Call)
    assert given.invocation.arguments == {"size": "large"}


def test_a_vague_yes_to_an_open_form_is_told_what_is_missing() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    action = Action("greet", "Greets somebody.", input_schema=schema)
    held = ActionDialogue(
        offering(action, perform), Invocation("greet", {}, "text"), can_ask=None, now=NOW
    )
    _, asked = state(held.read("I want to greet", None))
    assert isinstance(asked, Ask)
    open_ = waiting(arguments={}, memory=asked.memory, price=None)
    for words in ("sure", "ok", "yes please", "ja gerne"):
        _, stated = state(held.amend(words, open_))
        assert stated == Remind(open_, Clarification(f"{NOT_YET} What is the name?"))


def test_words_that_pay_nothing_repeat_how_to_pay() -> None:
    unpaid = waiting(CallState.WAITING_PAYMENT)
    for words in ("yes", "sure", "ja gerne"):
        _, stated = state(dialogue().amend(words, unpaid))
        assert isinstance(stated, Remind)


@pytest.mark.parametrize("words", ["sure", "yes please", "go ahead", "ok", "ja gerne", "bien sûr"])
def test_a_vague_yes_to_what_costs_is_asked_for_the_word_yes(words: str) -> None:
    call = waiting()
    for answered in (
        dialogue().amend(words, call),
        dialogue().answer(words, call, may_change=True),
    ):
        called = next(answered)
        assert isinstance(called, Call)
        asked_again = ConsentRequired(called.invocation, PRICE)
        with pytest.raises(StopIteration) as stated:
            answered.send(asked_again)
        ask = stated.value.value
        assert isinstance(ask, Ask)
        assert ask.words.question.startswith(ONLY_YES)
        assert called.invocation.only_asks


@pytest.mark.parametrize("words", ["sure", "yes please", "go ahead", "ok", "ja gerne", "oui"])
def test_a_vague_yes_is_enough_for_what_is_free_and_can_be_undone(words: str) -> None:
    call = waiting(price=None)
    agreed = next(dialogue(is_free=True).amend(words, call))
    assert isinstance(agreed, Call)
    assert agreed.invocation.consent == Consent(None)


@pytest.mark.parametrize("words", ["no thanks", "not now", "cancel", "nein danke", "non"])
def test_a_no_declines_on_a_thread(words: str) -> None:
    call = waiting()
    assert state(dialogue().amend(words, call)) == ([], Decline(call))


def test_a_yes_calls_what_was_shown_at_its_price() -> None:
    call = waiting()
    done = CompletedCall(call)
    for answered in (
        dialogue().answer("yes", call, may_change=True),
        dialogue().resume(call, True),
    ):
        (asked,), stated = state(answered, done)
        assert stated is done
        assert isinstance(asked, Call)
        made = asked.invocation
        assert (made.arguments, made.consent, made.waiting) == (
            {"size": "small"},
            Consent(PRICE),
            call,
        )


def test_a_no_declines_in_words_and_by_a_message() -> None:
    call = waiting()
    for answered in (
        dialogue().answer("no", call, may_change=True),
        dialogue().resume(call, False),
    ):
        assert state(answered) == ([], Decline(call))


def test_a_price_that_has_changed_is_asked_about_again() -> None:
    call, price = waiting(), Money(Decimal(40), "EUR")
    held = dialogue().resume(call, True)
    needed = next(held)
    assert isinstance(needed, Call)
    with pytest.raises(StopIteration) as ended:
        held.send(ConsentRequired(needed.invocation, price))
    stated = ended.value.value
    assert isinstance(stated, Ask)
    assert isinstance(stated.question, Confirm)
    assert "40 EUR" in stated.words.question
    assert stated.memory is None


def test_what_is_paid_first_is_asked_for_once_and_then_repeated() -> None:
    invocation = Invocation("order", {"size": "small"}, "arguments")
    _, stated = state(
        dialogue().call({"size": "small"}, "arguments"), PaymentNeeded(invocation, PRICE)
    )
    assert isinstance(stated, Ask)
    assert isinstance(stated.question, Pay)
    unpaid = waiting(CallState.WAITING_PAYMENT)
    _, again = state(dialogue().answer("yes", unpaid, may_change=True))
    assert isinstance(again, Remind)
    assert state(dialogue().answer("which?", unpaid, may_change=True)) == ([], None)
    assert state(dialogue().resume(unpaid, False)) == ([], Decline(unpaid))


def test_a_missing_argument_is_asked_for_and_merged_from_its_answer() -> None:
    (wanted,), stated = state(dialogue().read("I want to order", None), WHICH)
    assert isinstance(wanted, FindQuestion)
    assert isinstance(stated, Ask)
    assert stated.question == WHICH.question
    call = waiting(arguments={}, memory=write_memory(WHICH, {}), price=None)
    asked, _ = state(dialogue().resume(call, [{"id": "large"}]), None, CompletedCall(call))
    assert asked[-1].invocation.arguments == {"size": "large"}


def test_a_refused_argument_is_asked_for_again() -> None:
    call = waiting(arguments={}, memory=write_memory(WHICH, {}), price=None)
    error = InvalidRequest("It is sold out.", param="size")
    _, stated = state(dialogue().resume(call, [{"id": "large"}]), None, error)
    assert isinstance(stated, Ask)
    assert "It is sold out." in stated.words.question
    assert stated.needed.invocation.arguments == {}


def test_a_call_that_cannot_be_made_any_more_is_refused_with_the_reason() -> None:
    call, error = waiting(), PreconditionFailed("It is sold out.")
    for answered in (
        dialogue().resume(call, True),
        dialogue().answer("no, large", call, may_change=True),
    ):
        assert state(answered, error)[1] == Refuse(call, error)


def test_what_the_site_refuses_and_knows_help_for_is_asked_with_its_values() -> None:
    error = PreconditionFailed(
        "It is sold out.", param="in_stock", recovery=Recovery("Choose another size.")
    )
    open_ = waiting(arguments={}, memory=write_memory(WHICH, {}), price=None)
    for held, before in (
        (dialogue().resume(waiting(), True), ()),
        (dialogue().resume(open_, [{"id": "large"}]), (None,)),
    ):
        _, stated = state(held, *before, error)
        assert isinstance(stated, Ask)
        assert isinstance(stated.question, Fill)
        assert (stated.question.title, stated.question.description) == (
            "It is sold out.",
            "Choose another size.",
        )
        (field,) = stated.question.fields
        assert field.default == stated.needed.invocation.arguments["size"]
    assert state(dialogue(asks=False).resume(waiting(), True), error)[1] == Refuse(waiting(), error)


def test_a_store_that_is_busy_refuses_nothing() -> None:
    with pytest.raises(StoreBusy):
        state(dialogue().resume(waiting(), True), StoreBusy("Later."))


def test_without_plugins_nobody_is_asked_for_a_question() -> None:
    asked, stated = state(dialogue(asks=False).read("I want to order", None))
    assert asked == []
    assert isinstance(stated, Ask)
    assert stated.question is None
    assert stated.memory is not None
