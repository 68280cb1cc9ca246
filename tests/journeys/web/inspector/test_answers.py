"""What the panel of `aitp-desk dev` asks its desk: how answers were found, on this machine only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.agent.journal import MOST_ANSWERS
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANSWERS = "/assets/desk/answers.json"
QUESTION = "How long may I return a book?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def explained(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with talking(tmp_path_factory.mktemp("explained"), explains=True) as talker:
        yield talker


async def list_answers(talker: Talker) -> list[dict[str, Any]]:
    """The explained answers, oldest first."""
    found: list[dict[str, Any]] = (await talker.send("GET", ANSWERS)).ok["data"]
    return found


async def list_files(talker: Talker) -> list[str]:
    """The addresses of what the panel of the home page loads; empty without one."""
    async with talker.http.get("/", headers={"Accept": "text/html"}) as response:
        home = LexborHTMLParser(await response.text())
    assert [one for one in home.css("script") if "src" not in one.attributes] == []
    loaded = home.css("[data-inspector] script, [data-inspector] link")
    return [str(one.attributes.get("src") or one.attributes["href"]) for one in loaded]


async def test_an_answer_is_explained_with_what_was_found_and_where(explained: Talker) -> None:
    await explained.open(QUESTION, wait=10)
    answer = (await list_answers(explained))[-1]
    assert (answer["question"], answer["outcome"]) == (QUESTION, "answered")
    assert (answer["level"], answer["model"]) == ("words", None)
    assert answer["milliseconds"] > 0
    assert answer["reason"]
    assert "return" in {word["word"] for word in answer["words"]}
    first, *_ = answer["candidates"]
    assert first["url"] == "/policies/returns#return-window"
    assert (first["page"], first["headings"]) == ("Returns", ["Return window"])
    assert (first["file"], first["line"]) == ("policies/returns.md", 7)
    assert first["is_used"]
    assert first["verdict"].startswith("Chosen: ")
    assert first["score"] == sum(first["scores"].values()) > 0


async def test_a_question_that_follows_another_is_explained_as_it_was_understood(
    explained: Talker,
) -> None:
    thread = (await explained.open(QUESTION, wait=10)).id
    await explained.post(thread, "And second-hand ones?", wait=10)
    answer = (await list_answers(explained))[-1]
    assert answer["question"] == "And second-hand ones?"
    assert any(word["earlier"] for word in answer["words"])
    assert answer["candidates"][0]["url"] == "/policies/returns#second-hand-books"


async def test_a_refusal_is_explained(explained: Talker) -> None:
    await explained.open("Do you repair <b>kayaks</b>?", wait=10)
    answer = (await list_answers(explained))[-1]
    assert (answer["question"], answer["outcome"]) == ("Do you repair <b>kayaks</b>?", "refused")
    assert answer["level"] is None
    assert not any(one["verdict"].startswith("Chosen") for one in answer["candidates"])


async def test_only_the_newest_answers_are_kept(explained: Talker) -> None:
    for number in range(MOST_ANSWERS + 2):
        await explained.open(f"Do books cost {number} euros?", wait=10)
    asked = [one["question"] for one in await list_answers(explained)]
    assert asked == [f"Do books cost {one} euros?" for one in range(2, MOST_ANSWERS + 2)]


async def test_who_answered_and_how_is_named(tmp_path: Path) -> None:
    said: dict[str, Outcome] = {
        "model:": Answer("Within 14 days.", model="claude-test"),
        "back:": Clarification("New or second-hand?", ("New", "Second-hand")),
    }

    async def speak(turn: Turn) -> Outcome:
        return said[turn.question.split()[0].lower()]

    async with talking(tmp_path, agent=ScriptedAgent(speak), explains=True) as talker:
        await talker.open("Model: may I return a book?", wait=10)
        await talker.open("Back: may I return a book?", wait=10)
        answers = await list_answers(talker)
    found = [(one["outcome"], one["model"]) for one in answers]
    assert found == [("answered", "claude-test"), ("asked_back", None)]
    assert all(one["candidates"] for one in answers)


async def test_what_is_not_searched_is_not_explained(tmp_path: Path) -> None:
    settings = ("tickets.people=offered",)
    async with talking(tmp_path, *settings, explains=True) as talker:
        await talker.open("I want to talk to a person.", wait=10)
        assert await list_answers(talker) == []


async def test_the_panel_is_on_the_home_page_alone_under_the_usual_policy(
    explained: Talker, tmp_path: Path
) -> None:
    async with talking(tmp_path) as plain:
        policies = []
        for talker in (plain, explained):
            async with talker.http.get("/", headers={"Accept": "text/html"}) as response:
                policies.append(response.headers["Content-Security-Policy"])
        assert policies[0] == policies[1]
    types = []
    for address in await list_files(explained):
        async with explained.http.get(address) as response:
            assert response.status == 200
            types.append(response.content_type)
    assert sorted(types) == ["text/css", "text/javascript"]
    async with explained.http.get("/about", headers={"Accept": "text/html"}) as response:
        assert "data-inspector" not in await response.text()


async def test_a_served_desk_has_neither_the_panel_nor_its_addresses(
    explained: Talker, tmp_path: Path
) -> None:
    async with talking(tmp_path) as plain:
        assert await list_files(plain) == []
        for address in (ANSWERS, *await list_files(explained)):
            assert (await plain.send("GET", address)).refusal[:2] == (404, "route_not_found")


@pytest.mark.parametrize(
    "host", ["books.example", "evil.example", "127.0.0.1.evil.example", "[::2]"]
)
async def test_a_name_that_leads_here_gets_no_explanations(tmp_path: Path, host: str) -> None:
    async with talking(tmp_path, "site.url=https://books.example", explains=True) as talker:
        told = await talker.send("GET", ANSWERS, headers=[("Host", host)])
        assert told.status == (403 if host == "books.example" else 421)
        for own in ("127.0.0.1", "localhost:8080", "[::1]:8080", "LOCALHOST"):
            assert (await talker.send("GET", ANSWERS, headers=[("Host", own)])).ok


async def test_a_caller_from_elsewhere_gets_no_explanations(tmp_path: Path) -> None:
    trusted = "server.trusted_proxies=['127.0.0.1']"
    async with talking(tmp_path, trusted, explains=True) as talker:
        for address in ("203.0.113.5", "2001:db8::1"):
            told = await talker.send("GET", ANSWERS, headers=[("X-Forwarded-For", address)])
            assert told.refusal[:2] == (403, "forbidden")
        assert (await talker.send("GET", ANSWERS)).ok


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Forwarded-For", "203.0.113.5"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("Forwarded", "for=203.0.113.5"),
        ("X-Real-IP", "203.0.113.5"),
        ("Via", "1.1 tunnel"),
    ],
)
async def test_what_a_proxy_of_this_machine_passes_on_gets_no_explanations(
    explained: Talker, name: str, value: str
) -> None:
    told = await explained.send("GET", ANSWERS, headers=[(name, value)])
    assert told.refusal[:2] == (403, "forbidden")


@pytest.mark.parametrize("came_from", ["cross-site", "same-site"])
async def test_pages_of_other_sites_read_no_explanations(explained: Talker, came_from: str) -> None:
    sent = [("Sec-Fetch-Site", came_from), ("Origin", "https://evil.example")]
    told = await explained.send("GET", ANSWERS, headers=sent)
    assert told.refusal[0] == 403
    assert "Access-Control-Allow-Origin" not in told.headers


async def test_the_api_is_described_without_the_panel(explained: Talker) -> None:
    described = (await explained.send("GET", "/openapi.json")).ok
    assert "inspector" not in {tag["name"] for tag in described["tags"]}
    assert [path for path in described["paths"] if path.startswith(ANSWERS)] == []
    async with explained.http.get("/docs") as response:
        page = LexborHTMLParser(await response.text())
    groups = [node.attributes["id"] for node in page.css(".group")]
    assert "task.health" in groups
    assert "task.inspector" not in groups
