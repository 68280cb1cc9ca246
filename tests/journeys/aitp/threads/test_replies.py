"""How the desk answers on a thread: waiting for it, one run at a time, and where it stops."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Source, Turn
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import Unavailable
from tests.support.clients.threads import Talker, Told, talking
from tests.support.doubles.agent import Clock, ScriptedAgent

MANUAL = [("OpenAI-Beta", "assistants=v2")]
SECONDS = 30
"""How long a test waits for what must come."""


class Gate:
    """A script that answers only when it is let."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[Turn] = asyncio.Queue()
        self._passes = asyncio.Semaphore(0)

    async def __call__(self, turn: Turn) -> Outcome:
        self.asked.put_nowait(turn)
        await self._passes.acquire()
        return Answer(f"You asked: {turn.question}")

    def let_pass(self) -> None:
        """Let one turn be answered."""
        self._passes.release()

    async def next_turn(self) -> Turn:
        """What the agent is asked next."""
        async with asyncio.timeout(SECONDS):
            return await self.asked.get()


async def ended(talker: Talker, run_id: str) -> None:
    """Return when a run is over, also where others wait for it."""
    run, _ = await talker.desk.desk.reader.wait_for_run(
        make_anonymous("127.0.0.1"), run_id, SECONDS
    )
    assert run is not None
    assert run.is_over


async def test_who_prefers_to_wait_gets_the_run_and_its_replies(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        opened = await talker.open("One?", wait=SECONDS)
        assert opened.headers["Preference-Applied"] == "wait"
        run, (reply,) = opened.ok["run"], opened.ok["replies"]
        assert run["object"] == "thread.run"
        assert (run["status"], run["last_error"]) == ("completed", None)
        assert run["thread_id"] == opened.id
        assert opened.ok["messages"][0]["run_id"] == run["id"] == reply["run_id"]
        assert reply["content"][0] == "0 said before; asked: One?"
        assert opened.ok["messages"] == (await talker.read(opened.id)).ok["messages"]

        posted = await talker.post(opened.id, "Two?", wait=SECONDS)
        assert posted.ok["content"] == ["Two?"]
        assert posted.ok["run"]["id"] == posted.ok["run_id"]
        assert posted.ok["replies"][0]["content"][0] == "2 said before; asked: Two?"


async def test_who_does_not_wait_finds_the_reply_in_the_list_later(tmp_path: Path) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        opened = await talker.open("One?")
        assert opened.ok.keys() & {"run", "replies"} == set()
        assert "Preference-Applied" not in opened.headers
        await gate.next_turn()
        assert await talker.texts(opened.id) == ["One?"]
        gate.let_pass()
        await ended(talker, opened.ok["messages"][0]["run_id"])
        assert await talker.texts(opened.id) == ["One?", "You asked: One?"]


async def test_waiting_ends_at_the_time_asked_for_with_the_run_in_progress(
    tmp_path: Path,
) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        opened = await talker.open("One?", wait=0)
        assert opened.ok["run"]["status"] in {"queued", "in_progress"}
        assert opened.ok["replies"] == []
        await gate.next_turn()
        late = await talker.post(opened.id, "Still there?", wait=0, role="assistant")
        assert (late.ok["run"], late.ok["replies"]) == (None, [])
        gate.let_pass()
        await ended(talker, opened.ok["run"]["id"])


@pytest.mark.slow
async def test_a_long_wait_is_clamped_to_the_setting(tmp_path: Path) -> None:
    gate = Gate()
    agent = ScriptedAgent(gate)
    async with talking(tmp_path, "threads.max_wait=1", agent=agent) as talker:
        async with asyncio.timeout(SECONDS):
            opened = await talker.open("One?", wait=999_999)
        assert opened.ok["run"]["status"] == "in_progress"
        gate.let_pass()
        await ended(talker, opened.ok["run"]["id"])


async def test_a_preference_that_is_not_understood_is_left_aside(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, bool]] = [
        ("wait=9", True),
        ("respond-async, WAIT = 9", True),
        ('wait="9"; foo', True),
        ("wait", False),
        ("wait=soon", False),
        ("nowait=9", False),
        ("return=minimal", False),
    ]
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        for preference, waits in cases:
            with subtests.test(preference=preference, waits=waits):
                opened = await talker.open("One?", headers=[("Prefer", preference)])
                assert ("replies" in opened.ok) is waits


async def test_preferences_may_stand_on_several_lines(tmp_path: Path) -> None:
    lines = [("Prefer", "respond-async"), ("Prefer", "return=minimal"), ("Prefer", "wait=9")]
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        opened = await talker.open("One?", headers=lines)
        assert "replies" in opened.ok
        path, body = f"/v1/threads/{opened.id}/runs", {"assistant_id": "desk"}
        started = await talker.send("POST", path, body, headers=lines)
        assert started.headers["Preference-Applied"] == "wait"


async def test_sources_are_a_part_of_their_own_with_absolute_addresses(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> Outcome:
        found = (Source("Returns", "/returns#window", "direct"), Source("FAQ", "/faq", "indirect"))
        return Answer("Fourteen days.", found)

    async with talking(tmp_path, agent=ScriptedAgent(answer)) as talker:
        (reply,) = (await talker.open("How long?", wait=SECONDS)).ok["replies"]
        url = talker.desk.url
        assert reply["content"] == [
            "Fourteen days.",
            f"Sources:\n- Returns: {url}/returns#window\n- FAQ: {url}/faq",
        ]


async def test_what_the_desk_asks_back_is_known_to_the_next_turn(tmp_path: Path) -> None:
    async def ask_back(turn: Turn) -> Outcome:
        if turn.pending is None:
            return Clarification("Which ones?", ("New books", "Old books"))
        return Answer(f"{turn.pending.about} {turn.question}")

    async with talking(tmp_path, agent=ScriptedAgent(ask_back)) as talker:
        opened = await talker.open("May I return books?", wait=SECONDS)
        (question,) = opened.ok["replies"]
        assert question["content"] == ["Which ones?\n1. New books\n2. Old books"]
        posted = await talker.post(opened.id, "New books", wait=SECONDS)
        assert posted.ok["replies"][0]["content"] == ["May I return books? New books"]


async def test_a_request_of_the_openai_api_starts_no_run(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        opened = await talker.open("One?", wait=SECONDS, headers=MANUAL)
        posted = await talker.post(opened.id, "Two?", wait=SECONDS, headers=MANUAL)
        assert posted.ok["run_id"] is None
        for told in (opened, posted):
            assert told.ok.keys().isdisjoint({"run", "replies"})
            assert "Preference-Applied" not in told.headers
        assert agent.turns == []
        assert talker.rows("SELECT id FROM runs") == []
        # each request's header decides alone
        posted = await talker.post(opened.id, "Three?", wait=SECONDS)
        assert posted.ok["replies"][0]["content"][0].endswith("asked: One?\nTwo?\nThree?")


async def test_one_run_at_a_time_and_one_that_follows_and_sees_all_that_was_said(
    tmp_path: Path,
) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        opened = await talker.open("One?")
        thread = opened.id
        assert (await gate.next_turn()).question == "One?"
        runs = [(await talker.post(thread, said)).ok["run_id"] for said in ("Two?", "Three?")]
        first = opened.ok["messages"][0]["run_id"]
        assert runs[0] == runs[1] != first
        assert gate.asked.empty()
        gate.let_pass()
        assert (await gate.next_turn()).question == "Two?\nThree?"
        waiting = asyncio.create_task(talker.post(thread, "Four?", wait=SECONDS))
        gate.let_pass()
        assert (await gate.next_turn()).question == "Four?"
        gate.let_pass()
        posted = await waiting
        assert posted.ok["run_id"] not in (first, runs[0])
        assert posted.ok["replies"][0]["content"] == ["You asked: Four?"]
        assert gate.asked.empty()
        assert talker.rows("SELECT state, count(*) FROM runs GROUP BY 1") == [("completed", 3)]


async def test_a_run_that_follows_answers_once_though_the_first_answered_after_it_was_asked(
    tmp_path: Path,
) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        opened = await talker.open("One?")
        await gate.next_turn()
        posted = await talker.post(opened.id, "Two?")
        gate.let_pass()
        turn = await gate.next_turn()
        gate.let_pass()
        await ended(talker, posted.ok["run_id"])
        assert turn.question == "Two?"
        assert await talker.texts(opened.id) == [
            "One?",
            "Two?",
            "You asked: One?",
            "You asked: Two?",
        ]


async def test_threads_are_answered_side_by_side(tmp_path: Path) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        waiting = [
            asyncio.create_task(talker.open(f"Question {n}?", wait=SECONDS)) for n in range(8)
        ]
        asked = {(await gate.next_turn()).question for _ in waiting}
        assert asked == {f"Question {n}?" for n in range(8)}
        for _ in waiting:
            gate.let_pass()
        for n, told in enumerate(await asyncio.gather(*waiting)):
            assert told.ok["replies"][0]["content"] == [f"You asked: Question {n}?"]


async def test_at_the_cap_the_desk_says_so_once_and_answers_no_more_for_an_hour(
    tmp_path: Path,
) -> None:
    agent, clock = ScriptedAgent(), Clock()
    async with talking(tmp_path, "threads.max_auto_replies=2", agent=agent, clock=clock) as talker:

        async def post(content: str) -> Told:
            return await talker.post(thread, content, wait=SECONDS)

        thread = (await talker.open("One?", wait=SECONDS)).id
        assert (await post("Two?")).ok["run"]["status"] == "completed"
        capped = await post("Three?")
        assert capped.ok["run"]["status"] == "capped"
        (plain,) = capped.ok["replies"]
        assert "automatic replies" in plain["content"][0]
        assert (plain["role"], plain["metadata"]["actor"]) == ("assistant", talker.desk.url)
        assert (await post("Four?")).ok["run"] == capped.ok["run"]
        said = await talker.texts(thread)
        assert said[-3:] == ["Three?", plain["content"][0], "Four?"]
        assert len(agent.turns) == 2
        other = await talker.open("On another thread?", wait=SECONDS)
        assert other.ok["run"]["status"] == "completed"

        clock.advance(3601)
        again = await post("Five?")
        assert again.ok["run"]["status"] == "completed"
        assert agent.turns[-1].question == "Three?\nFour?\nFive?"


async def test_a_message_that_passed_too_many_desks_is_refused(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        for hops in ("0", "1", "4"):
            opened = await talker.open("One?", wait=SECONDS, headers=[("Desk-Hops", hops)])
            assert opened.ok["run"]["status"] == "completed"
        thread = (await talker.open()).id
        before = talker.counts()
        for hops in ("5", "999", "1000", "-1", "two", "", "٣"):
            headers = [("Desk-Hops", hops)]
            for refused in (
                await talker.open("One?", headers=headers),
                await talker.post(thread, "One?", headers=headers),
            ):
                assert refused.refusal == (400, "invalid_request", "Desk-Hops")
        assert talker.counts() == before


async def test_a_caller_who_goes_away_does_not_end_the_run(tmp_path: Path) -> None:
    gate = Gate()
    async with talking(tmp_path, agent=ScriptedAgent(gate)) as talker:
        thread = (await talker.open()).id
        async with aiohttp.ClientSession(talker.desk.url) as impatient:
            leaving = asyncio.create_task(
                Talker(talker.desk, tmp_path, impatient).post(thread, "One?", wait=SECONDS)
            )
            await gate.next_turn()
            leaving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaving
        ((run_id,),) = talker.rows("SELECT id FROM runs")
        gate.let_pass()
        await ended(talker, run_id)
        assert await talker.texts(thread) == ["One?", "You asked: One?"]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Unavailable("The model is resting. Ask again later."), "The model is resting."),
        (RuntimeError("secret detail"), "an internal error"),
    ],
)
async def test_a_run_that_fails_says_why_and_the_next_message_is_answered(
    tmp_path: Path, error: Exception, says: str
) -> None:
    failures = [error]

    async def fail_once(turn: Turn) -> Outcome:
        if failures:
            raise failures.pop()
        return Answer(f"You asked: {turn.question}")

    async with talking(tmp_path, agent=ScriptedAgent(fail_once)) as talker:
        opened = await talker.open("One?", wait=SECONDS)
        run = opened.ok["run"]
        assert (run["status"], run["last_error"]["code"]) == ("failed", "server_error")
        assert says in run["last_error"]["message"]
        assert "secret detail" not in str(opened.body)
        assert opened.ok["replies"] == []
        posted = await talker.post(opened.id, "Two?", wait=SECONDS)
        assert posted.ok["replies"][0]["content"] == ["You asked: One?\nTwo?"]


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        (["not the second", "the second"], ["240 EUR"]),
        (["yes", "2"], ["40 EUR"]),
        (["the cheaper one", "3"], ["240 EUR"]),
        (["both"], ["160 EUR", "40 EUR", "240 EUR"]),
    ],
)
async def test_a_choice_is_asked_for_and_heard_on_a_thread_too(
    tmp_path: Path, ambiguous_site: Path, replies: list[str], told: list[str]
) -> None:
    (ambiguous_site / "rubber-boots.md").write_text(
        "# Rubber boots\n\n## Price\n\nRubber boots cost 40 EUR a pair.\n"
    )
    async with talking(tmp_path, site=ambiguous_site) as talker:
        opened = await talker.open("How much do the boots cost?", wait=SECONDS)
        (asked,) = opened.ok["replies"]
        assert asked["content"][0].endswith("1. Hiking boots\n2. Rubber boots\n3. Ski boots")
        *_, last = [await talker.post(opened.id, reply, wait=SECONDS) for reply in replies]
        (answer,) = last.ok["replies"]
        assert all(price in answer["content"][0] for price in told)
        assert answer["content"][0].count("EUR") == len(told)
