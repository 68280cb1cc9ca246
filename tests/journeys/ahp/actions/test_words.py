"""Words that clearly ask for an action begin it, where the content has vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpServer

from aitp_desk.knowledge.semantics.onnx import NEEDED, SWITCH
from tests.support.clients.ahp import Said
from tests.support.doubles.embedding import SETTINGS, WordEmbedder, service_of
from tests.support.sites.orders import Caller, calling

ACTIONS = """
from pathlib import Path
from typing import Annotated

import msgspec

from aitp_desk.actions import action

BOOK = Path(__file__).with_name("book.txt")


@action(open_to="anyone", says=lambda left: "There are 7 lamps left.")
def check_stock() -> dict[str, int]:
    \"""Counts what is left.\"""
    return {"left": 7}


Count = Annotated[int, msgspec.Meta(ge=1, le=9, description="How many.")]


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    says=lambda _: "It is kept for you.",
)
def keep_lamps(quantity: Count) -> dict[str, int]:
    \"""Reserves lamps.\"""
    with BOOK.open("a") as book:
        book.write(f"{quantity} kept\\n")
    return {"kept": quantity}
"""
MEANS = {"left": "delivery", "remain": "delivery", "hours": "opening hours"} | dict.fromkeys(
    ("reserves", "reserve", "reserving", "aside"), "money back"
)


@pytest.fixture(scope="module", autouse=True)
def _semantic() -> None:
    """Skip where the extra `semantic` is not installed; its libraries take long to import."""
    for name in NEEDED:
        pytest.importorskip(name)


@pytest.fixture
async def site(
    tmp_path: Path, aiohttp_server: AiohttpServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A site with a page and two actions, and a model of meaning."""
    monkeypatch.delenv(SWITCH)
    server = await aiohttp_server(service_of(WordEmbedder(MEANS), []))
    folder = tmp_path / "site"
    (folder / "content").mkdir(parents=True)
    (folder / "desk.toml").write_text(SETTINGS.format(url=f"http://127.0.0.1:{server.port}/v1"))
    (folder / "content" / "index.md").write_text("# Visits\n\nOur hours: 9 to 17.\n")
    (folder / "actions.py").write_text(ACTIONS)
    return folder


@asynccontextmanager
async def visitor(site: Path, *settings: str) -> AsyncIterator[Caller]:
    """A caller with a key, once the vectors are there."""
    async with calling(site.parent, site, *settings) as caller:
        progress = caller.talker.desk.desk.knowledge.progress
        assert progress is not None
        await progress.settled.wait()
        yield caller


async def answered(caller: Caller, said: Said, words: str) -> Said:
    """Answer what was asked back, as pages do."""
    return await caller.ask(
        "Put lamps aside.", "content_search", session_id=said.session_id, clarification=words
    )


async def test_a_question_for_what_an_action_tells_is_answered_by_it(site: Path) -> None:
    async with visitor(site) as caller:
        said = await caller.anybody.ask("Do some remain?", "content_search")
        assert said.answer == "There are 7 lamps left."
        assert said.body["meta"]["capability_used"] == "check_stock"
        assert "9 to 17" in (await caller.ask("What are the hours?", "content_search")).answer


async def test_what_an_action_changes_is_asked_about_over_all_turns(site: Path) -> None:
    async with visitor(site) as caller:
        said = await caller.ask("Put lamps aside.", "content_search")
        assert said.body["status"] == "clarification_needed"
        said = await answered(caller, said, "3")
        assert said.body["clarification"]["options"] == ["yes", "no"]
        assert caller.booked == []
        said = await answered(caller, said, "yes")
        assert said.answer == "It is kept for you."
        assert caller.booked == ["3 kept"]
        said = await caller.ask("Put 2 lamps aside.", "content_search")
        await answered(caller, said, "no")
        assert caller.booked == ["3 kept"]


@pytest.mark.parametrize(
    "words", ["Are you reserving 2 lamps?", "Put aside and remain.", "Who are you?"]
)
async def test_what_asks_for_no_action_clearly_begins_none(site: Path, words: str) -> None:
    async with visitor(site) as caller:
        said = await caller.ask(words, "content_search")
        assert "7 lamps" not in str(said.body)
        assert "How many" not in str(said.body)


async def test_only_what_the_caller_may_call_is_begun(site: Path) -> None:
    async with visitor(site) as caller:
        said = await caller.anybody.ask("Put 2 lamps aside.", "content_search")
        assert said.body["status"] == "success"
    off = "content.meaning.actions=false"
    async with visitor(site, off) as caller:
        said = await caller.ask("Do some remain?", "content_search")
        assert "7 lamps" not in said.answer


async def test_actions_are_begun_at_once_by_many(site: Path) -> None:
    async with visitor(site) as caller:
        every = [caller.ask("Do some remain?", "content_search") for _ in range(5)]
        assert {one.answer for one in await asyncio.gather(*every)} == {"There are 7 lamps left."}
