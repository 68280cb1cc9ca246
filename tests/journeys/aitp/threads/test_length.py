"""Threads that grow long: what the agent gets of them, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn, Utterance
from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.history.window import FRAME
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import Script, ScriptedAgent
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Reply, said_in, say

SECONDS = 30
WINDOW, SUMMARY = 500, 100
BOUNDS = (
    f"threads.window_tokens={WINDOW}",
    f"threads.summary_tokens={SUMMARY}",
    "threads.max_auto_replies=1000",
)
MANUAL = [("OpenAI-Beta", "assistants=v2")]
FACT = "My order is A-17, and it came broken."
SCHEMA = "https://aitp.dev/capabilities/aitp-02-data-request/v1.0.0/schema.json"


async def answer(turn: Turn) -> Outcome:
    return Answer(f"I have read {len(turn.question)} letters. {'So it is. ' * 12}")


class Rememberer(ScriptedAgent):
    """A scripted agent that summarises too.

    Attributes:
        made: what it returned, each told when it was made.
        taken: all that it was given, in order.
        previous: the summaries that it was given.
        covered: how many of all texts it had been given, by each summary.
        holds: not set: a summary waits.
    """

    name = "rememberer"

    def __init__(self, script: Script = answer) -> None:
        super().__init__(script)
        self.made: asyncio.Queue[str] = asyncio.Queue()
        self.begun = asyncio.Event()
        self.holds = asyncio.Event()
        self.holds.set()
        self.taken: list[str] = []
        self.previous: list[str] = []
        self.covered: list[int] = []
        self.fails = False

    async def summarise(
        self, previous: str, utterances: Sequence[Utterance], max_tokens: int
    ) -> str:
        assert max_tokens == SUMMARY
        self.begun.set()
        await self.holds.wait()
        self.previous.append(previous)
        self.taken += [said.text for said in utterances]
        self.covered.append(len(self.taken))
        text = f"Summary {len(self.previous)}."
        self.made.put_nowait(text)  # the desk goes on before a waiter for this
        if self.fails:
            raise RuntimeError("no words")
        return text


async def summary_of(talker: Talker, agent: Rememberer) -> str:
    """What the agent makes next, once the desk has kept it."""
    async with asyncio.timeout(SECONDS):
        text = await agent.made.get()
    await talker.desk.store.settled()
    return text


async def talk(talker: Talker, thread_id: str, turns: int, first: int = 0) -> None:
    """Ask so many questions, and wait for each answer."""
    for n in range(first, first + turns):
        asked = f"Question {n}? {'Tell me more. ' * 8}"
        told = await talker.post(thread_id, asked, wait=SECONDS)
        assert told.ok["replies"]


def tokens(texts: Sequence[str]) -> int:
    return sum(estimate_tokens(text) + FRAME for text in texts)


def told_of(turn: Turn) -> list[str]:
    return [*(said.text for said in turn.transcript), turn.question]


def check_bounds(agent: ScriptedAgent) -> None:
    for turn in agent.turns:
        assert tokens(told_of(turn)) <= WINDOW
        assert estimate_tokens(turn.summary) <= SUMMARY


async def test_each_message_is_included_or_summarised_once_and_in_order(tmp_path: Path) -> None:
    agent = Rememberer()
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 20)
        said = await talker.texts(thread)
        count = len(agent.previous)
    check_bounds(agent)
    covered = {"": 0} | {f"Summary {n}.": taken for n, taken in enumerate(agent.covered, start=1)}
    checked = set()
    for place, turn in enumerate(agent.turns):
        if turn.summary in covered:  # else sentences stand in for a summary that is being made
            taken = agent.taken[: covered[turn.summary]]
            assert [*taken, *told_of(turn)] == said[: 2 * place + 1]
            checked.add(turn.summary)
    assert len(checked) >= 3
    assert agent.previous == ["", *(f"Summary {n}." for n in range(1, count))]
    # not with every turn: the half of a window is told whole before the next is made
    assert 2 <= count <= 10


async def test_until_there_is_a_summary_old_messages_are_told_in_a_sentence_each(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent(answer)
    async with talking(tmp_path, *BOUNDS, "threads.summary_tokens=400", agent=agent) as talker:
        many = [FACT, *(f"Note {n}. {'And so on. ' * 20}" for n in range(15))]
        thread = (await talker.open(*many, headers=MANUAL)).id
        await talker.post(thread, "Well?", wait=SECONDS)
        [turn] = agent.turns
    assert turn.question.endswith("Well?")
    assert turn.summary.startswith(f"Visitor: {FACT}\nVisitor: Note 0.\nVisitor: Note 1.")


async def test_a_summary_that_takes_long_delays_no_reply(tmp_path: Path) -> None:
    agent = Rememberer()
    agent.holds.clear()
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 8)
        async with asyncio.timeout(SECONDS):
            await agent.begun.wait()
        await talk(talker, thread, 4, first=8)
        assert not agent.previous
        assert "Question 5?" in agent.turns[-1].summary
        agent.holds.set()
        assert await summary_of(talker, agent) == "Summary 1."
    check_bounds(agent)


async def test_a_summary_is_there_again_after_a_restart(tmp_path: Path) -> None:
    agent = Rememberer()
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 6)
        await summary_of(talker, agent)
        [(_, upto, text, made_by)] = talker.rows("SELECT * FROM summaries")
    assert (text, made_by) == ("Summary 1.", "rememberer")
    again = ScriptedAgent(answer)
    async with talking(tmp_path, *BOUNDS, agent=again) as talker:
        await talk(talker, thread, 1)
        *said, _reply = await talker.texts(thread)
    [turn] = again.turns
    assert turn.summary == "Summary 1."
    assert told_of(turn) == said[upto:]


async def test_where_the_summariser_fails_sentences_are_kept(tmp_path: Path) -> None:
    agent = Rememberer()
    agent.fails = True
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 6)
        await summary_of(talker, agent)
        [(text, made_by)] = talker.rows("SELECT text, made_by FROM summaries")
        await talk(talker, thread, 1, first=6)
    assert made_by == "extractive"
    assert text.startswith(f"Visitor: {FACT}\nDesk: I have read {len(FACT)} letters.")
    assert agent.turns[-1].summary.startswith(text.partition("\n")[0])
    check_bounds(agent)


async def test_deleted_words_live_on_in_no_summary(tmp_path: Path) -> None:
    agent = Rememberer()
    agent.fails = True  # so that the summary has the words themselves
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        opened = await talker.open(FACT, wait=SECONDS)
        await talk(talker, opened.id, 6)
        await summary_of(talker, agent)
        forked = (await talker.open("?", metadata={"parent_id": opened.id}, wait=SECONDS)).id
        assert "A-17" in agent.turns[-1].summary
        secret = (await talker.messages(opened.id, "?order=asc&limit=1")).ok["first_id"]
        newest = (await talker.messages(opened.id, "?limit=1")).ok["first_id"]
        await talker.send("DELETE", f"{THREADS}/{opened.id}/messages/{newest}")
        assert len(talker.rows("SELECT * FROM summaries")) == 1
        await talker.send("DELETE", f"{THREADS}/{opened.id}/messages/{secret}")
        assert talker.rows("SELECT * FROM summaries") == []
        for thread in (opened.id, forked):
            await talk(talker, thread, 1, first=6)
            assert "A-17" not in agent.turns[-1].summary
            assert f"I have read {len(FACT)} letters." in agent.turns[-1].summary


async def test_a_summary_of_words_that_are_deleted_meanwhile_is_not_kept(tmp_path: Path) -> None:
    agent = Rememberer()
    agent.holds.clear()
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 6)
        async with asyncio.timeout(SECONDS):
            await agent.begun.wait()
        first = (await talker.messages(thread, "?order=asc&limit=1")).ok["first_id"]
        await talker.send("DELETE", f"{THREADS}/{thread}/messages/{first}")
        agent.holds.set()
        await summary_of(talker, agent)
        assert FACT in agent.taken
        assert talker.rows("SELECT * FROM summaries") == []
        agent.taken.clear()
        await talk(talker, thread, 1, first=6)
        await summary_of(talker, agent)
        assert agent.taken
        assert FACT not in agent.taken
        assert len(talker.rows("SELECT * FROM summaries")) == 1


async def test_a_fork_goes_on_from_its_parents_summary_but_not_from_a_later_one(
    tmp_path: Path,
) -> None:
    agent = Rememberer()
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        early = (await talker.open(metadata={"parent_id": thread})).id
        await talk(talker, thread, 6)
        await summary_of(talker, agent)
        late = (await talker.open(metadata={"parent_id": thread})).id
        await talker.post(early, "Early?", wait=SECONDS)
        assert agent.turns[-1].summary == ""
        assert told_of(agent.turns[-1])[0] == FACT
        await talker.post(late, "Late?", wait=SECONDS)
        assert agent.turns[-1].summary == "Summary 1."
        assert FACT not in told_of(agent.turns[-1])


async def test_a_caller_who_asks_for_the_last_messages_gets_these_and_no_summary(
    tmp_path: Path,
) -> None:
    asked_again = asyncio.Event()

    async def answer_again(turn: Turn) -> Outcome:
        if turn.question == "Well?":
            asked_again.set()
        return await answer(turn)

    agent = Rememberer(answer_again)
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open(FACT, wait=SECONDS)).id
        await talk(talker, thread, 6)
        await summary_of(talker, agent)
        await talker.post(thread, "Well?", headers=MANUAL)
        shorter = {"type": "last_messages", "last_messages": 3}
        body = {"assistant_id": "desk", "truncation_strategy": shorter}
        await talker.send("POST", f"{THREADS}/{thread}/runs", body)
        async with asyncio.timeout(SECONDS):
            await asked_again.wait()
        said = await talker.texts(thread)
    turn = agent.turns[-1]
    asked = said.index("Well?")
    assert told_of(turn) == said[asked - 2 : asked + 1]
    assert turn.summary == ""


async def test_a_file_is_given_also_when_its_message_is_summarised(tmp_path: Path) -> None:
    agent = Rememberer()
    async with talking(tmp_path, *BOUNDS, agent=agent) as visitor:
        talker = await visitor.with_key()
        file = await talker.upload("order.txt", b"One lamp.")
        thread = (await talker.open()).id
        attached = [{"file_id": file.id, "tools": []}]
        await talker.post(thread, FACT, attachments=attached, wait=SECONDS)
        await talk(talker, thread, 6)
        await summary_of(talker, agent)
        await talk(talker, thread, 1, first=6)
    turn = agent.turns[-1]
    assert FACT in agent.taken
    assert FACT not in told_of(turn)
    assert [(given.name, given.text) for given in turn.files] == [("order.txt", "One lamp.")]


@pytest.mark.requirement("AITP-capabilities-8")
async def test_a_structured_message_is_rendered_whole_or_named(tmp_path: Path) -> None:
    agent = ScriptedAgent(answer)
    fits = json.dumps({"$schema": SCHEMA, "note": ("a note " * 900)[:900]})
    large = json.dumps({"$schema": SCHEMA, "note": ("a note " * 9000)[:9000]})
    async with talking(tmp_path, *BOUNDS, agent=agent) as talker:
        thread = (await talker.open({"role": "user", "content": [fits]}, wait=SECONDS)).id
        await talker.post(thread, ["Please:", large], wait=SECONDS)
    assert [turn.question for turn in agent.turns] == [
        fits,
        f"[A structured message of {len(large) + 7} bytes, too long to be shown here: {SCHEMA}]",
    ]
    assert agent.turns[1].transcript[0].text == fits


def is_summary(body: dict[str, Any]) -> bool:
    return isinstance(body["system"], str) and body["system"].startswith("Summarise")


def claude(body: dict[str, Any]) -> Reply:
    """Answer at length; of a conversation keep nothing but the order."""
    if is_summary(body):
        knows = "A-17" in json.dumps(body["messages"])
        return say("The order A-17 came broken." if knows else "Of nothing much.")
    return say(f"Certainly. {'We do our best. ' * 10}")


@pytest.mark.slow
async def test_claude_gets_a_thread_of_200_messages_within_the_ceilings(tmp_path: Path) -> None:
    async with meeting(tmp_path, claude, *BOUNDS) as met:
        talker = met.talker
        many = [FACT, *(f"Note {n}. {'And so on. ' * 10}" for n in range(99))]
        thread = (await talker.open(*many, headers=MANUAL)).id
        await talk(talker, thread, 50)
        requests = list(met.api.requests)
        [(text, made_by)] = talker.rows("SELECT text, made_by FROM summaries")
    summaries = [body for body in requests if is_summary(body)]
    assert len(requests) - len(summaries) == 50
    for body in requests:
        told = [
            said if isinstance(said, str) else json.dumps(said) for _, said in said_in_any(body)
        ]
        assert tokens(told) <= WINDOW + SUMMARY + len(told) * FRAME
    assert text == "The order A-17 came broken."
    assert made_by == "claude-haiku-5-5, else extractive"
    speaker, first = said_in(requests[-1])[0]
    assert speaker == "user"
    assert isinstance(first, dict)
    assert first["summary"].startswith("The order A-17 came broken.")
    assert len(summaries) < 50


def words_of(said: dict[str, str] | str) -> list[str]:
    return [said] if isinstance(said, str) else list(said.values())


def said_in_any(body: dict[str, Any]) -> list[tuple[str, Any]]:
    """What was said in a request, also in one for a summary, where each line is a message."""
    if not is_summary(body):
        return said_in(body)
    [message] = body["messages"]
    return [("user", json.loads(line)) for line in message["content"][0]["text"].split("\n")]
