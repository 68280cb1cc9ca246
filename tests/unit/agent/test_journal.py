"""A journal explains what an agent answers, and changes nothing of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from aitp_desk.agent.base import (
    Answer,
    Delta,
    Event,
    SiteFacts,
    ToolRequest,
    Turn,
    find_tool_caller,
)
from aitp_desk.agent.extractive.agent import ExtractiveAgent
from aitp_desk.agent.journal import AnswerJournal
from aitp_desk.knowledge.snapshot import Knowledge

SITE = SiteFacts("Shop", "https://shop.example")
TURN = Turn("When do you open?", SITE)


class Caller:
    """An agent that calls tools, or does not now."""

    name = "caller"
    calls_tools = True
    events: tuple[Event, ...] = (Delta("At "), Delta("nine."), Answer("At nine.", model="large"))

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        for event in self.events:
            yield event


def make_journal(tmp_path: Path) -> tuple[AnswerJournal, Knowledge]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "hours.md").write_text("# Hours\n\nWe open at nine.\n")
    knowledge = Knowledge(site, tmp_path / "data", {})
    return AnswerJournal(knowledge, site), knowledge


async def test_an_agent_that_calls_tools_still_does(tmp_path: Path) -> None:
    journal, knowledge = make_journal(tmp_path)
    agent = Caller()
    watched = find_tool_caller(journal.watch(agent))
    assert watched is not None
    for calls in (True, False):
        agent.calls_tools = calls
        assert watched.calls_tools is calls
    assert find_tool_caller(journal.watch(ExtractiveAgent(knowledge))) is None


async def test_every_event_passes_and_the_answer_is_explained(tmp_path: Path) -> None:
    journal, _ = make_journal(tmp_path)
    agent = Caller()
    watched = journal.watch(agent)
    assert watched.name == "caller"
    assert [event async for event in watched.reply(TURN)] == list(agent.events)
    (answer,) = journal.answers
    assert (answer.question, answer.model) == (TURN.question, "large")
    assert answer.explanation.candidates[0].url == "/hours#hours"


async def test_a_request_of_the_callers_tools_is_no_answer(tmp_path: Path) -> None:
    journal, _ = make_journal(tmp_path)
    agent = Caller()
    agent.events = (ToolRequest(()),)
    assert [event async for event in journal.watch(agent).reply(TURN)] == [ToolRequest(())]
    assert journal.answers == ()
