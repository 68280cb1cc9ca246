"""When a question fits several topics the desk asks back, and goes on with the answer to that."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, PendingQuestion, Turn
from aitp_desk.model.errors import Unavailable
from tests.support.clients.ahp import Visitor, visiting
from tests.support.doubles.agent import Clock, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")
OPTIONS = ("Return window", "Opening hours")
ASKS = Clarification("Do you mean the return window or the opening hours?", OPTIONS)


async def ask_back_once(turn: Turn) -> Outcome:
    """Ask back, unless that was just done."""
    if turn.pending is None:
        return ASKS
    return Answer(f"{turn.pending.about} -> {turn.clarification or turn.question}")


@pytest.mark.requirement("AHP-6.3-2", "AHP-6.3-4", "AHPW-4.1-21", "AHPW-2.5-1")
async def test_a_question_back_stands_where_every_draft_of_the_protocol_looks_for_it(
    tmp_path: Path,
) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent(ask_back_once)) as visitor:
        said = await visitor.ask("When?")
    assert said.status == 200
    assert said.body == {
        "status": "clarification_needed",
        "session_id": said.session_id,
        "clarification": {
            "question": ASKS.question,
            "options": list(OPTIONS),
            "free_form": True,
        },
        "clarification_question": ASKS.question,
        "suggested_queries": list(OPTIONS),
        "meta": {
            "tokens_used": 0,
            "capability_used": "content_search",
            "mode": "MODE2",
            "cached": False,
            "tools_used": [],
            "content_signals": {
                "ai_train": False,
                "ai_input": True,
                "search": True,
                "attribution_required": True,
            },
            "locale": "en",
        },
    }


@pytest.mark.requirement("AHP-6.3-3")
async def test_an_open_question_back_has_no_options(tmp_path: Path) -> None:
    async def ask_openly(_turn: Turn) -> Outcome:
        return Clarification("What would you like to know?")

    async with visiting(tmp_path / "data", agent=ScriptedAgent(ask_openly)) as visitor:
        said = await visitor.ask("Hm")
    assert said.body["clarification"]["options"] is None
    assert said.body["clarification"]["free_form"] is True
    assert said.body["suggested_queries"] == []


async def test_a_choice_without_other_answers_says_so(tmp_path: Path) -> None:
    async def ask_for_a_choice(_turn: Turn) -> Outcome:
        return Clarification("Yes or no?", ("yes", "no"), free_form=False)

    async with visiting(tmp_path / "data", agent=ScriptedAgent(ask_for_a_choice)) as visitor:
        said = await visitor.ask("Hm")
    assert said.body["clarification"]["free_form"] is False


@pytest.mark.requirement("AHP-6.3-5", "AHPW-2.2-2")
@pytest.mark.parametrize("answer", ["Opening hours", "the hours on Sundays, please"])
async def test_an_option_or_free_words_answer_what_was_asked_back(
    tmp_path: Path, answer: str
) -> None:
    agent = ScriptedAgent(ask_back_once)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        asked = await visitor.ask("When?")
        said = await visitor.ask("When?", session_id=asked.session_id, clarification=answer)
    assert said.answer == f"When? -> {answer}"
    assert said.session_id == asked.session_id
    turn = agent.turns[1]
    assert turn.clarification == answer
    assert turn.pending == PendingQuestion("When?", ASKS.question, OPTIONS)


async def test_an_answer_may_also_come_as_the_next_question(tmp_path: Path) -> None:
    agent = ScriptedAgent(ask_back_once)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        asked = await visitor.ask("When?")
        said = await visitor.ask("The hours", session_id=asked.session_id)
    assert said.answer == "When? -> The hours"
    assert agent.turns[1].clarification is None
    assert [utterance.text for utterance in agent.turns[1].transcript] == [
        "When?",
        f"{ASKS.question}\n1. Return window\n2. Opening hours",
    ]


async def test_what_was_asked_back_twice_is_still_about_the_first_question(tmp_path: Path) -> None:
    async def ask_back_twice(turn: Turn) -> Outcome:
        if len(turn.transcript) == 4:
            return await ask_back_once(turn)
        return Clarification(f"Please say more ({len(turn.transcript)}).", OPTIONS)

    async with visiting(tmp_path / "data", agent=ScriptedAgent(ask_back_twice)) as visitor:
        first = await visitor.ask("When?")
        id_ = first.session_id
        second = await visitor.ask("The hours", session_id=id_, clarification="hours")
        third = await visitor.ask("Sundays", session_id=id_, clarification="Sunday hours")
    assert second.body["clarification"]["question"] == "Please say more (2)."
    assert third.answer == "When? -> Sunday hours"


async def test_once_answered_it_is_settled(tmp_path: Path) -> None:
    agent = ScriptedAgent(ask_back_once)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        asked = await visitor.ask("When?")
        id_ = asked.session_id
        await visitor.ask("When?", session_id=id_, clarification="Opening hours")
        again = await visitor.ask("When?", session_id=id_, clarification="Return window")
        assert again.refusal == (400, "invalid_request", None)
        assert again.body["param"] == "clarification"
        await visitor.ask("Where?", session_id=id_)
    assert agent.turns[-1].pending is None


async def test_an_answer_to_nothing_is_refused_and_takes_no_turn(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", "sessions.max_turns=2") as visitor:
        said = await visitor.ask("When?", clarification="hours")
        assert said.refusal == (400, "invalid_request", None)
        assert said.body["param"] == "session_id"
        first = await visitor.ask("What does gift wrapping cost?")
        for _ in range(3):
            said = await visitor.ask("When?", session_id=first.session_id, clarification="hours")
            assert said.refusal == (400, "invalid_request", None)
            assert said.body["param"] == "clarification"
        assert (await visitor.ask("And a card?", session_id=first.session_id)).status == 200


async def test_an_answer_that_could_not_be_heard_can_be_given_again(tmp_path: Path) -> None:
    down = False

    async def answer_unless_down(turn: Turn) -> Outcome:
        if down:
            raise Unavailable("Not now.", retry_after=3)
        return await ask_back_once(turn)

    async with visiting(tmp_path / "data", agent=ScriptedAgent(answer_unless_down)) as visitor:
        asked = await visitor.ask("When?")
        down = True
        failed = await visitor.ask("When?", session_id=asked.session_id, clarification="hours")
        assert failed.refusal == (503, "unavailable", None)
        down = False
        said = await visitor.ask("When?", session_id=asked.session_id, clarification="hours")
        assert said.answer == "When? -> hours"


async def test_two_visitors_with_the_same_unclear_question_are_each_asked_back(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent(ask_back_once)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        one, other = await visitor.ask("When?"), await visitor.ask("When?")
        assert one.session_id != other.session_id
        assert not other.is_cached
        for said in (one, other):
            answer = f"for {said.session_id}"
            went_on = await visitor.ask("When?", session_id=said.session_id, clarification=answer)
            assert went_on.answer == f"When? -> {answer}"


@pytest.mark.requirement("AHP-6.3-1")
async def test_the_desk_asks_back_where_the_content_fits_twice_and_answers_the_choice(
    boots_visitor: Visitor,
) -> None:
    asked = await boots_visitor.ask("How much do the boots cost?")
    assert asked.body["status"] == "clarification_needed"
    options = asked.body["clarification"]["options"]
    assert {"Ski", "Hiking"} == {option.split()[0] for option in options}
    hiking = next(option for option in options if option.startswith("Hiking"))
    chosen = await boots_visitor.ask(
        "How much do the boots cost?", session_id=asked.session_id, clarification=hiking
    )
    assert "160 EUR" in chosen.answer
    assert "240" not in chosen.answer
    clear = await boots_visitor.ask("How much do ski boots cost?")
    assert "240 EUR" in clear.answer


async def test_the_desk_understands_a_choice_in_the_visitor_s_own_words(
    boots_visitor: Visitor,
) -> None:
    asked = await boots_visitor.ask("How much do the boots cost?")
    assert asked.body["status"] == "clarification_needed"
    said = await boots_visitor.ask(
        "How much do the boots cost?",
        session_id=asked.session_id,
        clarification="the ones for skiing",
    )
    assert "240 EUR" in said.answer


@pytest.mark.requirement("AHP-6.3-5")
@pytest.mark.parametrize(
    "write",
    [
        lambda option, _number: option,
        lambda option, _number: option.upper(),
        lambda option, _number: f"  {option.lower()}\n",
        lambda option, _number: option.replace(" ", "   "),
        lambda option, _number: f"“{option}”.",
        lambda option, _number: f'"{option}"',
        lambda _option, number: str(number),
        lambda _option, number: f" {number}. ",
        lambda _option, number: f"Option {number}",
        lambda _option, number: f"(#{number})",
        lambda _option, number: f"the {('first', 'second')[number - 1]} one, please",
        lambda _option, number: f"The {('former', 'latter')[number - 1]}.",
        lambda option, _number: f"I mean the {option.lower()}, please",
    ],
    ids=[
        "as is",
        "upper",
        "spaces around",
        "spaces",
        "“”.",
        '""',
        "number",
        "number.",
        "option number",
        "(#number)",
        "place",
        "former or latter",
        "words",
    ],
)
@pytest.mark.parametrize("as_query", [False, True], ids=["clarification", "query"])
async def test_a_choice_is_understood_however_it_is_written(
    boots_visitor: Visitor, write: Callable[[str, int], str], as_query: bool
) -> None:
    query = "How much do the boots cost?"
    prices = {"Ski": "240 EUR", "Hiking": "160 EUR"}
    for place in (0, 1):
        asked = await boots_visitor.ask(query)
        option = asked.body["clarification"]["options"][place]
        choice, id_ = write(option, place + 1), asked.session_id
        if as_query:
            said = await boots_visitor.ask(choice, session_id=id_)
        else:
            said = await boots_visitor.ask(query, session_id=id_, clarification=choice)
        price = prices.pop(option.split()[0])
        assert price in said.answer
        assert not any(other in said.answer for other in prices.values())
        prices |= {"Ski": "240 EUR", "Hiking": "160 EUR"}


@pytest.mark.parametrize(
    ("reply", "as_query"),
    [
        *itertools.product(
            ["3", "0", "-1", "1 and 3", "yes", "the other one", "I don't know", "…"], [False, True]
        ),
        ("", False),
        (" ", False),
    ],
)
async def test_what_chooses_no_option_is_asked_about_again_and_not_guessed_at(
    boots_visitor: Visitor, reply: str, as_query: bool
) -> None:
    query = "How much do the boots cost?"
    asked = await boots_visitor.ask(query)
    id_ = asked.session_id
    if as_query:
        again = await boots_visitor.ask(reply, session_id=id_)
    else:
        again = await boots_visitor.ask(query, session_id=id_, clarification=reply)
    assert again.body["clarification"] == asked.body["clarification"]
    option = asked.body["clarification"]["options"][1]
    said = await boots_visitor.ask(query, session_id=id_, clarification="2")
    assert {"Ski": "240 EUR", "Hiking": "160 EUR"}[option.split()[0]] in said.answer


@pytest.mark.parametrize("as_query", [False, True], ids=["clarification", "query"])
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("How long does the repair of ski boots take?", "two weeks"),
        ("Where do you deliver?", "Norway"),
    ],
)
async def test_another_question_in_place_of_an_answer_is_a_new_question(
    tmp_path: Path, ambiguous_site: Path, other: str, told: str, as_query: bool
) -> None:
    (ambiguous_site / "delivery.md").write_text("# Delivery\n\nWe deliver to all of Norway.\n")
    query = "How much do the boots cost?"
    async with visiting(tmp_path / "data", folder=ambiguous_site) as visitor:
        id_ = (await visitor.ask(query)).session_id
        if as_query:
            said = await visitor.ask(other, session_id=id_)
        else:
            said = await visitor.ask(query, session_id=id_, clarification=other)
        assert told in said.answer
        late = await visitor.ask("How much?", session_id=id_, clarification="Ski boots")
        assert late.refusal == (400, "invalid_request", None)
        assert late.body["param"] == "clarification"


async def test_what_was_asked_back_waits_through_a_restart_and_not_past_the_session(
    tmp_path: Path,
) -> None:
    clock = Clock()
    data = tmp_path / "data"
    async with visiting(data, clock=clock, agent=ScriptedAgent(ask_back_once)) as visitor:
        one, other = await visitor.ask("When?"), await visitor.ask("When?")
    clock.advance(600)
    async with visiting(data, clock=clock, agent=ScriptedAgent(ask_back_once)) as visitor:
        said = await visitor.ask("When?", session_id=one.session_id, clarification="hours")
        assert said.answer == "When? -> hours"
        clock.advance(1)
        late = await visitor.ask("When?", session_id=other.session_id, clarification="hours")
        assert late.refusal == (400, "invalid_request", "unknown_session")


async def test_of_two_answers_at_once_to_what_was_asked_back_one_is_heard(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent(ask_back_once)) as visitor:
        asked = await visitor.ask("When?")
        both = await asyncio.gather(
            *(
                visitor.ask("When?", session_id=asked.session_id, clarification=answer)
                for answer in ("hours", "window")
            )
        )
    assert sorted(said.status for said in both) == [200, 400]
