"""An answer given before is given again: to whom, for how long, and to nothing but its question."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.model.errors import RateLimited, Unavailable
from tests.support.clients.ahp import visiting
from tests.support.doubles.agent import Clock, ScriptedAgent
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Reply, said_in, say

QUERY = "What does gift wrapping cost?"


@pytest.mark.requirement("AHP-6.2-9", "AHPW-3.1-5", "AHPW-4.1-15")
async def test_the_same_first_question_is_answered_from_the_cache(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        first = await visitor.ask(QUERY)
        second = await visitor.ask(QUERY)
        third = await visitor.ask(QUERY)
    assert (first.is_cached, second.is_cached, third.is_cached) == (False, True, True)
    assert len(agent.turns) == 1
    assert len({said.session_id for said in (first, second, third)}) == 3
    for said in (second, third):
        assert said.body["response"] == first.body["response"]
        given_again = {"cached": True, "cache": said.body["meta"]["cache"]}
        assert said.body["meta"] == first.body["meta"] | given_again


@pytest.mark.requirement("AHPW-3.1-5")
@pytest.mark.parametrize(
    ("query", "again"),
    [
        (QUERY, "what does GIFT wrapping cost?"),
        (QUERY, "  What does\tgift\n wrapping   cost? "),
        ("Le caf\u00e9 ?", "le cafe\u0301 ?"),
    ],
)
async def test_case_white_space_and_composition_make_no_other_question(
    tmp_path: Path, query: str, again: str
) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        await visitor.ask(query)
        assert (await visitor.ask(again)).is_cached


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("x" * 4095 + "y", "x" * 4095 + "z"),
        ("y" + "x" * 4095, "z" + "x" * 4095),
        ("Welche Maße?", "Welche Masse?"),
        ("What is 10²?", "What is 102?"),
        ("Price?", "Price"),
    ],
)
async def test_what_differs_in_one_character_is_another_question(
    tmp_path: Path, query: str, other: str
) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        await visitor.ask(query)
        said = await visitor.ask(other)
    assert not said.is_cached
    assert said.answer.endswith(f"asked: {other}")


@pytest.mark.requirement("AHPW-3.1-5")
async def test_an_answer_tells_its_age_and_how_often_the_cache_answers(tmp_path: Path) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        first = await visitor.ask(QUERY)
        clock.advance(41.9)
        second = await visitor.ask(QUERY)
        third = await visitor.ask(QUERY)
        follow_up = await visitor.ask(QUERY, session_id=third.session_id)
    told = [said.body["meta"]["cache"] for said in (first, second, third, follow_up)]
    assert told == [
        {"hit_rate": 0.0},
        {"hit_rate": 0.5, "age_seconds": 41},
        {"hit_rate": 0.67, "age_seconds": 41},
        {"hit_rate": 0.67},
    ]


async def test_a_desk_that_keeps_no_answers_tells_nothing_of_them(tmp_path: Path) -> None:
    setting = "cache.max_answers=0"
    async with visiting(tmp_path / "data", setting, agent=ScriptedAgent()) as visitor:
        said = [await visitor.ask(QUERY) for _ in range(2)]
    assert not any("cache" in one.body["meta"] or one.is_cached for one in said)


@pytest.mark.parametrize(
    ("capability", "context"),
    [
        ("site_info", {}),
        ("content_search", {"locale": "fr"}),
        ("content_search", {"max_tokens": 20}),
        ("content_search", {"accept_types": ["text/answer"]}),
    ],
)
async def test_what_makes_another_answer_makes_another_question(
    tmp_path: Path, capability: str, context: dict[str, Any]
) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        await visitor.ask(QUERY)
        assert not (await visitor.ask(QUERY, capability, **context)).is_cached
        assert (await visitor.ask(QUERY, capability, **context)).is_cached
        assert (await visitor.ask(QUERY)).is_cached
        assert not (await visitor.ask(QUERY.replace("cost?", "cost, please?"))).is_cached


@pytest.mark.parametrize("seconds", [-3600, -1])
async def test_a_clock_that_is_set_back_keeps_no_answer_for_longer(
    tmp_path: Path, seconds: int
) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        await visitor.ask(QUERY)
        clock.advance(seconds)
        assert not (await visitor.ask(QUERY)).is_cached
        assert (await visitor.ask(QUERY)).is_cached


async def test_an_agent_s_name_and_intent_make_no_other_question(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent()) as visitor:
        await visitor.ask(QUERY, requesting_agent="one/1.0", user_intent="research")
        assert (await visitor.ask(QUERY, requesting_agent="other/2.0")).is_cached


async def test_changed_content_is_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    page = folder / "wrapping.md"
    page.write_text("# Gift wrapping\n\nGift wrapping costs 2 EUR a book.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        assert "2 EUR" in (await visitor.ask(QUERY)).answer
        assert (await visitor.ask(QUERY)).is_cached
        page.write_text("# Gift wrapping\n\nGift wrapping costs 3 EUR a book, since May.\n")
        await visitor.desk.desk.knowledge.refresh()
        said = await visitor.ask(QUERY)
        assert not said.is_cached
        assert "3 EUR" in said.answer


async def test_two_visitors_follow_ups_never_meet(tmp_path: Path) -> None:
    async def answer_about_the_first(turn: Turn) -> Outcome:
        about = turn.transcript[0].text if turn.transcript else "nothing"
        return Answer(f"{turn.question} (about {about})")

    agent = ScriptedAgent(answer_about_the_first)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        tents, boots = await visitor.ask("Tents?"), await visitor.ask("Boots?")
        price_of_tents = await visitor.ask("Price?", session_id=tents.session_id)
        price_of_boots = await visitor.ask("Price?", session_id=boots.session_id)
        at_first = await visitor.ask("Price?")
        again = await visitor.ask("Price?", session_id=tents.session_id)
    assert price_of_tents.answer == "Price? (about Tents?)"
    assert price_of_boots.answer == "Price? (about Boots?)"
    assert at_first.answer == "Price? (about nothing)"
    assert again.answer == "Price? (about Tents?)"
    for said in (price_of_tents, price_of_boots, at_first, again):
        assert not said.is_cached


async def test_two_visitors_follow_ups_never_meet_where_a_model_answers(tmp_path: Path) -> None:
    def answer_about_the_first(body: dict[str, Any]) -> Reply:
        asked = [said["visitor"] for _, said in said_in(body) if isinstance(said, dict)]
        return say(f"{asked[-1]} (about {asked[0]})", 0)

    async with meeting(tmp_path, answer_about_the_first) as met:
        first = [await met.visitor.ask(f"{topic}?") for topic in ("Shipping", "Returns")]
        then = [
            await met.visitor.ask("How long?", session_id=said.session_id) for said in first * 2
        ]
        assert len(met.api.requests) == 6
    shipping, returns = "How long? (about Shipping?)", "How long? (about Returns?)"
    assert [said.answer for said in then] == [shipping, returns, shipping, returns]
    assert not any(said.is_cached for said in then)


async def test_a_follow_up_in_the_words_of_a_known_question_is_a_follow_up(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        await visitor.ask("Price?")
        other = await visitor.ask("Tents?")
        said = await visitor.ask("Price?", session_id=other.session_id)
    assert not said.is_cached
    assert said.answer == "2 said before; asked: Price?"


async def test_a_conversation_that_began_with_a_known_answer_remembers_it(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        await visitor.ask(QUERY)
        known = await visitor.ask(QUERY)
        await visitor.ask("And a card?", session_id=known.session_id)
    assert [utterance.text for utterance in agent.turns[-1].transcript] == [QUERY, known.answer]


@pytest.mark.requirement("AHPW-3.1-5")
async def test_an_answer_is_known_for_five_minutes(tmp_path: Path) -> None:
    clock = Clock()
    async with visiting(tmp_path / "data", clock=clock, agent=ScriptedAgent()) as visitor:
        await visitor.ask(QUERY)
        clock.advance(300)
        assert (await visitor.ask(QUERY)).is_cached
        clock.advance(1)
        assert not (await visitor.ask(QUERY)).is_cached
        clock.advance(300)
        assert (await visitor.ask(QUERY)).is_cached


@pytest.mark.parametrize(("most", "known"), [(0, [False, False]), (1, [False, True])])
async def test_the_owner_chooses_how_many_answers_are_kept(
    tmp_path: Path, most: int, known: list[bool]
) -> None:
    setting = f"cache.max_answers={most}"
    async with visiting(tmp_path / "data", setting, agent=ScriptedAgent()) as visitor:
        await visitor.ask("One?")
        await visitor.ask("Two?")
        assert [(await visitor.ask(query)).is_cached for query in ("One?", "One?")] == known


async def test_answers_are_kept_within_the_owners_bound_of_memory(tmp_path: Path) -> None:
    async def answer_at_length(turn: Turn) -> Outcome:
        return Answer(turn.question * (10_000 if "long" in turn.question else 2_000))

    agent = ScriptedAgent(answer_at_length)
    async with visiting(tmp_path / "data", "cache.max_bytes=100000", agent=agent) as visitor:
        for query in ("One?", "Two?", "Six?", "Ten?", "So long?"):
            await visitor.ask(query)
        counts = visitor.desk.desk.conversations.cache_counts
        assert counts.size <= 100_000
        assert (counts.stored, counts.answers, counts.evicted_for_room) == (4, 4, 0)
        for number in range(6):
            await visitor.ask(f"More {number}?")
        assert counts.size <= 100_000
        assert counts.evicted_for_room == 10 - counts.answers > 0
        assert not (await visitor.ask("So long?")).is_cached
        assert (await visitor.ask("More 5?")).is_cached
        for number in (4, 3, 2):
            await visitor.ask(f"More {number}?")
        assert counts.size <= 100_000
        assert not (await visitor.ask("One?")).is_cached


async def test_outcomes_of_questions_and_answers_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    page = folder / "page.md"
    page.write_text("# Page\n\nText.\n")
    clock, agent = Clock(), ScriptedAgent()
    async with visiting(tmp_path / "data", folder=folder, clock=clock, agent=agent) as visitor:
        counts = visitor.desk.desk.conversations.cache_counts
        await visitor.ask("One?")
        await visitor.ask("One?")
        clock.advance(301)
        await visitor.ask("One?")
        assert (counts.hits, counts.misses, counts.stored, counts.evicted_by_age) == (1, 2, 2, 1)
        await visitor.ask("Two?")
        assert (counts.answers, counts.evicted_with_content) == (2, 0)
        page.write_text("# Page\n\nOther text.\n")
        assert await visitor.desk.desk.knowledge.refresh()
        await visitor.ask("Three?")
        assert (counts.answers, counts.evicted_with_content) == (1, 2)
        assert counts.hit_rate == 1 / 5


async def test_a_failure_is_not_an_answer_to_be_given_again(tmp_path: Path) -> None:
    failures = iter([Unavailable("Not now."), RuntimeError("broken")])

    async def fail_twice(_turn: Turn) -> Outcome:
        for failure in failures:
            raise failure
        return Answer("At last.")

    async with visiting(tmp_path / "data", agent=ScriptedAgent(fail_twice)) as visitor:
        assert [(await visitor.ask(QUERY)).status for _ in range(3)] == [503, 500, 200]
        assert (await visitor.ask(QUERY)).is_cached


async def test_who_waits_for_anothers_answer_receives_none_of_its_refusals(tmp_path: Path) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def refuse_first(_turn: Turn) -> Outcome:
        if asked.is_set():
            return Answer("Here it is.")
        asked.set()
        await go_on.wait()
        raise RateLimited("You have used up your tokens.", scope="day_tokens", retry_after=1)

    async with visiting(tmp_path / "data", agent=ScriptedAgent(refuse_first)) as visitor:
        first = asyncio.create_task(visitor.ask(QUERY))
        await asked.wait()
        others = [asyncio.create_task(visitor.ask(QUERY)) for _ in range(2)]
        async with asyncio.timeout(60):
            while visitor.desk.desk.conversations.cache_counts.waiting < len(others):  # noqa: ASYNC110
                await asyncio.sleep(0)
        go_on.set()
        assert (await first).status == 429
        assert [(await other).answer for other in others] == ["Here it is."] * 2


async def test_an_answer_is_kept_for_the_content_that_it_was_asked_of(tmp_path: Path) -> None:
    """The content changes while the agent is at work: the next visitor's answer is made again."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "page.md").write_text("# Page\n\nText.\n")
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer_when_told(turn: Turn) -> Outcome:
        asked.set()
        await go_on.wait()
        return Answer(turn.question)

    agent = ScriptedAgent(answer_when_told)
    async with visiting(tmp_path / "data", folder=folder, agent=agent) as visitor:
        first = asyncio.create_task(visitor.ask(QUERY))
        await asked.wait()
        (folder / "page.md").write_text("# Page\n\nOther text.\n")
        assert await visitor.desk.desk.knowledge.refresh()
        go_on.set()
        await first
        assert not (await visitor.ask(QUERY)).is_cached


async def test_two_visitors_follow_ups_never_meet_after_a_restart(tmp_path: Path) -> None:
    async def answer_about_the_first(turn: Turn) -> Outcome:
        about = turn.transcript[0].text if turn.transcript else "nothing"
        return Answer(f"{turn.question} (about {about})")

    agent = ScriptedAgent(answer_about_the_first)
    topics = [f"Topic {number}?" for number in range(40)]
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        first = await asyncio.gather(*(visitor.ask(topic) for topic in topics))
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        asking = (visitor.ask("Price?", session_id=said.session_id) for said in first)
        then = await asyncio.gather(*asking, visitor.ask("Price?"))
    told = [f"Price? (about {about})" for about in (*topics, "nothing")]
    assert [said.answer for said in then] == told
    assert not any(said.is_cached for said in then)
