"""What partners were asked is a child thread for each, read with the rights of its parent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.store.reads import calls
from tests.support.clients.threads import THREADS, Talker
from tests.support.sites.partners import BOOKSHOP, FAR, LIBRARY, peer, serving_site, write_site

QUESTION = "How long do you lend e-readers?"
ELSEWHERE = "How heavy is the heaviest meteorite?"


@asynccontextmanager
async def library(folder: Path) -> AsyncIterator[Talker]:
    """Serve a library with two partners: one knows e-readers, the other meteorites."""
    async with (
        serving_site(write_site(folder / "bookshop", BOOKSHOP)) as books,
        serving_site(write_site(folder / "museum", FAR)) as museum,
    ):
        toml = peer(books.desk.url, title="Books", topics=["e-readers"])
        toml += peer(museum.desk.url, "museum", title="Museum", topics=["meteorite"])
        site = write_site(folder / "library", LIBRARY, toml)
        async with serving_site(site) as talker:
            yield talker


async def ask(talker: Talker, *questions: str) -> str:
    """Open a thread with a question, and ask the others on it; return its id."""
    thread = (await talker.open(questions[0], wait=20)).id
    for question in questions[1:]:
        assert (await talker.post(thread, question, wait=20)).ok
    return thread


async def list_children(talker: Talker, thread: str) -> list[Any]:
    """List the child threads of a thread."""
    listed: list[Any] = (await talker.send("GET", f"{THREADS}/{thread}/threads")).ok["data"]
    return listed


async def statuses(talker: Talker, thread: str) -> set[int]:
    """Return how the list, a child and its messages are answered."""
    child = f"{THREADS}/{thread}.books"
    paths = (f"{THREADS}/{thread}/threads", child, f"{child}/messages")
    return {(await talker.send("GET", path)).status for path in paths}


async def test_each_partner_that_was_asked_has_one_child_thread(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(
            talker, QUESTION, ELSEWHERE, "What is on e-readers?", "When do you open?"
        )
        books, museum = await list_children(talker, thread)
        assert (books["id"], museum["id"]) == (f"{thread}.books", f"{thread}.museum")
        assert {one["metadata"]["parent_id"] for one in (books, museum)} == {thread}
        assert [one["role"] for one in books["messages"]] == ["user", "assistant"] * 2
        assert books["messages"][0]["content"] == [QUESTION]
        assert "three weeks" in books["messages"][1]["content"][0]
        assert "412" in museum["messages"][1]["content"][0]
        assert (await talker.read(books["id"])).ok == books
        listed = (await talker.messages(books["id"], "?order=asc&limit=3")).ok
        assert (listed["data"], listed["has_more"]) == (books["messages"][:3], True)
        after = f"?order=asc&after={listed['last_id']}"
        assert (await talker.messages(books["id"], after)).ok["data"] == books["messages"][3:]
        wrong = await talker.messages(books["id"], "?after=msg_none")
        assert wrong.refusal[0] == 400
        one = books["messages"][1]
        path = f"{THREADS}/{books['id']}/messages/{one['id']}"
        assert (await talker.send("GET", path)).ok["content"] == one["content"]


async def test_a_thread_on_which_no_partner_was_asked_has_none(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(talker, "When does the library open?")
        assert await list_children(talker, thread) == []
        assert (await talker.read(f"{thread}.books")).status == 404


async def test_it_is_only_read(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(talker, QUESTION)
        child = f"{THREADS}/{thread}.books"
        assert (await talker.post(f"{thread}.books", "And then?")).status == 404
        for method, path in (("DELETE", child), ("GET", f"{child}/events"), ("POST", child)):
            body = {"metadata": {"a": "b"}} if method == "POST" else None
            assert (await talker.send(method, path, body)).status == 404
        assert await statuses(talker, thread) == {200}


async def test_its_readers_are_the_parents_at_each_read(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        thread = await ask(aya, QUESTION)
        assert await statuses(aya, thread) == {200}
        assert await statuses(ben, thread) == await statuses(talker, thread) == {404}
        key_id = (ben.key or "").split("_")[1]
        grants = f"{THREADS}/{thread}/grants"
        given = {"principal": f"key:{key_id}", "may": "read"}
        grant = (await aya.send("POST", grants, given)).ok
        assert await statuses(ben, thread) == {200}
        assert (await aya.send("DELETE", f"{grants}/{grant['id']}")).ok
        assert await statuses(ben, thread) == {404}


async def test_what_is_deleted_on_the_parent_is_gone_from_it(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(talker, QUESTION, "What is on e-readers?")
        first = (await talker.messages(thread, "?order=asc")).ok["data"][0]
        path = f"{THREADS}/{thread}/messages/{first['id']}"
        assert (await talker.send("DELETE", path)).ok
        (child,) = await list_children(talker, thread)
        assert QUESTION not in str(child)
        assert len(child["messages"]) == 2
        assert (await talker.send("DELETE", f"{THREADS}/{thread}")).ok
        assert await statuses(talker, thread) == {404}


async def test_no_note_of_a_caller_brings_back_a_deleted_answer(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(talker, QUESTION)
        (child,) = await list_children(talker, thread)
        _, answered = child["messages"]
        told = (await talker.messages(thread, "?order=asc")).ok["data"][-1]
        path = f"{THREADS}/{thread}/messages"
        assert (await talker.send("DELETE", f"{path}/{told['id']}")).ok
        call = answered["id"].split(".")[0]
        note = {"role": "user", "content": "Hello.", "metadata": {"calls": call}}
        assert (await talker.send("POST", path, note)).ok
        (child,) = await list_children(talker, thread)
        assert [one["id"] for one in child["messages"]] == [f"{call}.asked"]


async def test_it_has_what_was_asked_before_the_newest_page_of_the_parent(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        thread = await ask(talker, QUESTION)
        for number in range(100):
            assert (await talker.post(thread, f"Line {number}.")).ok
        (child,) = await list_children(talker, thread)
        assert child["messages"][0]["content"] == [QUESTION]
        assert "three weeks" in child["messages"][1]["content"][0]


async def test_it_has_what_was_asked_before_the_newest_page_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "AT_ONCE", 2)
    questions = [f"{QUESTION} For reader {number}?" for number in range(5)]
    async with library(tmp_path) as talker:
        child = f"{await ask(talker, *questions)}.books"
        asked, query = [], "?order=asc&limit=3"
        while query:
            page = (await talker.messages(child, query)).ok
            asked += [one["content"][0] for one in page["data"] if one["role"] == "user"]
            query = f"?order=asc&limit=3&after={page['last_id']}" if page["has_more"] else ""
        assert asked == questions


async def test_who_has_left_reads_what_was_asked_until_then(tmp_path: Path) -> None:
    async with library(tmp_path) as talker:
        aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
        thread = await ask(aya, QUESTION)
        actors = f"{THREADS}/{thread}/actors"
        guest = {"id": "ben", "principal": f"key:{(ben.key or '').split('_')[1]}"}
        assert (await aya.send("POST", actors, guest)).ok
        assert (await ben.send("DELETE", f"{actors}/ben")).ok
        before = await list_children(ben, thread)
        assert [one["role"] for one in before[0]["messages"]] == ["user", "assistant"]
        assert (await aya.post(thread, "What is on e-readers?", wait=20)).ok
        assert (await aya.post(thread, ELSEWHERE, wait=20)).ok
        assert await list_children(ben, thread) == before
        assert (await ben.read(f"{thread}.museum")).status == 404
        assert len(await list_children(aya, thread)) == 2
