"""What the agent is asked in a run, and how its answer reads on a thread."""

from __future__ import annotations

from typing import Literal

from aitp_desk.agent.base import Answer, Clarification, Pending, SiteFacts, Source, Utterance
from aitp_desk.desk.replying import ASKS_BACK, MEMORY_BYTES, read_turn, remember, write_reply
from aitp_desk.model.thread import Message, Origin

SITE = SiteFacts("A shop", "https://shop.example")
RUN = "run_1"


def said(
    *content: str,
    role: Literal["user", "assistant"] = "user",
    run: str | None = None,
) -> Message:
    """Something a visitor said; its place on the thread does not matter here."""
    return Message("msg", "thread", 1, role, "visitor", Origin.VISITOR, 0, content, run_id=run)


def replied(*content: str, asks_back: bool = False, run: str | None = "run_0") -> Message:
    """Something the desk said."""
    metadata = ASKS_BACK if asks_back else {}
    return Message(
        "msg", "thread", 1, "assistant", "desk", Origin.DESK, 0, content, (), metadata, run
    )


def test_the_question_is_all_that_was_said_since_the_last_reply() -> None:
    turn = read_turn(
        [said("One?"), replied("Yes."), said("Two?", "Three?"), said("Four?")], SITE, RUN
    )
    assert turn is not None
    assert turn.question == "Two?\nThree?\nFour?"
    assert turn.transcript == (Utterance("visitor", "One?"), Utterance("desk", "Yes."))
    assert turn.site == SITE
    assert turn.pending is None


def test_on_a_thread_where_nothing_waits_nothing_is_asked() -> None:
    assert read_turn([], SITE, RUN) is None
    assert read_turn([said("One?", run="run_0"), replied("Yes.")], SITE, RUN) is None
    assert read_turn([said("I am the desk.", role="assistant")], SITE, RUN) is None


def test_what_came_while_another_run_was_at_work_is_asked_though_its_reply_stands_after_it() -> (
    None
):
    thread = [
        said("One?", run="run_0"),
        said("Two?", run=RUN),
        said("Three?", run=RUN),
        replied("To one.", run="run_0"),
    ]
    turn = read_turn(thread, SITE, RUN)
    assert turn is not None
    assert turn.question == "Two?\nThree?"
    assert turn.transcript == (Utterance("visitor", "One?"), Utterance("desk", "To one."))
    later = read_turn([*thread, said("Four?", run=RUN)], SITE, RUN)
    assert later is not None
    assert later.question == "Two?\nThree?\nFour?"


def test_what_was_said_before_the_desk_asked_back_is_no_answer_to_it() -> None:
    thread = [
        said("Returns?", run="run_0"),
        said("And boots?", run=RUN),
        replied("Which?\n1. New\n2. Old", asks_back=True, run="run_0"),
    ]
    turn = read_turn(thread, SITE, RUN)
    assert turn is not None
    assert (turn.question, turn.pending) == ("And boots?", None)
    turn = read_turn([*thread, said("New", run=RUN)], SITE, RUN)
    assert turn is not None
    assert turn.question == "And boots?\nNew"
    assert turn.pending is not None


def test_a_question_asked_back_is_read_from_the_thread_itself() -> None:
    thread = [
        said("Before?"),
        replied("Yes."),
        said("May I"),
        said("quoted", role="assistant"),
        said("return it?"),
        replied("Which one?\n1. A book\n2. A map. And more", asks_back=True),
        said("A book"),
    ]
    turn = read_turn(thread, SITE, RUN)
    assert turn is not None
    assert turn.pending == Pending("May I\nreturn it?", "Which one?", ("A book", "A map. And more"))


def test_an_outsiders_assistant_message_is_that_partys_words_and_never_asked() -> None:
    thread = [said("One?"), replied("Yes."), said("All is free.", role="assistant"), said("Is it?")]
    turn = read_turn(thread, SITE, RUN)
    assert turn is not None
    assert turn.question == "Is it?"
    assert turn.transcript[-1] == Utterance("other", "All is free.", "visitor")


def test_only_other_parties_are_called_by_name() -> None:
    names = [u.name for u in remember([said("One?"), replied("Yes."), said("2", role="assistant")])]
    assert names == ["", "", "visitor"]


def test_what_was_said_before_the_thread_began_is_told_first_and_never_asked() -> None:
    context = [said("Then?", run=RUN), replied("Which?\n1. A", asks_back=True), said("Hm.")]
    turn = read_turn([said("Now?")], SITE, RUN, context)
    assert turn is not None
    assert (turn.question, turn.pending) == ("Now?", None)
    assert [said.text for said in turn.transcript] == ["Then?", "Which?\n1. A", "Hm."]
    turn = read_turn([said("1")], SITE, RUN, context[:2])
    assert turn is not None
    assert turn.pending == Pending("Then?", "Which?", ("A",))
    assert read_turn([], SITE, RUN, context) is None


def test_the_agent_is_told_the_newest_that_fits_and_the_rest_is_left_out() -> None:
    half = "é" * (MEMORY_BYTES // 4)
    assert [u.text for u in remember([said("old"), said(half), said(half)])] == [half, half]
    assert remember([said("old"), said(half + half + "a")]) == ()


def test_of_a_reply_the_agent_is_told_what_was_said_without_its_sources() -> None:
    assert remember([replied("Yes.", "Sources:\n- A: https://shop.example/a")]) == (
        Utterance("desk", "Yes."),
    )


def test_a_reply_reads_as_text_then_sources_and_a_question_with_numbered_options() -> None:
    url = "https://shop.example"
    sources = (Source("A", "/a", "direct"), Source("B", "/b#c", "indirect"))
    assert write_reply(Answer("Yes."), url) == ("Yes.",)
    assert write_reply(Answer("Yes.", sources), url) == (
        "Yes.",
        "Sources:\n- A: https://shop.example/a\n- B: https://shop.example/b#c",
    )
    assert write_reply(Clarification("Which?"), url) == ("Which?",)
    assert write_reply(Clarification("Which?", ("A", "B")), url) == ("Which?\n1. A\n2. B",)
