"""What is erased is in no byte of the data folder any more, and what is not stays."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.maintenance.erasure import erase_words
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.store.base import Store
from aitp_desk.store.engine import sqlite_wipe as sqlite_wiping
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.privacy.erasure import Person
from tests.support.access.audit_log import somebody
from tests.support.clients.event_stream import following
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.desk.terminal import command
from tests.support.doubles.agent import PacedAgent, ScriptedAgent
from tests.support.sites.actions import offering
from tests.support.store.erasure import (
    MANUAL,
    PLACES,
    TOOL,
    converse,
    found,
    leave_words,
    mark,
    principal_of,
    quote,
)
from tests.support.store.integrity import check_whole

WORDS = [mark(place) for place in PLACES]


async def leave_everything(talker: Talker) -> tuple[Talker, Talker, str]:
    """A caller with a key who leaves words everywhere, another caller, and the thread of both."""
    who, other = await talker.with_key("threads"), await talker.with_key("threads")
    thread = await leave_words(who, other)
    await converse(who, mark("first-turn"))
    session = (await converse(who, mark("first-turn")))["session_id"]
    await converse(who, mark("later-turn"), session)
    await converse(who, mark("asked-back"), session)
    await talker.desk.store.settled()
    return who, other, thread


@pytest.mark.sqlite
async def test_while_a_desk_serves_no_byte_of_a_persons_words_is_left(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path, agent=ScriptedAgent(quote)) as talker:
        who, other, thread = await leave_everything(talker)
        person = await principal_of(who)
        assert found(data, *WORDS) == set(WORDS)

        would = await asyncio.to_thread(
            command, "erase", "--data", data, "--actor", person, "--dry-run"
        )
        assert would[0].startswith(f"Would erase the words of {person} on ")
        assert found(data, *WORDS) == set(WORDS)
        done = await asyncio.to_thread(command, "erase", "--data", data, "--actor", person)
        assert [line.split("  ")[-1] for line in done[1:4]] == [
            "messages of the person",
            "replies of the desk",
            "uploaded files",
        ]
        assert would[1:4] == done[1:4]
        assert found(data, *WORDS) == set()
        assert found(data, mark("of-another"), mark("of-another-too")) == {
            mark("of-another"),
            mark("of-another-too"),
        }

        assert await who.texts(thread) == await other.texts(thread) == [mark("of-another")]
        assert len((await who.post(thread, "And on it goes.", wait=20)).ok["replies"]) == 1
        assert len(await other.texts(thread)) == 3
        whole, _ = await asyncio.to_thread(command, "audit", "verify", "--data", data)
        assert whole == "The audit log is complete and unchanged: 5 rows."
        log = await asyncio.to_thread(command, "audit", "export", "--data", data)
        erasure = [line for line in log if '"action":"erased"' in line]
        assert len(erasure) == 2
        assert person not in str(erasure)
    check_whole(data / DATABASE)


async def test_a_serving_desk_forgets_the_answers_that_it_held(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        who = await talker.with_key("threads")
        for expected in (False, True):
            told = await converse(who, "What does shipping cost?")
            assert told["meta"]["cached"] is expected
        await asyncio.to_thread(
            command, "erase", "--data", data, "--actor", await principal_of(who)
        )
        async with asyncio.timeout(60):
            while (await converse(talker, "What does shipping cost?"))["meta"]["cached"]:
                pass


@pytest.mark.sqlite
async def test_calls_of_actions_go_with_their_callers_on_one_thread_or_all(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    words = {place: mark(f"call-{place}") for place in ("here", "there", "why", "result")}
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def take(_who: str, arguments: Mapping[str, Any]) -> str:
        return f"{words['result']} {arguments['text']}"

    action = offering(Action("take", "Takes a note.", input_schema=schema), take)

    async def erase(*more: str) -> list[str]:
        """Erase the caller's words; how many calls that were, last."""
        said = await asyncio.to_thread(command, "erase", "--data", data, "--actor", person, *more)
        return [line.split()[0] for line in said if line.endswith("  calls of actions")]

    async with talking(tmp_path, actions=(action,)) as talker:
        who = await talker.with_key("actions")
        person = await principal_of(who)
        threads = []
        for place in ("here", "there"):
            asked = {
                "capability": "take",
                "query": f'The text is "{words[place]}"',
                "context": {"user_intent": words["why"]},
            }
            told = await who.send("POST", "/agent/converse", asked)
            assert words[place] in told.ok["response"]["answer"]
            threads.append(await who.thread_of(told.ok["session_id"]))
        assert found(data, *words.values()) == set(words.values())
        assert await erase("--thread", threads[0]) == ["1"]
        assert found(data, *words.values()) == set(words.values()) - {words["here"]}
        (left,) = who.rows("SELECT thread_id, text FROM calls WHERE principal IS NOT NULL")
        assert left == (threads[1], f"{words['result']} {words['there']}")
        assert [await erase(), await erase()] == [["1"], ["0"]]
        assert found(data, *words.values()) == set()
        assert len(who.rows("SELECT id FROM calls")) == 2


@pytest.mark.sqlite
async def test_what_was_deleted_before_and_lies_in_free_pages_goes_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    old, stays = mark("deleted-long-ago"), mark("stays")
    async with talking(tmp_path) as talker:
        assert (await talker.open(stays, headers=MANUAL)).ok
        with closing(sqlite3.connect(data / DATABASE, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = OFF")  # as some builds of SQLite have it
            database.execute("CREATE TABLE gone (text TEXT)")
            database.execute("INSERT INTO gone VALUES (?)", (f"{old} " * 50_000,))
            database.execute("DROP TABLE gone")
        assert found(data, old) == {old}
        await asyncio.to_thread(command, "erase", "--data", data, "--actor", "nobody")
        assert found(data, old, stays) == {stays}


@pytest.mark.sqlite
async def test_a_visitor_without_a_credential_is_erased_by_their_thread(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path, agent=ScriptedAgent(quote)) as talker:
        said, kept = mark("said"), mark("kept")
        mine = (await talker.open(said, metadata={"subject": said}, wait=20)).id
        theirs = (await talker.open(kept, wait=20)).id
        folded = mark("folded")
        session = (await converse(talker, folded))["session_id"]
        thread = await talker.thread_of(session)
        for id_ in (mine, thread):
            await asyncio.to_thread(
                command, "erase", "--data", data, "--thread", id_, "--actor", "visitor"
            )
        assert found(data, said, folded, kept) == {kept}
        assert await talker.texts(mine) == []
        assert len(await talker.texts(theirs)) == 2
        (line,) = await asyncio.to_thread(
            command, "erase", "--data", data, "--actor", "visitor", exit_code=1
        )
        assert line == (
            "--actor: visitor means all callers without a credential. Give --thread as well."
        )
        would = await asyncio.to_thread(
            command, "erase", "--data", data, "--thread", session, "--dry-run"
        )
        assert would[0] == "Would erase the words of all visitors on 0 threads:"
        assert would[-1].startswith(f"--thread: there is nothing of this person on {session}.")
    check_whole(data / DATABASE)


async def test_a_run_that_works_with_erased_words_says_nothing_any_more(tmp_path: Path) -> None:
    data, agent = tmp_path / "data", PacedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        thread = (await talker.open(mark("asked"))).id
        asked = (await agent.asked.get()).question
        await asyncio.to_thread(command, "erase", "--data", data, "--thread", thread)
        agent.say(Answer(f"You asked: {asked}"), Answer("The second answer."))
        assert (await talker.post(thread, "Once more?", wait=20)).ok["replies"]
        assert await talker.texts(thread) == ["Once more?", "The second answer."]
        runs = (await talker.send("GET", f"/v1/threads/{thread}/runs?order=asc")).ok["data"]
        assert [run["status"] for run in runs] == ["failed", "completed"]
        assert runs[0]["last_error"]["message"] == "The data of the run was erased."
    assert found(data, mark("asked")) == set()


@pytest.mark.sqlite
async def test_what_was_handed_in_for_anothers_run_goes_with_the_replies_to_it(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"

    async def ask_once(turn: Turn) -> Outcome:
        if turn.rounds:
            return Answer(f"It gave {turn.rounds[-1].called[-1].result}.")
        return ToolRequest((ToolRound("", (ToolCallRecord(ToolCall("call_1", "stock", "{}")),)),))

    async with talking(tmp_path, agent=ScriptedAgent(ask_once)) as talker:
        owner, operator = await talker.with_key(), await talker.with_key("operator")
        thread = (await owner.open("How many?", headers=MANUAL)).id
        path = f"/v1/threads/{thread}/runs"
        asked = {"assistant_id": SITE_AGENT, "tools": [TOOL], "instructions": mark("of-owner")}
        run = (await owner.send("POST", path, asked, headers=[("Prefer", "wait=20")])).ok
        outputs = [{"tool_call_id": "call_1", "output": mark("of-operator")}]
        handed_in = await operator.send(
            "POST",
            f"{path}/{run['id']}/submit_tool_outputs",
            {"tool_outputs": outputs},
            headers=[("Prefer", "wait=20")],
        )
        assert handed_in.ok["status"] == "completed"
        assert mark("of-operator") in (await owner.texts(thread))[-1]
        who = await principal_of(operator)
        await asyncio.to_thread(command, "erase", "--data", data, "--actor", who)
        assert await owner.texts(thread) == ["How many?"]
        assert found(data, mark("of-operator"), mark("of-owner")) == {mark("of-owner")}
    check_whole(data / DATABASE)


@pytest.mark.sqlite
async def test_one_of_several_without_a_credential_is_erased_by_their_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        actors = [{"id": name} for name in ("aya", "ben")]
        thread = (await talker.open(metadata={"actors": actors}, headers=MANUAL)).id
        for name in ("aya", "ben"):
            said = {"role": "user", "content": mark(name), "metadata": {"actor": name}}
            posted = await talker.send(
                "POST", f"/v1/threads/{thread}/messages", said, headers=MANUAL
            )
            assert posted.status == 200
        arguments = ("erase", "--data", data, "--actor", "aya", "--thread", thread)
        await asyncio.to_thread(command, *arguments)
        assert await talker.texts(thread) == [mark("ben")]
        assert found(data, mark("aya"), mark("ben")) == {mark("ben")}


class Interrupted(Exception):
    """The erasing process was ended."""


class Ending:
    """A store whose process is ended before one of its units."""

    def __init__(self, store: Store, units: int) -> None:
        self._store = store
        self._left = units

    async def run(self, work: Any, /, **arguments: Any) -> Any:
        if not self._left:
            raise Interrupted
        self._left -= 1
        return await self._store.run(work, **arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.slow
async def test_what_was_cut_short_anywhere_is_finished_by_doing_it_again(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(quote)) as talker:
        who, _, _ = await leave_everything(talker)
        person = Person(await principal_of(who))
    before = tmp_path / "data" / DATABASE
    assert left_in_tables(before) == set(WORDS)
    units, finished = 0, False
    while not finished:
        database = tmp_path / f"{units}.db"
        shutil.copy(before, database)
        async with SqliteStore.open(database) as store:
            ending: Any = Ending(store, units)
            try:
                await erase_words(ending, person, by=somebody(), clock=time.time)
                finished = True
            except Interrupted:
                await erase_words(store, person, by=somebody(), clock=time.time)
        assert left_in_tables(database) == set(), units
        check_whole(database)
        units += 5
    assert units > 10


@pytest.mark.sqlite
async def test_files_go_with_the_messages_that_they_hang_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        for whose in ("--thread", "--actor"):
            thread = (await aya.open(metadata={"actors": [{"id": "aya"}]}, headers=MANUAL)).id
            shared = {"principal": await principal_of(ben), "may": "write"}
            assert (await aya.send("POST", f"/v1/threads/{thread}/grants", shared)).ok
            for who, named in ((aya, "aya"), (ben, "ben")):
                file = {"file_id": (await who.upload(data=mark(named).encode())).id}
                body = {
                    "content": "See.",
                    "attachments": [{**file, "tools": [{"type": "file_search"}]}],
                    "metadata": {"actor": "aya"} if who is aya else {},
                }
                path = f"/v1/threads/{thread}/messages"
                posted = await who.send("POST", path, body, headers=MANUAL)
                assert posted.status == 200
            arguments = (data, whose, thread if whose == "--thread" else "aya")
            would = await asyncio.to_thread(command, "erase", "--data", *arguments, "--dry-run")
            done = await asyncio.to_thread(command, "erase", "--data", *arguments)
            assert would[1:4] == done[1:4]
            assert found(data, mark("aya"), mark("ben")) == (
                set() if whose == "--thread" else {mark("ben")}
            )
    check_whole(data / DATABASE)


async def test_of_a_thread_that_was_deleted_nothing_is_left_either(tmp_path: Path) -> None:
    data, declared, key = tmp_path / "data", mark("declared"), mark("idempotency-key")
    schema = f"https://{declared}.example/schema.json"
    async with talking(tmp_path) as talker:
        who = await talker.with_key("threads")
        for talks in (who, talker):
            actors = [{"id": "aya", "capabilities": [{"schema": schema}]}]
            opened = await talks.open(
                metadata={"actors": actors}, headers=[("Idempotency-Key", key), *MANUAL]
            )
            assert declared in str(talker.rows("SELECT * FROM actors"))
            assert (await talks.send("DELETE", f"/v1/threads/{opened.id}")).ok
            assert declared not in str(talker.rows("SELECT * FROM actors"))
            named = (
                ("--actor", await principal_of(who)) if talks is who else ("--thread", opened.id)
            )
            await asyncio.to_thread(command, "erase", "--data", data, *named)
            assert found(data, declared, key) == set()


@pytest.mark.slow
async def test_what_was_shared_with_an_erased_person_is_taken_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        aya, ben, eve = [await talker.with_key("threads") for _ in range(3)]
        person = await principal_of(ben)
        threads = [(await aya.open("Hello.", headers=MANUAL)).id for _ in range(21)]
        for thread in threads:
            path = f"/v1/threads/{thread}/grants"
            assert (await aya.send("POST", path, {"principal": person, "may": "read"})).ok
        kept = {"principal": await principal_of(eve), "may": "read"}
        assert (await aya.send("POST", f"/v1/threads/{threads[0]}/grants", kept)).ok
        async with following(ben, threads[0]) as listener:
            done = await asyncio.to_thread(command, "erase", "--data", data, "--actor", person)
            async with asyncio.timeout(60):
                assert [heard.name for heard in await listener.rest()] == ["following"]
        assert done[11].split() == "21 grants of shared threads".split()
        assert [(await ben.read(thread)).status for thread in threads] == [404] * 21
        assert (await eve.read(threads[0])).ok
        assert talker.rows("SELECT count(*) FROM audit WHERE action = 'grant.revoked'") == [(21,)]
        tables = talker.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        named = [name for (name,) in tables if person in str(talker.rows(f"SELECT * FROM {name}"))]
        assert named == []


@pytest.mark.sqlite
async def test_an_erasure_is_reported_also_where_bytes_could_not_be_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        thread = (await talker.open("Hello.", headers=MANUAL)).id
    monkeypatch.setattr(sqlite_wiping, "WAITS_SECONDS", 0)
    with closing(sqlite3.connect(data / DATABASE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)
        arguments = ("erase", "--data", data, "--thread", thread, "--no-rewrite")
        lines = await asyncio.to_thread(command, *arguments, exit_code=1)
    assert lines[0] == "Erased the words of all visitors on one thread:"
    assert lines[-1] == (
        "The write-ahead log could not be emptied: another program keeps reading from it."
    )


def left_in_tables(path: Path) -> set[str]:
    """Those of the person's words that any row of any table still says."""
    with closing(sqlite3.connect(path)) as database:
        dump = "\n".join(database.iterdump())
    return {word for word in WORDS if word in dump or word.encode().hex().upper() in dump}


@pytest.mark.sqlite
async def test_an_erasure_without_rewriting_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with talking(tmp_path) as talker:
        thread = (await talker.open(mark("said"), headers=MANUAL)).id
    lines = await asyncio.to_thread(
        command, "erase", "--data", data, "--thread", thread, "--no-rewrite"
    )
    assert lines[-2].startswith("Emptied the write-ahead log and did not rewrite the database.")
    assert found(data, mark("said")) == set()


def test_an_erasure_needs_to_know_whose_words(tmp_path: Path) -> None:
    (line,) = command("erase", "--data", tmp_path, exit_code=1)
    assert line == "Name the author or the thread with --actor ID, --thread ID, or both."
    for arguments in (("--actor", ""), ("--actor", "", "--thread", "thread_1"), ("--thread", "")):
        (line,) = command("erase", "--data", tmp_path, *arguments, exit_code=1)
        assert line == "--actor and --thread must be an id, not an empty text."
    lines = command("erase", "--data", tmp_path, "--free-space", "--actor", "a", exit_code=1)
    assert lines == ["--free-space changes no row. Leave out --actor and --thread."]
