"""A desk that answers from pages of another server, and links to them."""

import asyncio
from collections.abc import AsyncIterator, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog
from aiohttp import web

from aitp_desk.app.server import RunningServer
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.store.reads.schedules import schedules
from tests.support.clients.ahp import CONTENT, visiting
from tests.support.clients.threads import talking
from tests.support.content.pdf import make_pdf
from tests.support.desk.command import run
from tests.support.desk.server import serving
from tests.support.doubles.website import Website, website

WARRANTY = (
    "<html><head><title>Warranty – Example</title></head><body><nav>Menu</nav><main>"
    "<h1>Warranty</h1><p>We stand behind what we sell.</p>"
    '<section id="how-long"><h2>Duration</h2>'
    "<p>The warranty of a lantern lasts seven years from the day of purchase.</p></section>"
    "<h2>Claims</h2><p>To claim, write a letter to the lighthouse.</p></main></body></html>"
)
QUESTION = "How long does the warranty of a lantern last?"


@pytest.fixture
async def elsewhere() -> AsyncIterator[Website]:
    async with website() as site:
        site.put("/warranty.html", WARRANTY, headers={"ETag": '"1"'})
        yield site


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A site's folder with one page of its own."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "about.md").write_text("# About us\n\nWe sell lanterns by the sea.\n", "utf-8")
    return folder


def reads(site: Website, *paths: str) -> tuple[str, ...]:
    listed = ", ".join(f'"{site.url}{path}"' for path in paths)
    return "egress.allow_loopback=true", f"content.web.urls=[{listed}]"


async def known(desk: RunningServer, documents: int = 2) -> None:
    """Wait until the desk knows so many documents."""
    knowledge = desk.desk.knowledge
    async with asyncio.timeout(60):
        while len(knowledge.library.documents) != documents:
            await knowledge.replaced()


async def test_an_answer_links_to_the_page_and_section_it_comes_from(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    settings = reads(elsewhere, "/warranty.html")
    async with visiting(tmp_path / "data", *settings, folder=own) as visitor:
        await known(visitor.desk)
        said = await visitor.ask(QUESTION)
        assert "seven years" in said.answer
        source = said.body["response"]["sources"][0]
        assert source["url"] == f"{elsewhere.url}/warranty.html#how-long"
        assert source["title"] == "Warranty: Duration"
        assert "Claims" in str(said.body["response"]["follow_up"])
        said = await visitor.ask("Where do I write a letter to claim?")
        assert said.body["response"]["sources"][0]["url"] == f"{elsewhere.url}/warranty.html"
        said = await visitor.ask("What do you sell by the sea?")
        assert said.body["response"]["sources"][0]["url"] == f"{visitor.desk.url}/about#about-us"


async def test_a_reply_on_a_thread_names_the_absolute_address(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    settings = reads(elsewhere, "/warranty.html")
    async with talking(tmp_path, *settings, site=own) as talker:
        await known(talker.desk)
        opened = (await talker.open(QUESTION, wait=10)).ok
        (reply,) = opened["replies"]
        assert f"Warranty: Duration: {elsewhere.url}/warranty.html#how-long" in str(reply)
        assert f"{talker.desk.url}{elsewhere.url}" not in str(reply)


async def test_pages_elsewhere_are_listed_with_their_own_addresses_and_not_shown(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    settings = reads(elsewhere, "/warranty.html")
    async with visiting(tmp_path / "data", *settings, folder=own) as visitor:
        await known(visitor.desk)
        address = f"{elsewhere.url}/warranty.html"
        host = elsewhere.url.removeprefix("http://")
        async with visitor.http.get(CONTENT) as response:
            listed = await response.text()
        assert f"## {host}\n\n- [Warranty]({address})\n" in listed
        assert f"({visitor.desk.url}/about.md)" in listed
        async with visitor.http.get("/") as response:
            home = await response.text()
        assert f'<h3>{host}</h3><ul>\n<li><a href="{address}">Warranty</a>' in home
        for path in (f"/{address}", "/warranty", "/warranty.html", f"/{host}/warranty.html"):
            async with visitor.http.get(path) as response:
                assert response.status == 404


async def test_an_address_cannot_end_the_link_that_lists_it(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    elsewhere.put("/wick_(lamp)", WARRANTY)
    settings = reads(elsewhere, "/wick_(lamp)")
    async with visiting(tmp_path / "data", *settings, folder=own) as visitor:
        await known(visitor.desk)
        async with visitor.http.get(CONTENT) as response:
            assert f"[Warranty]({elsewhere.url}/wick_%28lamp%29)\n" in await response.text()


@pytest.mark.slow
async def test_an_answer_from_a_pdf_links_to_the_page_within_it(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    guide = make_pdf(["Lantern care."], ["Change the wick of a lantern after ninety hours."])
    elsewhere.put("/guide.pdf", guide, type="application/pdf")
    (own / "oil.pdf").write_bytes(make_pdf(["Burn whale-free oil of the second pressing."]))
    settings = reads(elsewhere, "/guide.pdf")
    async with visiting(tmp_path / "data", *settings, folder=own) as visitor:
        await known(visitor.desk, 3)
        said = await visitor.ask("After how many hours do I change the wick?")
        assert "ninety hours" in said.answer
        source = said.body["response"]["sources"][0]
        assert source["url"] == f"{elsewhere.url}/guide.pdf#page=2"
        said = await visitor.ask("Which oil do I burn, of which pressing?")
        source = said.body["response"]["sources"][0]
        assert source["url"] == f"{visitor.desk.url}/oil#page=1"
        async with visitor.http.get("/oil") as response:
            assert '<h2 id="page=1">Page 1</h2>' in await response.text()


async def test_a_desk_serves_before_the_first_page_has_arrived(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    asked, go = asyncio.Event(), asyncio.Event()

    async def wait(_request: web.Request) -> web.Response:
        asked.set()
        await go.wait()
        return web.Response(text=WARRANTY, content_type="text/html")

    elsewhere.handle("/warranty.html", wait)
    settings = reads(elsewhere, "/warranty.html")
    async with visiting(tmp_path / "data", *settings, folder=own) as visitor:
        async with asyncio.timeout(60):
            await asked.wait()
        assert "lanterns" in (await visitor.ask("What do you sell by the sea?")).answer
        go.set()
        await known(visitor.desk)
        assert "seven years" in (await visitor.ask(QUESTION)).answer


async def test_a_desk_stops_while_a_page_is_awaited(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    asked, never = asyncio.Event(), asyncio.Event()

    async def wait(_request: web.Request) -> web.Response:
        asked.set()
        await never.wait()
        return web.Response()

    elsewhere.handle("/warranty.html", wait)
    async with asyncio.timeout(60):
        async with serving(
            tmp_path / "data", *reads(elsewhere, "/warranty.html"), folder=own
        ) as desk:
            await asked.wait()
        assert len(desk.desk.knowledge.library.documents) == 1


async def test_after_a_restart_without_network_the_last_copies_answer(
    own: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    async with website() as site:
        site.put("/warranty.html", WARRANTY)
        settings = reads(site, "/warranty.html")
        async with serving(data, *settings, folder=own) as desk:
            await known(desk)
            revision = desk.desk.knowledge.library.revision
    async with visiting(data, *settings, folder=own) as visitor:
        assert "seven years" in (await visitor.ask(QUESTION)).answer
        assert any(
            line == "  elsewhere  1 of these, read again now and every 60 minutes"
            for line in visitor.desk.report
        )
        knowledge = visitor.desk.desk.knowledge
        async with asyncio.timeout(60):  # the round may be over before the answer
            while not knowledge.library.problems:
                await knowledge.replaced()
        (problem,) = knowledge.library.problems
        assert knowledge.library.revision == revision
        assert problem.source == f"{site.url}/warranty.html"
        assert problem.message.endswith("Its last copy is used.")
        assert "seven years" in (await visitor.ask(QUESTION)).answer


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with structlog.testing.capture_logs() as entries:
        yield entries


async def test_a_page_that_vanishes_is_reported_in_the_log_and_at_the_next_start(
    elsewhere: Website,
    own: Path,
    tmp_path: Path,
    logged: list[MutableMapping[str, Any]],
) -> None:
    settings = reads(elsewhere, "/warranty.html")
    async with serving(tmp_path / "data", *settings, folder=own) as desk:
        await known(desk)
    elsewhere.take_away("/warranty.html")
    async with serving(tmp_path / "data", *settings, folder=own) as desk:
        await known(desk, 1)
    assert [
        (entry["source"], entry["message"])
        for entry in logged
        if entry["event"] == "content.problem"
    ] == [
        (
            f"{elsewhere.url}/warranty.html",
            "The page no longer exists (status 404) and is left out.",
        )
    ]
    assert [entry["kept"] for entry in logged if entry["event"] == "content.web.read"][:1] == [1]
    async with serving(tmp_path / "data", *settings, folder=own) as desk:
        assert any("The page no longer exists" in line for line in desk.report)


async def test_without_addresses_nobody_is_asked(own: Path, tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", folder=own) as desk,
        aiohttp.ClientSession(desk.url) as http,
        http.get("/ready") as response,
    ):
        assert (await response.json())["documents"] == 1
        assert not any("elsewhere" in line for line in desk.report)
        assert not (tmp_path / "data" / "web").exists()


@pytest.mark.slow
async def test_a_round_is_a_schedule_which_its_operator_has_begun_at_once(
    elsewhere: Website, own: Path, tmp_path: Path
) -> None:
    data, settings = tmp_path / "data", reads(elsewhere, "/warranty.html")
    async with serving(data, *settings, folder=own) as desk:
        await known(desk)
        assert (await round_done(desk, 1)).did == 1
        knowledge = desk.desk.knowledge
        revision = knowledge.library.revision
        elsewhere.put("/warranty.html", WARRANTY.replace("seven", "eight"))
        code, _, wrong = await run("jobs", "run", "content", "--data", data)
        assert (code, wrong) == (0, [])
        async with asyncio.timeout(60):  # it may have been replaced before the command ended
            while knowledge.library.revision == revision:
                await knowledge.replaced()
        assert (await round_done(desk, 2)).every == 3600


async def round_done(desk: RunningServer, runs: int) -> StoredSchedule:
    """Wait until so many rounds are over."""
    async with asyncio.timeout(60):
        while True:
            (found,) = [one for one in await schedules(desk.store) if one.name == "content"]
            if found.runs == runs and found.leased_by is None:
                return found
            await asyncio.sleep(0.01)
