"""A conversation begun over one protocol continues over each other: it is one thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import permutations
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.model.calls.action import Action
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.protocols.conversation import DOORS, Heard, Refused
from tests.support.sites.actions import offering

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A caller with a key, and an agent that says how much was said before."""
    bell = offering(Action("ring", "Rings the bell.", "query", open_to="anyone"), ring)
    folder = tmp_path_factory.mktemp("desk")
    async with talking(folder, agent=ScriptedAgent(), actions=(bell,)) as talker:
        yield await talker.with_key("threads", "ask")


async def ring(_who: str, _arguments: Mapping[str, Any]) -> str:
    return "It rang."


async def check_told(visitor: Talker, name: str, questions: list[str], heard: list[Heard]) -> None:
    """Compare the protocols' answers with the thread, read by any name of the conversation."""
    data = (await visitor.messages(name, "?order=asc&limit=100")).ok["data"]
    told = [text for one, answer in zip(questions, heard, strict=True) for text in (one, answer)]
    assert [message["role"] for message in data] == ["user", "assistant"] * len(questions)
    for message, one in zip(data, told, strict=True):
        if isinstance(one, str):
            assert message["content"] == [one]
        else:
            answer, sources = message["content"]
            assert answer == one.answer
            assert one.sources == (f"{visitor.desk.url}/about",)
            assert one.sources[0] in sources
    for number, one in enumerate(heard):
        assert one.answer == f"{2 * number} said before; asked: {questions[number]}"


@pytest.mark.parametrize(("begun", "goes_on"), tuple(permutations(DOORS, 2)))
async def test_a_conversation_continues_over_another_protocol(
    visitor: Talker, begun: str, goes_on: str
) -> None:
    questions = [f"Begun over {begun}?", f"Gone on over {goes_on}?"]
    first = await DOORS[begun].ask(visitor, questions[0])
    second = await DOORS[goes_on].ask(visitor, questions[1], first.name)
    for name in (first.name, second.name):
        await check_told(visitor, name, questions, [first, second])


@pytest.mark.parametrize("begun", tuple(DOORS))
async def test_a_conversation_goes_through_all_protocols_and_back(
    visitor: Talker, begun: str
) -> None:
    others = [door for door in DOORS if door != begun]
    way = [begun, *others, begun]
    questions = [f"Question {number} over {door}?" for number, door in enumerate(way)]
    heard: list[Heard] = []
    for door, question in zip(way, questions, strict=True):
        heard.append(await DOORS[door].ask(visitor, question, heard[-1].name if heard else None))
    assert heard[-1].name in {one.name for one in heard[:-1]}
    await check_told(visitor, heard[0].name, questions, heard)


@pytest.mark.parametrize("times", [1, 2])
async def test_what_was_called_in_a_session_is_not_asked_again_on_its_thread(
    visitor: Talker, times: int
) -> None:
    session: dict[str, str] = {}
    for _ in range(times):
        body = {"capability": "ring", "query": "Ring the bell.", **session}
        told = (await visitor.send("POST", "/agent/converse", body)).ok
        session = {"session_id": told["session_id"]}
    heard = await DOORS["aitp"].ask(visitor, "Who is there?", session["session_id"])
    assert heard.answer == f"{2 * times} said before; asked: Who is there?"


@pytest.mark.parametrize("goes_on", ["ahp", "mcp"])
async def test_what_waits_on_a_thread_is_answered_though_it_went_on_elsewhere(
    visitor: Talker, goes_on: str
) -> None:
    begun = await DOORS["aitp"].ask(visitor, "Is anybody there?")
    by_hand = [("OpenAI-Beta", "assistants=v2")]  # no run begins by itself
    await visitor.post(begun.name, "Does this wait?", headers=by_hand)
    await DOORS[goes_on].ask(visitor, "Is this answered at once?", begun.name)
    heard = await DOORS["aitp"].ask(visitor, "And now?", begun.name)
    assert "Does this wait?" in heard.answer
    assert heard.answer.endswith("And now?")


@pytest.mark.parametrize("goes_on", tuple(DOORS))
async def test_nobody_else_goes_on_with_it(visitor: Talker, goes_on: str) -> None:
    other = await visitor.with_key("threads", "ask")
    mine = await DOORS["aitp"].ask(visitor, "Is this mine?")
    with pytest.raises(Refused, match=r"unknown_session|thread_not_found|No context"):
        await DOORS[goes_on].ask(other, "Is this mine?", mine.name)
    assert len(await visitor.texts(mine.name)) == 2
