"""Following an answer while it is being written."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Delta, Restart
from tests.support.clients.event_stream import Heard, following
from tests.support.clients.threads import talking
from tests.support.doubles.agent import PacedAgent


def texts(heard: list[Heard]) -> list[tuple[str, str | None]]:
    """Names and texts of what passes."""
    return [(event.name, event.data.get("text")) for event in heard if event.id is None]


async def test_an_answer_is_streamed_piece_by_piece_and_then_whole(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            posted = await talker.post(thread_id, "Hello?")
            agent.say(Delta("Good "))
            before = await listener.until_named("answer.delta")
            agent.say(Delta("morning"), Delta("."), Answer("Good morning."))
            after = await listener.until_named("run.completed")
    assert [event.name for event in before if event.id is not None] == [
        "following",
        "message.created",
        "run.queued",
        "run.in_progress",
    ]
    assert before[-1].data == {"run_id": posted.ok["run_id"], "text": "Good "}
    assert "".join(text or "" for _, text in texts(after)) == "morning."
    assert [event.name for event in after[-2:]] == ["message.created", "run.completed"]
    assert after[-2].data["content"] == ["Good morning."]


async def test_who_comes_in_the_middle_gets_the_text_so_far_and_then_the_rest(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as early:
            run_id = (await talker.post(thread_id, "Count!")).ok["run_id"]
            agent.say(Delta("One, "), Delta("two, "))
            heard = await early.until(lambda event: "two" in str(event.data))
            assert texts(heard)[0][0] == "answer.delta"
            async with following(talker, thread_id) as late:
                begin, snapshot = await late.next(), await late.next()
                assert (begin.name, begin.id) == ("following", 3)
                assert snapshot == Heard(
                    "answer.snapshot", {"run_id": run_id, "text": "One, two, "}
                )
                agent.say(Delta("three."), Answer("One, two, three."))
                rest = await late.until_named("run.completed")
                assert texts(rest) == [("answer.delta", "three.")]
                assert await early.until_named("run.completed") == rest


async def test_an_answer_whose_start_was_missed_is_streamed_from_a_snapshot_on(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        opened = await talker.open("Count!")
        await agent.asked.get()
        agent.say(Delta("One, "))
        async with following(talker, opened.id, "?after=0") as listener:
            heard = await listener.until_named("answer.snapshot")
            assert [event.id for event in heard] == [0, 1, 2, 3, None]
            agent.say(Delta("two."), Answer("One, two."))
            rest = await listener.until_named("run.completed")
    told = "".join(event.data["text"] for event in [heard[-1], *rest] if event.id is None)
    assert told == "One, two."


async def test_an_answer_that_begins_again_says_so(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            run_id = (await talker.post(thread_id, "Well?")).ok["run_id"]
            agent.say(Delta("No"))
            await listener.until_named("answer.delta")
            agent.say(Restart(), Delta("Yes"))
            heard = await listener.until_named("answer.delta")
            assert heard[0] == Heard("run.restarted", {"run_id": run_id})
            assert texts(heard)[-1] == ("answer.delta", "Yes")
            async with following(talker, thread_id) as late:
                assert texts(await late.until_named("answer.snapshot")) == [
                    ("answer.snapshot", "Yes")
                ]
            agent.say(Answer("Yes"))
            await listener.until_named("run.completed")


async def test_what_is_said_while_an_answer_is_written_takes_its_place_between(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            await talker.post(thread_id, "First?")
            agent.say(Delta("a"))
            await listener.until_named("answer.delta")
            await talker.post(thread_id, "Second?")
            assert [(await listener.next()).name for _ in range(2)] == [
                "message.created",
                "run.queued",
            ]
            agent.say(Delta("b"), Answer("ab"))
            heard = await listener.until_named("run.completed")
            assert texts(heard) == [("answer.delta", "b")]
            agent.say(Delta("c"), Answer("c"))
            heard = await listener.until_named("run.completed")
            assert [event.name for event in heard] == [
                "run.in_progress",
                "answer.delta",
                "message.created",
                "run.completed",
            ]


@pytest.mark.slow
async def test_an_answer_that_a_restart_cut_off_begins_again(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, "server.shutdown_seconds=1", agent=agent) as talker:
        opened = await talker.open("Well?")
        async with following(talker, opened.id, "?after=0") as listener:
            agent.say(Delta("Half an ans"))
            # the run is at work already: what it says may come before or after who follows
            await listener.until_named("answer.delta", "answer.snapshot")
            last = listener.last
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        reconnects = [("Last-Event-ID", str(last))]
        async with following(talker, opened.id, headers=reconnects) as listener:
            agent.say(Delta("All of it."), Answer("All of it."))
            heard = await listener.until_named("run.completed")
    told = ""
    for event in heard:
        if event.name in ("run.restarted", "answer.snapshot"):
            told = event.data.get("text", "")
            break
    assert heard[1].name in ("run.restarted", "answer.snapshot")
    told += "".join(event.data["text"] for event in heard if event.name == "answer.delta")
    assert told == "All of it."


async def test_an_answer_that_failed_in_the_middle_is_a_failed_run(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread_id = (await talker.open()).id
        async with following(talker, thread_id) as listener:
            await talker.post(thread_id, "Well?")
            agent.say(Delta("Half"), ZeroDivisionError("in the middle"))
            heard = await listener.until_named("run.failed")
            assert "in the middle" not in str(heard)
            async with following(talker, thread_id) as late:
                agent.say(Answer("Fine."))
                await talker.post(thread_id, "Again?")
                after = await late.until_named("run.completed")
    assert after[1].name == "message.created"
    assert texts(after) == []
