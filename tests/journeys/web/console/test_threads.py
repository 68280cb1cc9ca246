"""What operators see of conversations over the API of their pages, and how they step in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Delta
from aitp_desk.store.units.keys.tokens import revoke_token
from tests.support.access.keys import make_key
from tests.support.clients.ahp import Visitor
from tests.support.clients.event_stream import BEAT, Heard, following
from tests.support.clients.operator import Operator, browsing, new_name, operating, write_site
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import PacedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANUAL = [("OpenAI-Beta", "assistants=v2")]
"""Sent with what is to be kept without being answered."""


class Ground(msgspec.Struct, frozen=True):
    """A desk, and two operators."""

    talker: Talker
    data: Path
    anna: Operator
    ben: Operator


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    """One desk for all tests that need no settings of their own."""
    folder = tmp_path_factory.mktemp("threads")
    with (
        patch("aitp_desk.auth.credentials.proof_cache.EPOCH_SECONDS", 0),
        patch("aitp_desk.desk.events.broadcaster.REVIEW_SECONDS", 0.05),
        patch("aitp_desk.web.console.live.LOOK_SECONDS", 0.05),
    ):
        async with (
            talking(folder, site=write_site(folder)) as talker,
            operating(talker.desk, folder / "data", "anna") as anna,
            operating(talker.desk, folder / "data", "ben") as ben,
        ):
            yield Ground(talker, folder / "data", anna, ben)


def told(heard: list[Heard]) -> list[tuple[str, Any]]:
    """Names and data of what was told, but for what a page does with it: fetching again."""
    return [(event.name, event.data) for event in heard if event.name not in {"tickets", BEAT}]


async def test_a_conversation_is_listed_and_shown_as_the_visitor_has_it(ground: Ground) -> None:
    mark = new_name()
    opened = (await ground.talker.open(f"Do you sell {mark}?", wait=10)).ok
    (line,) = (await ground.anna.get(f"threads?q={mark}"))["data"]
    assert line.keys() == {
        *("id", "agent", "created_at", "updated_at", "messages", "operator", "tickets", "owner"),
        *("last", "owner_name"),
    }
    assert (line["id"], line["agent"], line["messages"]) == (opened["id"], None, 2)
    assert (line["operator"], line["owner"], line["tickets"]) == (None, None, [])
    assert line["owner_name"] is None
    assert line["last"].keys() == {"role", "actor", "origin", "text", "created_at"}
    assert line["last"]["origin"] == "desk"
    shown = await ground.anna.get(f"threads/{opened['id']}")
    assert shown | line == shown
    assert shown.keys() - line.keys() == {"actors", "carried", "notes", "events"}
    assert shown["carried"] == []
    assert shown["actors"][0] == {"id": ground.talker.desk.url, "origin": "desk"}
    assert shown["events"] == 5
    page = await ground.anna.get(f"threads/{opened['id']}/messages")
    asked, reply = page["data"]
    assert page["before"] is None
    assert asked.keys() == {
        *("id", "seq", "role", "actor", "origin", "speaker", "operator", "text", "attachments"),
        *("deleted", "created_at", "metadata", "parts"),
    }
    assert asked["parts"] == []
    assert (asked["text"], asked["speaker"]) == (f"Do you sell {mark}?", "visitor")
    assert (reply["speaker"], reply["operator"]) == ("agent", None)
    newest = await ground.anna.get(f"threads/{opened['id']}/messages?limit=1")
    assert newest == {"data": [reply], "before": reply["id"]}
    older = await ground.anna.get(f"threads/{opened['id']}/messages?before={reply['id']}")
    assert older == {"data": [asked], "before": None}


async def test_the_holders_of_keys_are_named(ground: Ground) -> None:
    mark, name = new_name(), f"Stock {new_name()}"
    key = await make_key(ground.talker.desk.store, ground.data, "threads", name=name)
    headers = [("Authorization", f"Bearer {key}")]
    body = {"messages": [f"Is {mark} in stock?"]}
    thread = (await ground.talker.send("POST", THREADS, body, headers=headers)).ok["id"]
    reads: list[str] = []
    read = ground.talker.desk.store.read

    async def note(name: str, parameters: Any) -> Any:
        reads.append(name)
        return await read(name, parameters)

    with patch.object(type(ground.talker.desk.store), "read", lambda _, *given: note(*given)):
        (line,) = (await ground.anna.get(f"threads?q={mark}"))["data"]
    assert (line["owner"].partition(":")[0], line["owner_name"]) == ("key", name)
    assert reads.count("names_of_callers") == 1
    assert (await ground.anna.get(f"threads/{thread}"))["owner_name"] == name


async def test_an_operator_takes_over_speaks_and_hands_back(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", wait=10)).ok["id"]
    path = f"threads/{thread}"
    refused = await ground.anna.send("POST", f"{path}/say", {"words": "Hello!"})
    assert refused.refusal[:2] == (409, "precondition_failed")
    async with (
        following(ground.talker, thread) as visitor,
        ground.ben.follow(f"{path}/events") as ben,
    ):
        assert (await ground.anna.post(f"{path}/take"))["operator"] == "anna"
        for act, body in (("take", {}), ("say", {"words": "I!"}), ("resolve", {"words": ""})):
            refused = await ground.ben.send("POST", f"{path}/{act}", body)
            assert refused.refusal[:2] == (409, "precondition_failed"), act
        await ground.talker.post(thread, "Is anybody there?")
        said = await ground.anna.post(f"{path}/say", words=" Good morning. ")
        assert said["last"]["text"] == "Good morning."
        assert (await ground.anna.post(f"{path}/release"))["operator"] is None
        await visitor.until_named("thread.handed_back")
        heard = told(await ben.until(lambda event: event.data == {"operator": None}))
    assert (await ground.talker.texts(thread))[-2:] == ["Is anybody there?", "Good morning."]
    assert heard[0] == ("actor", {"id": f"{ground.talker.desk.url}/operators/anna", "joined": True})
    assert heard[1] == ("hand_over", {"operator": "anna"})
    assert [name for name, _ in heard[2:4]] == ["message", "message"]
    asked, answered = heard[2][1], heard[3][1]
    assert (asked["speaker"], asked["operator"]) == ("visitor", None)
    assert (answered["speaker"], answered["operator"]) == ("operator", "anna")
    listed = (await ground.anna.get(f"{path}/messages"))["data"]
    assert listed[-2:] == [asked, answered]
    reply = (await ground.talker.post(thread, "And now?", wait=10)).ok["replies"]
    assert len(reply) == 1
    log = ground.talker.rows("SELECT proven_by, action FROM audit ORDER BY n DESC LIMIT 3")
    assert {proven_by for proven_by, _ in log} == {"console"}


async def test_a_conversation_that_is_resolved_is_the_agents_again(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", wait=10)).ok["id"]
    await ground.anna.post(f"threads/{thread}/take")
    shown = await ground.anna.post(f"threads/{thread}/resolve", words="Good bye.")
    assert (shown["operator"], shown["last"]["text"]) == (None, "Good bye.")
    await ground.anna.post(f"threads/{thread}/take")
    assert (await ground.anna.post(f"threads/{thread}/resolve"))["operator"] is None
    assert (await ground.talker.texts(thread))[-1] == "Good bye."


async def test_operators_see_each_others_notes_and_no_visitor_does(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", wait=10)).ok["id"]
    mark = new_name()
    async with (
        following(ground.talker, thread) as visitor,
        ground.ben.follow(f"threads/{thread}/events") as ben,
    ):
        note = await ground.anna.post(f"threads/{thread}/notes", words=f"A {mark}.")
        assert note.keys() == {"id", "operator", "words", "created_at"}
        assert (note["operator"], note["words"]) == ("anna", f"A {mark}.")
        assert (await ben.until_named("note"))[-1].data == note
        assert (await ground.ben.get(f"threads/{thread}"))["notes"] == [note]
        await ground.talker.post(thread, "Still there?", headers=MANUAL)
        heard = await visitor.until_named("message.created")
    assert mark not in str(heard)
    assert mark not in str((await ground.talker.read(thread)).ok)
    assert mark not in str((await ground.talker.messages(thread)).ok)


async def test_a_returning_follower_gets_what_it_missed_and_nothing_twice(ground: Ground) -> None:
    thread = (await ground.talker.open("one", headers=MANUAL)).ok["id"]
    path = f"threads/{thread}/events"
    async with ground.anna.follow(f"{path}?after=0") as listener:
        (begin,) = await listener.until_named("tickets")
        assert (begin.id, begin.data) == (0, {})
        await listener.until_number(1)
        assert listener.headers["X-Accel-Buffering"] == "no"
        assert listener.headers["Cache-Control"] == "no-store"
    for text in ("two", "three"):
        await ground.talker.post(thread, text, headers=MANUAL)
    back = [("Last-Event-ID", str(listener.last))]
    async with ground.anna.follow(f"{path}?after=0", headers=back) as listener:
        heard = await listener.until_number(3)
    assert [data["text"] for _, data in told(heard)] == ["two", "three"]
    assert [event.id for event in heard if event.name == "message"] == [2, 3]
    for query in ("after=99", "after=x"):
        shown = await ground.anna.send("GET", f"{path}?{query}")
        assert shown.refusal == (400, "invalid_request", "after")


async def test_an_answer_is_streamed_while_it_is_written(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with (
        talking(tmp_path, agent=agent) as talker,
        operating(talker.desk, tmp_path / "data") as operator,
    ):
        thread = (await talker.open()).id
        async with operator.follow(f"threads/{thread}/events") as listener:
            await talker.post(thread, "Hello?")
            await listener.until(lambda event: event.data == {"state": "in_progress"})
            agent.say(Delta("Good "))
            assert (await listener.until_named("delta"))[-1].data == {"text": "Good "}
            async with operator.follow(f"threads/{thread}/events") as late:
                assert (await late.until_named("snapshot"))[-1].data == {"text": "Good "}
            agent.say(Delta("day."), Answer("Good day."))
            heard = told(await listener.until(lambda event: event.data == {"state": "completed"}))
        assert [name for name, _ in heard] == ["delta", "message", "run"]
        assert heard[1][1]["text"] == "Good day."


async def test_the_agent_falls_silent_when_an_operator_takes_over(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with (
        talking(tmp_path, agent=agent) as talker,
        operating(talker.desk, tmp_path / "data") as operator,
    ):
        thread = (await talker.open()).id
        async with following(talker, thread) as visitor:
            waiting = asyncio.create_task(talker.post(thread, "Hello?", wait=10))
            await visitor.until_named("run.in_progress")
            agent.say(Delta("I "))
            await visitor.until_named("answer.delta")
            await operator.post(f"threads/{thread}/take")
            posted = (await waiting).ok
            assert (posted["run"]["status"], posted["replies"]) == ("failed", [])
            agent.say(Delta("talk "), Answer("I talk over you."))
            await operator.post(f"threads/{thread}/say", words="I have it.")
            heard = await visitor.until_named("message.created")
            assert "answer.delta" not in {event.name for event in heard}
            await operator.post(f"threads/{thread}/release")
        assert await talker.texts(thread) == ["Hello?", "I have it."]


async def test_what_is_deleted_is_reported_and_gone(ground: Ground) -> None:
    owner = await ground.talker.with_key("threads")
    thread = (await owner.open()).id
    message = (await owner.post(thread, "A secret.", headers=MANUAL)).id
    await owner.post(thread, "Another.", headers=MANUAL)
    async with ground.anna.follow(f"threads/{thread}/events") as listener:
        await listener.until_named("tickets")
        await owner.send("DELETE", f"{THREADS}/{thread}/messages/{message}")
        heard = await listener.until_named("deleted")
        assert heard[-1].data == {"id": message}
        listed = (await ground.anna.get(f"threads/{thread}/messages"))["data"]
        assert [(one["text"], one["deleted"]) for one in listed] == [
            ("", True),
            ("Another.", False),
        ]
        await owner.send("DELETE", f"{THREADS}/{thread}")
        assert (await listener.rest())[-1].name == "gone"
    shown = await ground.anna.send("GET", f"threads/{thread}")
    assert shown.refusal == (404, "thread_not_found", "thread_id")


async def test_conversations_with_all_agents_are_seen_and_found(ground: Ground) -> None:
    mark = new_name()
    own = (await ground.talker.open(f"{mark} lamps", headers=MANUAL)).ok["id"]
    below = await ground.talker.send(
        "POST", f"/books{THREADS}", {"messages": [f"{mark} books"]}, headers=MANUAL
    )
    books = below.ok["id"]

    async def found(query: str) -> list[str]:
        page = await ground.anna.get(f"threads?q={mark}&{query}")
        return [line["id"] for line in page["data"]]

    assert set(await found("")) == {own, books}
    assert await found("agent=books") == [books]
    assert await found("agent=") == [own]
    assert (await ground.anna.get(f"threads/{books}"))["agent"] == "books"
    async with ground.anna.follow(f"threads/{books}/events") as listener:
        shown = await ground.anna.post(f"threads/{books}/take")
        assert shown["operator"] == "anna"
        await listener.until_named("hand_over")
    assert await found("owner=operator") == await found("owner=mine") == [books]
    assert await found("owner=agent") == [own]
    assert await found("waiting=true") == [books]
    await ground.anna.post(f"threads/{books}/say", words="Yes.")
    assert await found("waiting=true") == []
    first = await ground.anna.get(f"threads?q={mark}&limit=1")
    rest = await ground.anna.get(f"threads?q={mark}&limit=1&after={first['next']}")
    assert {one["id"] for one in (*first["data"], *rest["data"])} == {own, books}
    await ground.anna.post(f"threads/{books}/release")


async def test_what_makes_no_sense_is_refused(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", headers=MANUAL)).ok["id"]
    for query, param in (
        ("owner=x", "owner"),
        ("waiting=x", "waiting"),
        ("agent=nobody", "agent"),
        ("limit=x", "limit"),
        ("after=!", "after"),
    ):
        shown = await ground.anna.send("GET", f"threads?{query}")
        assert shown.refusal == (400, "invalid_request", param)
    shown = await ground.anna.send("GET", f"threads/{thread}/messages?before=msg_nobody")
    assert shown.refusal == (400, "invalid_request", "before")
    for act, body in (
        ("take", {"operator": "ben"}),
        ("say", {"words": " "}),
        ("say", {}),
        ("notes", {"words": ""}),
        ("notes", {"words": "x" * 16_001}),
        ("resolve", {"words": "x" * 16_001}),
    ):
        shown = await ground.anna.send("POST", f"threads/{thread}/{act}", body)
        assert shown.refusal[:2] == (400, "invalid_request"), (act, body)
    for method, path, sent in (
        ("GET", "", None),
        ("GET", "/messages", None),
        ("GET", "/events", None),
        ("POST", "/take", {}),
        ("POST", "/release", {}),
        ("POST", "/say", {"words": "x"}),
        ("POST", "/resolve", {}),
        ("POST", "/notes", {"words": "x"}),
    ):
        shown = await ground.anna.send(method, f"threads/thread_nobody{path}", sent)
        assert shown.refusal == (404, "thread_not_found", "thread_id"), path


async def test_streams_end_with_the_session_and_its_key(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", headers=MANUAL)).ok["id"]
    for path in (f"threads/{thread}/events", "live"):
        async with (
            operating(ground.talker.desk, ground.data, new_name()) as operator,
            operator.follow(path) as listener,
        ):
            await listener.next()
            await operator.send("DELETE", "session")
            assert {event.name for event in await listener.rest()} <= {"tickets", "changed"}
        key = await make_key(ground.talker.desk.store, ground.data, "operator", name=new_name())
        async with browsing(ground.talker.desk) as operator:
            await operator.sign_in(key)
            async with operator.follow(path) as listener:
                await listener.next()
                id_ = key.split("_")[1]
                await ground.talker.desk.store.run(revoke_token, id_or_name=id_, now=0)
                assert {event.name for event in await listener.rest()} <= {"tickets", "changed"}


async def test_an_operator_has_so_many_streams_and_no_more(tmp_path: Path) -> None:
    async with (
        talking(tmp_path, "events.max_streams_per_caller=1") as talker,
        operating(talker.desk, tmp_path / "data") as operator,
    ):
        thread = (await talker.open("Hello?", headers=MANUAL)).ok["id"]
        async with operator.follow("live") as listener:
            await listener.next()
            for path in ("live", f"threads/{thread}/events"):
                assert (await operator.send("GET", path)).refusal[:2] == (429, "rate_limited")


async def test_an_operators_look_at_a_conversation_is_noted(ground: Ground) -> None:
    thread = (await ground.talker.open("Hello?", headers=MANUAL)).ok["id"]
    before = ground.talker.rows("SELECT max(n) FROM audit")[0][0]
    await ground.anna.get(f"threads/{thread}/messages")
    noted = ground.talker.rows(f"SELECT proven_by, action FROM audit WHERE n > {before}")
    assert noted == [("console", "thread.looked_after")]


async def test_lists_and_searches_of_an_operator_are_noted(ground: Ground) -> None:
    await ground.talker.open("Hello?", headers=MANUAL)
    async with operating(ground.talker.desk, ground.data, name=new_name()) as operator:
        before = ground.talker.rows("SELECT max(n) FROM audit")[0][0]
        for path in ("threads", "threads", "threads?q=Hello", "tickets", "tickets?q=lamp"):
            await operator.get(path)
        noted = ground.talker.rows(
            f"SELECT proven_by, action, object FROM audit WHERE n > {before}"
        )
    assert [(proven_by, action) for proven_by, action, _ in noted[:4]] == [
        ("console", "threads.listed"),
        ("console", "threads.searched"),
        ("console", "tickets.listed"),
        ("console", "tickets.searched"),
    ]
    assert "Hello" not in str(noted)


@pytest.mark.slow
async def test_what_is_said_in_a_session_is_sent_before_the_next_heartbeat(ground: Ground) -> None:
    visitor = Visitor(ground.talker.desk, ground.talker.http)
    first = await visitor.ask("Do you sell lamps?", "site_info")
    thread = await ground.talker.thread_of(first.session_id)
    async with asyncio.timeout(60), ground.anna.follow(f"threads/{thread}/events") as anna:
        await visitor.ask("And candles?", session_id=first.session_id)
        heard = told(await anna.until_named("message"))
    assert heard[-1][1]["text"] == "And candles?"
