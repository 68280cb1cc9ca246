"""When an answer has a call go on, and what it names, for plain values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aitp_desk.agent.slots.questions import ArgumentQuestion, write_memory
from aitp_desk.capability import NotCounted
from aitp_desk.desk.dialogue.prompts import match_option
from aitp_desk.desk.plugins.resumption import (
    ASKED_SINCE,
    EXPIRED,
    FOR_OTHERS,
    SETTLED,
    find_obstacle,
)
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.calls.call import ActionCall, Answered, CallState
from aitp_desk.model.calls.question import Choice, Choose, Confirm, Field, Fill, Question

NOW = 1_000
ASKER = Principal("key:1", PrincipalKind.AGENT, frozenset({"actions"}), "")
CALL = ActionCall(
    "call_1",
    "",
    "order",
    CallState.WAITING_INPUT,
    ASKER,
    "text",
    0,
    NOW,
    thread_id="thread_1",
)


@pytest.mark.parametrize(
    ("call", "by", "thread", "why"),
    [
        (CALL, ASKER, "thread_1", None),
        (CALL, make_anonymous(""), "thread_1", FOR_OTHERS),
        (CALL, replace(ASKER, id="key:2"), "thread_1", FOR_OTHERS),
        (replace(CALL, asked_by=make_anonymous("")), ASKER, "thread_1", FOR_OTHERS),
        (replace(CALL, asked_by=make_anonymous("")), make_anonymous("192.0.2.1"), "thread_1", None),
        (CALL, ASKER, "thread_2", SETTLED),
        (None, ASKER, "thread_1", SETTLED),
        (replace(CALL, expires_at=NOW - 1), ASKER, "thread_1", EXPIRED),
        (replace(CALL, state=CallState.EXPIRED), ASKER, "thread_1", EXPIRED),
        (replace(CALL, state=CallState.FAILED), ASKER, "thread_1", SETTLED),
        (replace(CALL, state=CallState.STARTED), ASKER, "thread_1", SETTLED),
        (replace(CALL, answer=Answered(True, ASKER, "msg_1")), ASKER, "thread_1", SETTLED),
    ],
)
def test_who_goes_on_with_what(
    call: ActionCall | None, by: Principal, thread: str, why: NotCounted | None
) -> None:
    assert find_obstacle(call, True, by, thread, NOW) is why


def test_who_claims_a_thread_goes_on_with_its_calls_and_its_visitor_does_not() -> None:
    asked = replace(CALL, asked_by=make_anonymous(""))
    assert find_obstacle(asked, True, ASKER, "thread_1", NOW, owner=ASKER.id) is None
    for by in (make_anonymous("192.0.2.1"), replace(ASKER, id="key:2")):
        assert find_obstacle(asked, True, by, "thread_1", NOW, owner=ASKER.id) is FOR_OTHERS


CHOOSE = Choose(title="Which?", choices=(Choice(id="a"),))
FILL = Fill(title="Where?", fields=(Field(id="city"),))
ANSWERS = {"yes": True, "no": False, "choice": [{"id": "a", "quantity": 1}], "form": {"city": "x"}}


@pytest.mark.parametrize(
    ("question", "fitting"),
    [
        (None, {"yes", "no"}),
        (Confirm(title="Agreed?"), {"yes", "no"}),
        (CHOOSE, {"choice"}),
        (FILL, {"form"}),
    ],
)
def test_an_answer_is_taken_for_what_is_asked_now(
    question: Question | None, fitting: set[str]
) -> None:
    memory = None if question is None else write_memory(ArgumentQuestion(question, "city"), {})
    call = replace(CALL, memory=memory)
    for name, value in ANSWERS.items():
        found = find_obstacle(call, value, ASKER, "thread_1", NOW)
        assert found is (None if name in fitting else ASKED_SINCE)


@pytest.mark.parametrize(
    ("told", "option"),
    [
        ("Chosen: Returns.", "Returns"),
        ("Chosen: Returns abroad.", "Returns abroad"),
        ("Chosen: Returns, Shipping.", None),
        ("Chosen: nothing.", None),
    ],
)
def test_the_option_that_words_name(told: str, option: str | None) -> None:
    assert match_option(told, ("Shipping", "Returns", "Returns abroad")) == option
