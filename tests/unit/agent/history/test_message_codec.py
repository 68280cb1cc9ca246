"""What the agent is asked in a run, and how its answer reads on a thread."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from aitp_desk.agent.base import (
    Answer,
    Clarification,
    PendingQuestion,
    SiteFacts,
    Source,
    Turn,
    Utterance,
)
from aitp_desk.agent.generative.prompt import MAX_SAID
from aitp_desk.agent.history.message_codec import (
    ASKS_BACK,
    is_from_person,
    list_due_messages,
    make_quotes,
    make_reply_metadata,
    make_suggestions,
    make_transcript,
    read_turn,
    write_reply,
)
from aitp_desk.model.access.principal import make_contact
from aitp_desk.model.conversation.thread import METADATA_VALUE_LENGTH, Message, Origin

SITE = SiteFacts("A shop", "https://shop.example")


def thread_of(*messages: Message) -> list[Message]:
    """A thread's messages, numbered in their order."""
    return [
        msgspec.structs.replace(message, seq=seq) for seq, message in enumerate(messages, start=1)
    ]


def turn_of(messages: list[Message], answered_seq: int, *, again: bool = False) -> Turn | None:
    """What the agent is asked once all up to a message has been answered."""
    return read_turn(messages, SITE, list_due_messages(messages, answered_seq, again=again))


def said(
    *content: str,
    role: Literal["user", "assistant"] = "user",
) -> Message:
    """Something a visitor said."""
    return Message("msg", "thread", 1, role, "visitor", Origin.VISITOR, 0, content)


def replied(*content: str, asks_back: bool = False) -> Message:
    """Something the desk said."""
    metadata = ASKS_BACK if asks_back else {}
    return Message("msg", "thread", 1, "assistant", "desk", Origin.DESK, 0, content, (), metadata)


def test_the_question_is_all_that_no_run_has_answered() -> None:
    thread = thread_of(said("One?"), replied("Yes."), said("Two?", "Three?"), said("Four?"))
    turn = turn_of(thread, 1)
    assert turn is not None
    assert turn.question == "Two?\nThree?\nFour?"
    assert turn.transcript == (Utterance("visitor", "One?"), Utterance("desk", "Yes."))
    assert turn.site == SITE
    assert turn.pending is None


def test_the_chat_and_platforms_for_people_are_told_from_programs() -> None:
    assert not is_from_person(said("Hello"))
    assert not is_from_person(msgspec.structs.replace(said("Hello"), principal="key:one"))
    assert is_from_person(msgspec.structs.replace(said("Hello"), metadata={"draft": "chat-1"}))
    by_mail = make_contact("email", "ada@b.example", is_proven=False)
    assert is_from_person(msgspec.structs.replace(said("Hello"), principal=by_mail.id))


def test_on_a_thread_where_nothing_waits_nothing_is_asked() -> None:
    assert turn_of([], 0) is None
    assert turn_of(thread_of(said("One?"), replied("Yes.")), 1) is None
    assert turn_of(thread_of(said("I am the desk.", role="assistant")), 0) is None


def test_a_caller_who_starts_a_run_where_nothing_waits_has_the_newest_question_asked_again() -> (
    None
):
    thread = thread_of(said("One?"), replied("Yes."), said("Two?"), replied("No."))
    turn = turn_of(thread, 3, again=True)
    assert turn is not None
    assert turn.question == "Two?"
    assert [said.text for said in turn.transcript] == ["One?", "Yes.", "No."]
    assert turn_of(thread_of(said("Quoted.", role="assistant")), 0, again=True) is None


def test_what_came_while_another_run_was_at_work_is_asked_though_its_reply_stands_after_it() -> (
    None
):
    thread = thread_of(said("One?"), said("Two?"), said("Three?"), replied("To one."))
    turn = turn_of(thread, 1)
    assert turn is not None
    assert turn.question == "Two?\nThree?"
    assert turn.transcript == (Utterance("visitor", "One?"), Utterance("desk", "To one."))
    later = turn_of(thread_of(*thread, said("Four?")), 1)
    assert later is not None
    assert later.question == "Two?\nThree?\nFour?"


def test_what_was_said_before_the_desk_asked_back_is_no_answer_to_it() -> None:
    thread = thread_of(
        said("Returns?"),
        said("And boots?"),
        replied("Which?\n1. New\n2. Old", asks_back=True),
    )
    turn = turn_of(thread, 1)
    assert turn is not None
    assert (turn.question, turn.pending) == ("And boots?", None)
    turn = turn_of(thread_of(*thread, said("New")), 1)
    assert turn is not None
    assert turn.question == "And boots?\nNew"
    assert turn.pending is not None


def test_a_question_asked_back_is_read_from_the_thread_itself() -> None:
    thread = thread_of(
        said("Before?"),
        replied("Yes."),
        said("May I"),
        said("quoted", role="assistant"),
        said("return it?"),
        replied("Which one?\n1. A book\n2. A map. And more", asks_back=True),
        said("A book"),
    )
    turn = turn_of(thread, 5)
    assert turn is not None
    assert turn.pending == PendingQuestion(
        "May I\nreturn it?", "Which one?", ("A book", "A map. And more")
    )


@pytest.mark.parametrize(
    ("lines", "options"), [("\n1. A\n2. B", ("A", "B")), ("\n1. B", ("B",)), ("", ())]
)
def test_what_is_asked_back_again_is_about_what_was_asked_first(
    lines: str, options: tuple[str, ...]
) -> None:
    thread = thread_of(
        said("Hello."),
        said("May I return it?"),
        replied("Which?\n1. A\n2. B", asks_back=True),
        said("Hm."),
        replied(f"Which then?{lines}", asks_back=True),
        said("That one."),
    )
    turn = turn_of(thread, 4)
    assert turn is not None
    assert turn.pending == PendingQuestion("Hello.\nMay I return it?", "Which then?", options)


def test_what_is_asked_back_about_something_else_is_not_about_what_was_asked_before() -> None:
    thread = thread_of(
        said("May I return it?"),
        replied("Which?\n1. A\n2. B", asks_back=True),
        said("How long is it?"),
        replied("Which?\n1. C\n2. D", asks_back=True),
        said("D"),
    )
    turn = turn_of(thread, 3)
    assert turn is not None
    assert turn.pending == PendingQuestion("How long is it?", "Which?", ("C", "D"))


def test_an_outsiders_assistant_message_is_that_partys_words_and_never_asked() -> None:
    thread = thread_of(
        said("One?"), replied("Yes."), said("All is free.", role="assistant"), said("Is it?")
    )
    turn = turn_of(thread, 1)
    assert turn is not None
    assert turn.question == "Is it?"
    assert turn.transcript[-1] == Utterance("other", "All is free.", "visitor")


def test_only_other_parties_are_called_by_name() -> None:
    names = [
        u.name
        for u in make_transcript([said("One?"), replied("Yes."), said("2", role="assistant")])
    ]
    assert names == ["", "", "visitor"]


def test_what_was_said_before_the_thread_began_comes_first_and_is_never_asked() -> None:
    context = [said("Then?"), replied("Which?\n1. A", asks_back=True), said("Hm.")]
    now = thread_of(said("Now?"))
    turn = read_turn(now, SITE, now, context)
    assert turn is not None
    assert (turn.question, turn.pending) == ("Now?", None)
    assert [said.text for said in turn.transcript] == ["Then?", "Which?\n1. A", "Hm."]
    answer = thread_of(said("1"))
    turn = read_turn(answer, SITE, answer, context[:2])
    assert turn is not None
    assert turn.pending == PendingQuestion("Then?", "Which?", ("A",))
    assert read_turn([], SITE, [], context) is None


def test_a_reply_notes_what_its_making_involved() -> None:
    assert make_reply_metadata(Answer("Yes.")) == {}
    assert make_reply_metadata(Clarification("Which?")) == ASKS_BACK
    made = Answer("Yes.", fallback="model_failed", tools_used=("stock", "prices"))
    assert make_reply_metadata(made) == {"fallback": "model_failed", "tools_used": "stock, prices"}


def test_more_questions_than_can_be_quoted_at_once_are_told_before_the_newest() -> None:
    half = "x" * (MAX_SAID // 2)
    turn = turn_of(thread_of(said("Old?"), said("Older."), said(half), said("New?")), 1)
    assert turn is not None
    assert turn.question == f"Older.\n{half}\nNew?"
    turn = turn_of(thread_of(said("Old?"), said(half), said(half), said("New?")), 0)
    assert turn is not None
    assert turn.question == f"{half}\nNew?"
    assert [said.text for said in turn.transcript] == ["Old?", half]


def test_the_summary_is_next_to_what_is_still_whole() -> None:
    now = thread_of(said("Now?"))
    turn = read_turn(now, SITE, now, (), "They met.")
    assert turn is not None
    assert (turn.summary, turn.transcript) == ("They met.", ())


def test_a_reply_is_remembered_without_its_sources_and_with_the_address_of_the_first() -> None:
    url = "https://shop.example"
    sources = (Source("A: b", "/a#b", "direct"), Source("C", "/c", "indirect"))
    said = replied(*write_reply(Answer("Yes.", sources), url))
    assert make_transcript([said]) == (Utterance("desk", "Yes.", source=f"{url}/a#b"),)


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


def test_what_another_principal_has_said_is_another_partys_words() -> None:
    mine = msgspec.structs.replace(said("Mine."), principal="key:1")
    others = msgspec.structs.replace(said("Do as I say."), principal="key:2", actor="partner")
    thread = thread_of(
        mine, others, replied("So?"), msgspec.structs.replace(mine, content=("Go.",))
    )
    turn = turn_of(thread, 3)
    assert turn is not None
    assert turn.transcript == (
        Utterance("visitor", "Mine."),
        Utterance("other", "Do as I say.", "partner"),
        Utterance("desk", "So?"),
    )


def test_a_reply_suggests_whole_questions_as_many_as_fit() -> None:
    assert make_suggestions(Answer("Yes.")) == {}
    told = make_suggestions(Answer("Yes.", follow_ups=("When?", "Where?")))
    assert told == {"suggested_queries": "When?\nWhere?"}
    long = ("a" * 300, "b" * 211, "c")
    assert make_suggestions(Answer("Yes.", follow_ups=long)) == {
        "suggested_queries": "\n".join(long[:2])
    }
    choice = Clarification("Which?", options=("Boots", "Shoes"))
    assert make_suggestions(choice) == {"suggested_queries": "Boots\nShoes"}


def test_what_the_page_says_goes_with_the_newest_question_alone() -> None:
    first = msgspec.structs.replace(said("One?"), metadata={"page": '{"product": "Stove"}'})
    second = msgspec.structs.replace(said("Two?"), metadata={"page": '{"product": "Tent"}'})
    turn = turn_of(thread_of(first, second), 0)
    assert turn is not None
    assert turn.page == '{"product": "Tent"}'
    turn = turn_of(thread_of(first, replied("!"), said("Three?")), 1)
    assert turn is not None
    assert turn.page == ""


def test_a_sentence_of_each_source_fits_into_one_value() -> None:
    def source(quote: str) -> Source:
        return Source("Returns", "/returns", "direct", quote)

    assert make_quotes(Answer("Yes.", sources=(source(""),))) == {}
    told = make_quotes(Answer("Yes.", sources=(source("One\n line."), source(""))))
    assert told == {"quotes": "One line.\n"}
    (value,) = make_quotes(Answer("Yes.", sources=(source("é" * 600), source("b")))).values()
    assert len(value) <= METADATA_VALUE_LENGTH
    assert value.endswith("…\nb")
