"""A conversation continues over another protocol: one thread, by either name."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from aitp_desk.agent.base import Utterance
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import NOON, Clock, ScriptedAgent

DAY = 24 * 3600.0


def visitor_of(talker: Talker, http: aiohttp.ClientSession) -> Visitor:
    return Visitor(talker.desk, http)


async def test_a_thread_goes_on_over_ahp_and_back(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with (
        talking(tmp_path, agent=agent) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        visitor = visitor_of(talker, http)
        thread = (await talker.open("Do you sell maps?", wait=10)).id
        first = await visitor.ask("And globes?", session_id=thread)
        assert agent.turns[-1].transcript[0].text == "Do you sell maps?"
        await talker.post(thread, "And atlases?", wait=10)
        second = await visitor.ask("And which of them first?", session_id=first.session_id)
        said = await talker.texts(thread)
    assert first.session_id == second.session_id
    assert said[0::2] == [
        "Do you sell maps?",
        "And globes?",
        "And atlases?",
        "And which of them first?",
    ]
    asked = [one for one in agent.turns[-1].transcript if one.speaker == "visitor"]
    assert asked == [Utterance("visitor", text) for text in said[0:6:2]]


async def test_a_session_is_a_thread_for_each_caller_who_knows_it(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with (
        talking(tmp_path, agent=agent) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        visitor = visitor_of(talker, http)
        session = (await visitor.ask("Do you sell maps?")).session_id
        opened = (await talker.read(session)).ok
        assert opened["id"].startswith("thread_")
        await talker.post(session, "And globes?", wait=10)
        third = await visitor.ask("And atlases?", session_id=session)
        said = await talker.texts(opened["id"])
    assert third.session_id == session
    assert said[0::2] == ["Do you sell maps?", "And globes?", "And atlases?"]
    assert [one.text for one in agent.turns[-1].transcript][0::2] == said[0:4:2]


async def test_nobody_else_goes_on_with_it(tmp_path: Path) -> None:
    async with (
        talking(tmp_path) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        mine = await talker.with_key("threads", "ask")
        visitor = visitor_of(talker, http)
        thread = (await mine.open("Do you sell maps?", wait=10)).id
        others = (await talker.with_key("threads", "ask")).credentials
        for headers in ([], others):
            refused = await visitor.ask("And globes?", session_id=thread, headers=headers)
            assert refused.refusal == (400, "invalid_request", "unknown_session")
        named = await visitor.ask("And globes?", session_id=thread, headers=mine.credentials)
        assert (await talker.read(named.session_id)).status == 404
        assert (await talker.post(named.session_id, "And mine?")).status == 404
        assert (await talker.read("session_00000000")).status == 404
        assert (await mine.texts(thread))[0::2] == ["Do you sell maps?", "And globes?"]


async def test_a_name_lives_as_long_as_its_thread(tmp_path: Path) -> None:
    clock = Clock(NOON)
    settings = ("threads.anonymous_ttl=30", "sessions.idle_seconds=600")
    async with (
        talking(tmp_path, *settings, clock=clock) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        visitor = visitor_of(talker, http)
        thread = (await talker.open("Do you sell maps?", wait=10)).id
        session = (await visitor.ask("And globes?", session_id=thread)).session_id
        clock.advance(20 * DAY)
        await talker.post(session, "And atlases?", wait=10)
    async with (
        talking(tmp_path, *settings, clock=clock) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        visitor = visitor_of(talker, http)
        clock.advance(20 * DAY)
        again = await visitor.ask("And charts?", session_id=session)
        assert again.session_id == session
        assert len(await talker.texts(thread)) == 8
        clock.advance(31 * DAY)
        for name in (session, thread):
            closed = await visitor.ask("And plans?", session_id=name)
            assert closed.refusal == (400, "invalid_request", "unknown_session")


async def test_a_deleted_thread_has_no_name(tmp_path: Path) -> None:
    async with (
        talking(tmp_path) as talker,
        aiohttp.ClientSession(talker.desk.url) as http,
    ):
        visitor = visitor_of(talker, http)
        session = (await visitor.ask("Do you sell maps?")).session_id
        assert (await talker.send("DELETE", f"/v1/threads/{session}")).status == 200
        gone = await visitor.ask("And globes?", session_id=session)
        assert gone.refusal == (400, "invalid_request", "unknown_session")
        assert (await talker.read(session)).status == 404
