"""What stays of a conversation by AHP: messages on a thread like any other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Source, Turn
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.threads.folded_threads import read_turn
from tests.support.access.keys import make_key
from tests.support.clients.ahp import Visitor, visiting
from tests.support.doubles.agent import ScriptedAgent
from tests.support.store.chosen import read_rows


async def answer_or_ask_back(turn: Turn) -> Outcome:
    if turn.question == "When?":
        return Clarification("Which hours?", ("Weekdays", "Sundays"))
    return Answer(f"Answer to {turn.question}", (Source("About", "/about", "direct"),))


async def thread_of(visitor: Visitor, session_id: str) -> str:
    await visitor.desk.store.settled()
    session = await reads.session(visitor.desk.store, session_id)
    assert session is not None
    return session.thread_id


async def messages_of(
    visitor: Visitor, thread_id: str, **headers: str
) -> tuple[int, list[dict[str, Any]]]:
    path = f"/v1/threads/{thread_id}/messages"
    async with visitor.http.get(path, params={"order": "asc"}, headers=headers) as response:
        return response.status, (await response.json()).get("data", [])


def rows(data: Path, statement: str) -> list[tuple[Any, ...]]:
    """What another process reads in the database at this moment."""
    return read_rows(data, statement)


async def test_question_and_answer_stand_on_a_thread_without_any_run(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with visiting(data, agent=ScriptedAgent(answer_or_ask_back)) as visitor:
        first = await visitor.ask("One?")
        await visitor.ask("Two?", session_id=first.session_id)
        thread_id = await thread_of(visitor, first.session_id)
        status, messages = await messages_of(visitor, thread_id)
        url = visitor.desk.url
        assert rows(data, "SELECT count(*) FROM runs") == [(0,)]
        assert rows(data, "SELECT seq FROM messages ORDER BY seq") == [(1,), (2,), (3,), (4,)]
    assert status == 200
    sources = f"Sources:\n- About: {url}/about"
    assert [(m["role"], m["content"]) for m in messages] == [
        ("user", ["One?"]),
        ("assistant", ["Answer to One?", sources]),
        ("user", ["Two?"]),
        ("assistant", ["Answer to Two?", sources]),
    ]
    assert [m["metadata"]["actor"] for m in messages] == ["visitor", url, "visitor", url]


async def test_what_was_asked_back_and_chosen_stands_on_the_thread(tmp_path: Path) -> None:
    agent = ScriptedAgent(answer_or_ask_back)
    async with visiting(tmp_path / "data", agent=agent) as visitor:
        asked = await visitor.ask("When?")
        await visitor.ask("Hours?", session_id=asked.session_id, clarification="Sundays")
        _, messages = await messages_of(visitor, await thread_of(visitor, asked.session_id))
    assert [m["content"][0] for m in messages] == [
        "When?",
        "Which hours?\n1. Weekdays\n2. Sundays",
        "Sundays",
        "Answer to Hours?",
    ]


async def test_an_answer_from_the_cache_is_recorded_like_any_other(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent(answer_or_ask_back)) as visitor:
        await visitor.ask("One?")
        known = await visitor.ask("One?")
        assert known.is_cached
        _, messages = await messages_of(visitor, await thread_of(visitor, known.session_id))
    assert [m["content"][0] for m in messages] == ["One?", "Answer to One?"]


@pytest.mark.sqlite
async def test_a_refused_question_leaves_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with visiting(data, "sessions.max_turns=1") as visitor:
        said = await visitor.ask("What does gift wrapping cost?")
        await visitor.ask("And?", session_id=said.session_id)
        await visitor.ask("And?", accept_types=["media/video"])
        await visitor.ask("And?", "nothing_of_that_name")
        await visitor.ask("And?", clarification="yes")
        await visitor.desk.store.settled()
        assert rows(data, "SELECT count(*) FROM folded_turns") == [(1,)]
        assert rows(data, "SELECT count(*) FROM threads") == [(0,)]


async def test_a_known_caller_s_conversation_is_theirs_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with visiting(data, agent=ScriptedAgent()) as visitor:
        store = visitor.desk.store
        mine = await make_key(store, data, name="mine")
        theirs = await make_key(store, data, name="theirs")
        said = await visitor.ask("One?", headers=[("X-AHP-Key", mine)])
        thread_id = await thread_of(visitor, said.session_id)
        assert (await messages_of(visitor, thread_id))[0] == 404
        assert (await messages_of(visitor, thread_id, **{"X-AHP-Key": theirs}))[0] == 404
        status, messages = await messages_of(visitor, thread_id, **{"X-AHP-Key": mine})
    assert status == 200
    assert messages[0]["content"] == ["One?"]


@pytest.mark.parametrize("cached", [False, True])
async def test_the_owner_can_have_each_turn_on_disk_before_its_answer(
    tmp_path: Path, cached: bool
) -> None:
    data = tmp_path / "data"
    async with visiting(data, "store.query_turns=durable", agent=ScriptedAgent()) as visitor:
        if cached:
            await visitor.ask("One?")
        said = await visitor.ask("One?")
        assert said.is_cached is cached
        found = rows(data, f"SELECT turn FROM folded_turns WHERE session_id = '{said.session_id}'")
        (turn,) = (read_turn(packed) for (packed,) in found)
        assert (turn.question, turn.reply[0]) == ("One?", said.body["response"]["answer"])


async def test_a_desk_that_stops_writes_down_what_it_has_answered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with visiting(data, agent=ScriptedAgent()) as visitor:
        for number in range(50):
            await visitor.ask(f"Question {number}?")
    assert rows(data, "SELECT count(*) FROM folded_turns") == [(50,)]


async def test_an_agent_rates_the_newest_answer_of_its_session(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent(answer_or_ask_back)) as visitor:
        asked = await visitor.ask("One?")
        path = f"/v1/threads/{asked.session_id}/messages/latest/feedback"
        rating = {"rating": "down", "reason": "Are returns free?"}
        async with visitor.http.post(path, json=rating) as response:
            assert response.status == 200, await response.text()
            told = await response.json()
        thread_id = await thread_of(visitor, asked.session_id)
        _, messages = await messages_of(visitor, thread_id)
    assert (told["id"], told["rating"]) == (messages[-1]["id"], "down")
