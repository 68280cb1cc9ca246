"""The page follows its conversation: people's answers, reloads, other tabs, lost connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from aitp_desk.app.server import RunningServer
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import OpenBrowser
from tests.support.browser.page import PHONE, AtPage, at_page
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = pytest.mark.servers

QUESTION = "How long may I return a book?"


class Ground(NamedTuple):
    """A desk, and an operator of its console."""

    desk: RunningServer
    anna: Operator


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with (
        serving(tmp_path / "data") as desk,
        operating(desk, tmp_path / "data") as anna,
    ):
        yield Ground(desk, anna)


async def kept(visitor: AtPage) -> str:
    """The thread that the page has kept."""
    await visitor.followed()
    thread: str = await visitor.page.evaluate("localStorage.getItem('aitp-desk.thread')")
    return thread


async def test_a_person_s_answer_arrives_by_itself_and_once(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, ground.desk, viewport=PHONE) as visitor:
        await visitor.ask(QUESTION)
        thread = await kept(visitor)
        await ground.anna.post(f"threads/{thread}/take")
        note = visitor.page.locator(".log > .note")
        await expect(note).to_have_text("anna has joined and answers from now on.")
        await ground.anna.post(f"threads/{thread}/say", words="For you: **30 days**.")
        party = visitor.page.locator(".party")
        await expect(party.get_by_role("heading", level=2)).to_have_text("anna", timeout=1000)
        await expect(party.locator(".answer")).to_have_text("For you: 30 days.")
        assert await find_flaws(visitor.page) == []
        assert not await visitor.is_too_wide()
        await visitor.ask("Thank you!")
        await ground.anna.post(f"threads/{thread}/say", words="You are welcome.")
        await expect(party.locator(".answer")).to_have_text(
            ["For you: 30 days.", "You are welcome."]
        )
        await expect(visitor.turns).to_have_count(2)
        await ground.anna.post(f"threads/{thread}/release")
        await expect(note.last).to_have_text("The desk answers again.")


async def test_a_reload_keeps_the_conversation_and_its_address_names_nothing(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, ground.desk) as visitor:
        await visitor.ask(QUESTION)
        thread = await kept(visitor)
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words="For you: 30 days.")
        await expect(visitor.page.locator(".party")).to_have_count(1)
        for path in ("/", "/policies/returns"):
            await visitor.page.goto(path)
            await expect(visitor.turn.get_by_role("heading", level=2)).to_have_text(QUESTION)
            await expect(visitor.said).to_contain_text("14 days")
            await expect(visitor.turn.locator(".sources a").first).to_be_visible()
            await expect(visitor.page.locator(".party .answer")).to_have_text("For you: 30 days.")
            assert await find_flaws(visitor.page) == []
        await ground.anna.post(f"threads/{thread}/release")
        await visitor.ask("And second-hand books?")
        assert visitor.posted()[-1]["session_id"] == thread
        await expect(visitor.turns).to_have_count(2)
        pages = [one.url for one in visitor.requests if one.resource_type == "document"]
        assert not any(thread in url or "session_" in url for url in pages)


async def test_other_tabs_show_the_same_conversation(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, ground.desk) as visitor:
        other = AtPage(await visitor.page.context.new_page())
        await other.page.goto("/")
        await visitor.ask(QUESTION)
        await expect(other.said).to_contain_text("14 days")
        await other.ask("What does gift wrapping cost?")
        await expect(visitor.turns).to_have_count(2)
        await expect(visitor.said).to_contain_text("2 EUR")
        await expect(other.turns).to_have_count(2)
        await visitor.page.get_by_role("button", name="New conversation").click()
        await expect(other.turns).to_have_count(0)
        await visitor.page.reload()
        await expect(visitor.turns).to_have_count(0)
        assert other.faults == []


async def test_a_conversation_that_is_gone_is_forgotten(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_page(browser, ground.desk) as visitor:
        unknown = "thread_01k8fajdu3q2tkhjj6dn2rvk0da2r0nkutkh"
        await visitor.page.evaluate(f"localStorage.setItem('aitp-desk.thread', '{unknown}')")
        await visitor.page.reload()
        await visitor.ask(QUESTION)
        await expect(visitor.said).to_contain_text("14 days")
        assert await kept(visitor) != unknown


async def test_a_lost_connection_goes_on_after_what_is_known(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    asked: list[str | None] = []

    async def lose(route: Route) -> None:
        asked.append(route.request.headers.get("last-event-id"))
        if len(asked) == 1:
            await route.fulfill(status=503, headers={"Retry-After": "0"})
        elif len(asked) == 2:
            session = route.request.url.split("/")[-2]
            thread = await visitor.page.evaluate(
                "id => fetch(`/v1/threads/${id}`).then(it => it.json()).then(it => it.id)", session
            )
            body = f'id: 2\nevent: following\ndata: {{"thread_id":"{thread}","after":2}}\n\n'
            await route.fulfill(status=200, content_type="text/event-stream", body=body)
        else:
            await route.continue_()

    async with at_page(browser, ground.desk) as visitor:
        await visitor.page.route("**/events", lose)
        await visitor.ask(QUESTION)
        thread = await kept(visitor)
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words="For you: 30 days.")
        await expect(visitor.page.locator(".party .answer")).to_have_text("For you: 30 days.")
        assert asked[:2] == [None, None]
        assert asked[2] == "2"
