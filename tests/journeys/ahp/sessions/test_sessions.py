"""A conversation over several requests: what it remembers, how long it lasts, whose it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import Unavailable
from tests.support.access.keys import make_key
from tests.support.clients.ahp import Said, visiting
from tests.support.doubles.agent import NOON, Clock, ScriptedAgent

GONE = (400, "invalid_request", "unknown_session")


# --- memory ---------------------------------------------------------------------------------


@pytest.mark.requirement("AHP-5.2-5", "AHP-6.1-4", "AHPW-3.1-4")
async def test_the_agent_gets_everything_that_was_said_before(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        first = await visitor.ask("Do you sell maps?")
        second = await visitor.ask("And globes?", session_id=first.session_id)
        third = await visitor.ask("Which did I ask about?", session_id=first.session_id)
    assert first.session_id == second.session_id == third.session_id
    assert [turn.question for turn in agent.turns] == [
        "Do you sell maps?",
        "And globes?",
        "Which did I ask about?",
    ]
    assert [(said.speaker, said.text) for said in agent.turns[2].transcript] == [
        ("visitor", "Do you sell maps?"),
        ("desk", first.answer),
        ("visitor", "And globes?"),
        ("desk", second.answer),
    ]


@pytest.mark.requirement("AHPW-4.1-8")
async def test_a_follow_up_that_makes_sense_only_after_the_first_question_is_understood(
    tmp_path: Path,
) -> None:
    async with visiting(tmp_path / "data") as visitor:
        first = await visitor.ask("How long do I have to return a book?")
        assert "14 days" in first.answer
        second = await visitor.ask("And for second-hand ones?", session_id=first.session_id)
        assert "7 days" in second.answer


async def test_one_session_holds_questions_to_every_capability(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", "sessions.max_turns=4", agent=agent) as visitor:
        about = await visitor.ask("What is this?", "site_info")
        id_ = about.session_id
        found = await visitor.ask("Is there a café?", "content_search", session_id=id_)
        contact = await visitor.ask("Whom do I write to?", "contact", session_id=id_)
        last = await visitor.ask("And what else?", session_id=id_)
        late = await visitor.ask("What is this?", "site_info", session_id=id_)
    assert [said.session_id for said in (found, contact, last)] == [id_] * 3
    assert late.refusal == (400, "invalid_request", "session_limit")
    assert [utterance.text for utterance in agent.turns[1].transcript] == [
        "What is this?",
        about.answer,
        "Is there a café?",
        found.answer,
        "Whom do I write to?",
        contact.answer,
    ]


async def test_the_newest_is_remembered_within_the_memory_that_a_session_has(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", "sessions.memory_bytes=1024", agent=agent) as visitor:
        said = await visitor.ask("first " + "x" * 600)
        for word in ("second", "third"):
            said = await visitor.ask(f"{word} " + "x" * 300, session_id=said.session_id)
        await visitor.ask("fourth", session_id=said.session_id)
    transcript = agent.turns[-1].transcript
    assert transcript[-2].text.startswith("third")
    assert sum(len(utterance.text.encode()) for utterance in transcript) <= 1024
    assert len(transcript) == 3


async def test_a_session_that_the_process_let_go_of_goes_on_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask_back_at_first(turn: Turn) -> Outcome:
        if turn.transcript:
            about = turn.pending.about if turn.pending else "nothing"
            return Answer(f"{about}, {turn.clarification}, {len(turn.transcript)}")
        return Clarification("Which one?", ("this", "that"))

    monkeypatch.setattr("aitp_desk.desk.threads.sessions.MAX_CACHED", 1)
    agent = ScriptedAgent(ask_back_at_first)
    async with visiting(tmp_path / "data", "sessions.max_turns=2", agent=agent) as visitor:
        one, other = await visitor.ask("One?"), await visitor.ask("Other?")
        for asked, about in ((one, "One?"), (other, "Other?")):
            id_ = asked.session_id
            said = await visitor.ask(about, session_id=id_, clarification="that")
            assert said.answer == f"{about}, that, 2"
        asked_back = "Which one?\n1. this\n2. that"
        assert [utterance.text for utterance in agent.turns[2].transcript] == ["One?", asked_back]
        late = await visitor.ask("And?", session_id=one.session_id)
        assert late.refusal == (400, "invalid_request", "session_limit")


# --- its end --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.requirement("AHP-6.5-1", "AHPW-4.1-18", "AHPW-3.1-3")
async def test_a_session_has_ten_turns_and_a_new_one_helps(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        said = await visitor.ask("Turn 1")
        id_ = said.session_id
        for turn in range(2, 11):
            said = await visitor.ask(f"Turn {turn}", session_id=id_)
            assert said.status == 200, turn
        eleventh = await visitor.ask("Turn 11", session_id=id_)
        assert eleventh.refusal == (400, "invalid_request", "session_limit")
        assert eleventh.body["param"] == "session_id"
        assert "10 turns" in eleventh.body["message"]
        assert (await visitor.ask("Turn 11")).session_id != id_


async def test_the_owner_chooses_how_many_turns_a_session_has(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", "sessions.max_turns=1") as visitor:
        said = await visitor.ask("What does gift wrapping cost?")
        late = await visitor.ask("And a card?", session_id=said.session_id)
        assert late.refusal == (400, "invalid_request", "session_limit")


@pytest.mark.requirement("AHP-6.5-2", "AHPW-3.1-3")
async def test_a_session_ends_after_ten_idle_minutes_and_each_turn_restarts_them(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        for _ in range(3):
            clock.advance(600)
            assert (await visitor.ask("Still there?", session_id=id_)).status == 200
        clock.advance(601)
        assert (await visitor.ask("And now?", session_id=id_)).refusal == GONE


@pytest.mark.requirement("AHP-6.5-2")
@pytest.mark.parametrize("held", [True, False], ids=["held", "read back"])
@pytest.mark.parametrize("second", [0.0, 0.9])
async def test_a_session_ends_after_its_idle_time_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool, second: float
) -> None:
    monkeypatch.setattr("aitp_desk.desk.threads.sessions.MAX_CACHED", 1)
    clock = Clock(NOON + second)
    settings = ("sessions.idle_seconds=60", "cache.max_answers=0")
    async with visiting(tmp_path / "data", *settings, clock=clock) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        for idle in (59.5, 60):
            if not held:
                await visitor.ask("Who takes its place?")
            clock.advance(idle)
            assert (await visitor.ask("Still there?", session_id=id_)).status == 200
        clock.advance(61)
        assert (await visitor.ask("And now?", session_id=id_)).refusal == GONE


@pytest.mark.parametrize("seconds", [-3600, -1])
async def test_a_clock_that_is_set_back_ends_no_session_and_keeps_none_for_ever(
    tmp_path: Path, seconds: int
) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        clock.advance(seconds)
        for _ in range(2):
            assert (await visitor.ask("Still there?", session_id=id_)).status == 200
            clock.advance(600)
        clock.advance(1)
        assert (await visitor.ask("And now?", session_id=id_)).refusal == GONE


async def test_a_clock_that_is_set_forward_ends_sessions_and_lets_new_ones_begin(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        clock.advance(3600)
        assert (await visitor.ask("Still there?", session_id=id_)).refusal == GONE
        id_ = (await visitor.ask("Hello?")).session_id
        assert (await visitor.ask("Still there?", session_id=id_)).status == 200


@pytest.mark.sqlite
async def test_a_session_whose_record_was_lost_is_unknown_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    async with visiting(data, agent=ScriptedAgent()) as visitor:
        with monkeypatch.context() as lost:
            lost.setattr(visitor.desk.store, "record", lambda _unit, **_given: None)
            id_ = (await visitor.ask("Hello?")).session_id
    async with visiting(data, agent=ScriptedAgent()) as visitor:
        assert (await visitor.ask("Still there?", session_id=id_)).refusal == GONE


async def test_a_refused_request_is_no_sign_of_life(tmp_path: Path) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        clock.advance(400)
        refused = await visitor.ask("Hm", session_id=id_, accept_types=["media/video"])
        assert refused.status == 400
        clock.advance(400)
        assert (await visitor.ask("And now?", session_id=id_)).refusal == GONE


async def test_a_turn_that_failed_does_not_count_and_is_not_remembered(tmp_path: Path) -> None:
    async def answer_unless_told_to_fail(turn: Turn) -> Outcome:
        if turn.question == "Fail":
            raise Unavailable("Not now.", retry_after=1)
        return Answer(f"{len(turn.transcript)} before")

    agent = ScriptedAgent(answer_unless_told_to_fail)
    async with visiting(tmp_path / "data", "sessions.max_turns=2", agent=agent) as visitor:
        id_ = (await visitor.ask("First")).session_id
        for _ in range(3):
            assert (await visitor.ask("Fail", session_id=id_)).status == 503
        assert (await visitor.ask("Second", session_id=id_)).answer == "2 before"


# --- whose it is ----------------------------------------------------------------------------


@pytest.mark.requirement("AHPW-4.1-22")
async def test_an_unknown_a_foreign_and_an_expired_session_are_refused_in_the_same_words(
    tmp_path: Path,
) -> None:
    clock = Clock()
    data = tmp_path / "data"
    async with visiting(data, clock=clock, agent=ScriptedAgent()) as visitor:
        store = visitor.desk.store
        mine = [("Authorization", f"Bearer {await make_key(store, data, name='mine')}")]
        theirs = [("Authorization", f"Bearer {await make_key(store, data, name='theirs')}")]
        old = await visitor.ask("Hello?")
        clock.advance(601)
        owned = await visitor.ask("Hello?", headers=mine)
        anonymous = await visitor.ask("Hello?")
        refused: list[Said] = [
            await visitor.ask("And?", session_id="session_unknown"),
            await visitor.ask("And?", session_id=""),
            await visitor.ask("And?", session_id="' OR 1=1 --"),
            await visitor.ask("And?", session_id=old.session_id),
            await visitor.ask("And?", session_id=owned.session_id),
            await visitor.ask("And?", session_id=owned.session_id, headers=theirs),
            await visitor.ask("And?", session_id=anonymous.session_id, headers=mine),
        ]
        went_on = await visitor.ask("And?", session_id=owned.session_id, headers=mine)
    assert [said.refusal for said in refused] == [GONE] * len(refused)
    assert len({str(said.body) for said in refused}) == 1
    assert refused[0].body["param"] == "session_id"
    assert went_on.answer == "2 said before; asked: And?"


async def test_sessions_of_several_visitors_do_not_mix(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", agent=agent) as visitor:

        async def converse(name: str) -> str:
            said = await visitor.ask(f"{name} 0")
            for turn in range(1, 4):
                said = await visitor.ask(f"{name} {turn}", session_id=said.session_id)
            return said.session_id

        names = [f"visitor-{n}" for n in range(8)]
        ids = await asyncio.gather(*map(converse, names))
    assert len(set(ids)) == len(names)
    for turn in agent.turns:
        name = turn.question.split()[0]
        said = [u.text for u in turn.transcript if u.speaker == "visitor"]
        assert said == [f"{name} {n}" for n in range(len(said))]


async def test_two_turns_that_come_at_once_are_taken_one_after_the_other(tmp_path: Path) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def answer_slowly(turn: Turn) -> Outcome:
        if turn.question == "slow":
            arrived.set()
            await go_on.wait()
        return Answer(f"{len(turn.transcript)} before")

    agent = ScriptedAgent(answer_slowly)
    async with visiting(tmp_path / "data", "sessions.max_turns=3", agent=agent) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        slow = asyncio.create_task(visitor.ask("slow", session_id=id_))
        await arrived.wait()
        others = [asyncio.create_task(visitor.ask(q, session_id=id_)) for q in ("a", "b")]
        other_session = await visitor.ask("Elsewhere?")
        assert not any(task.done() for task in (slow, *others))
        go_on.set()
        assert (await slow).answer == "2 before"
        assert sorted([said.status for said in await asyncio.gather(*others)]) == [200, 400]
    assert other_session.answer == "0 before"
    assert len(agent.turns[-1].transcript) == 4


async def test_turns_that_come_at_once_are_taken_in_the_order_in_which_they_came(
    tmp_path: Path,
) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def answer_slowly(turn: Turn) -> Outcome:
        if turn.question == "slow":
            arrived.set()
            await go_on.wait()
        return Answer("Yes.")

    agent = ScriptedAgent(answer_slowly)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        id_ = (await visitor.ask("Hello?")).session_id
        principal = make_anonymous("127.0.0.1")

        def take(question: str) -> asyncio.Task[AskReply]:
            ask = AskRequest("content_search", question, session_id=id_)
            return asyncio.create_task(visitor.desk.desk.conversations.ask(principal, ask))

        slow = take("slow")
        await arrived.wait()
        others = [take(f"turn {n}") for n in range(5)]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(slow, *others)
    assert [turn.question for turn in agent.turns[2:]] == [f"turn {n}" for n in range(5)]


async def test_a_session_id_tells_nothing_and_is_not_its_threads(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        ids = [(await visitor.ask(f"Question {n}")).session_id for n in range(20)]
        assert len(set(ids)) == 20
        assert not set.intersection(*(set(_grams(id_[-26:])) for id_ in ids))
        async with visitor.http.get(f"/v1/threads/{ids[0]}") as response:
            thread = (await response.json())["id"]
        assert not set(_grams(thread[-26:])) & set(_grams(ids[0][-26:]))


def _grams(text: str) -> list[str]:
    return [text[n : n + 4] for n in range(len(text) - 3)]
