"""Operators see earlier tickets like one, and what visitors asked in vain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from pytest_aiohttp import AiohttpServer

from aitp_desk.knowledge.semantics.onnx import NEEDED, SWITCH
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.embedding import WordEmbedder, service_of
from tests.support.sites.orders import Caller

if TYPE_CHECKING:
    from aiohttp.test_utils import TestServer

MEANING = """
[content.meaning]
provider = "endpoint"
url = "{url}"
model = "small"
"""
MEANS = {"canoes": "delivery", "kayaks": "delivery", "boats": "delivery", "parrot": "money back"}


class Ground(msgspec.Struct, frozen=True):
    """A desk, an operator, and a caller who asks people."""

    talker: Talker
    anna: Operator
    caller: Caller

    async def ticket(self, wish: str) -> str:
        """Ask people for a quote; the ticket's id."""
        said = await self.caller.ask({"wish": wish}, "custom_quote")
        assert said.body["status"] == "accepted"
        thread = await self.talker.thread_of(said.session_id)
        async with asyncio.timeout(60):
            while not (found := (await self.anna.get(f"tickets?q={thread}"))["data"]):
                await self.talker.desk.store.settled()
        id_: str = found[0]["id"]
        return id_

    async def like(self, ticket: str) -> list[str]:
        """What the tickets are about that are like one."""
        found = await self.anna.get(f"tickets/{ticket}/similar")
        return [one["about"] for one in found["data"]]

    async def unanswered(self) -> list[dict[str, Any]]:
        """What visitors asked in vain."""
        found: list[dict[str, Any]] = (await self.anna.get("unanswered"))["data"]
        return found


@asynccontextmanager
async def ground_of(folder: Path, url: str = "") -> AsyncIterator[Ground]:
    site = write_site(folder)
    if url:
        settings = (site / "desk.toml").read_text()
        (site / "desk.toml").write_text(settings + MEANING.format(url=url))
    async with (
        talking(folder, site=site) as talker,
        operating(talker.desk, folder / "data", "Anna") as anna,
    ):
        progress = talker.desk.desk.knowledge.progress
        if progress is not None:
            await progress.settled.wait()
        yield Ground(talker, anna, Caller(await talker.with_key("actions", "threads"), site))


@pytest.fixture
async def server(aiohttp_server: AiohttpServer) -> TestServer:
    return await aiohttp_server(service_of(WordEmbedder(MEANS), []))


@pytest.fixture
async def by_meaning(
    tmp_path: Path, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Ground]:
    for name in NEEDED:
        pytest.importorskip(name)
    monkeypatch.delenv(SWITCH)
    async with ground_of(tmp_path, f"http://127.0.0.1:{server.port}/v1") as ground:
        yield ground


async def test_earlier_tickets_in_the_same_words_are_similar(tmp_path: Path) -> None:
    async with ground_of(tmp_path) as ground:
        first = await ground.ticket("forty red lamps")
        await ground.ticket("a parrot")
        last = await ground.ticket("forty blue lamps")
        assert await ground.like(last) == ["Quote: forty red lamps"]
        assert await ground.like(first) == []
        refused = await ground.anna.send("GET", "tickets/ticket_none/similar")
        assert refused.refusal == (404, "ticket_not_found", "ticket_id")


async def test_at_most_five_tickets_are_similar(tmp_path: Path) -> None:
    async with ground_of(tmp_path) as ground:
        last = [await ground.ticket(f"{count} lamps") for count in range(7)][-1]
        assert len(await ground.like(last)) == 5


async def test_earlier_tickets_that_mean_the_same_are_similar(by_meaning: Ground) -> None:
    await by_meaning.ticket("my canoes")
    await by_meaning.ticket("my parrot")
    last = await by_meaning.ticket("some kayaks")
    assert await by_meaning.like(last) == ["Quote: my canoes"]


async def test_questions_without_an_answer_are_listed_by_how_often_they_were_asked(
    tmp_path: Path,
) -> None:
    async with ground_of(tmp_path) as ground:
        for question in ("Do you sell canoes?", "Are kayaks there?", "do you sell canoes"):
            await ground.talker.open(question, wait=10)
        last = (await ground.talker.open("Do you sell lamps?", wait=10)).ok
        first, second = await ground.unanswered()
        assert (first["question"], first["times"]) == ("do you sell canoes", 2)
        assert (second["question"], second["times"]) == ("Are kayaks there?", 1)
        assert first["others"] == []
        assert first["agent"] is None
        assert first["thread"].startswith("thread_")
        assert last["id"] not in {first["thread"], second["thread"]}


async def test_questions_that_ask_for_the_same_are_one_group(by_meaning: Ground) -> None:
    for question in ("Do you sell canoes?", "Is there a parrot?", "Are kayaks there?"):
        await by_meaning.caller.anybody.ask(question, "content_search")
    await by_meaning.talker.desk.store.settled()
    first, second = await by_meaning.unanswered()
    assert {first["question"], *first["others"]} == {"Do you sell canoes?", "Are kayaks there?"}
    assert first["times"] == 2
    assert second["question"] == "Is there a parrot?"


async def test_insights_are_grouped_by_meaning_and_by_words_where_the_model_is_gone(
    by_meaning: Ground, server: TestServer
) -> None:
    async def read_groups(*asked: str) -> set[frozenset[str]]:
        for question in asked:
            await by_meaning.talker.open(question, wait=10)
        found = (await by_meaning.anna.get("insights/questions"))["data"]
        return {frozenset([one["question"], *one["others"]]) for one in found}

    alike = frozenset({"Do you sell canoes?", "Are kayaks there?"})
    assert await read_groups(*alike, "Is there a parrot?") == {
        alike,
        frozenset(["Is there a parrot?"]),
    }
    await server.close()
    groups = await read_groups("Is there really a parrot?")
    assert groups == {
        frozenset({"Is there a parrot?", "Is there really a parrot?"}),
        *(frozenset([one]) for one in alike),
    }


async def test_a_visitor_sees_neither(tmp_path: Path) -> None:
    async with ground_of(tmp_path) as ground:
        ticket = await ground.ticket("a parrot")
        for path in (f"tickets/{ticket}/similar", "unanswered"):
            answer = await ground.caller.talker.http.get(
                f"/console/api/{path}", headers=ground.caller.talker.credentials
            )
            assert answer.status == 401
