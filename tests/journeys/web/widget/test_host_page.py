"""What the page around the chat tells it and learns from it, in a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_asyncio

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.app.server import RunningServer
from tests.docs.snippets import DEMO_URL, ROOT
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import at_chat, hosting, write_host_page
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent

if TYPE_CHECKING:
    from playwright.async_api import Expect, Route

pytestmark = BROWSER_MARKS

CONTEXT = {"product": "Stove", "page": "/stove?ref=1", "inStock": True}


async def act(turn: Turn) -> Outcome:
    """Answer, by an action where the question asks for one."""
    if turn.question == "Break.":
        raise ValueError("It breaks.")
    used = ("find_order",) if "order" in turn.question else ()
    return Answer("Yes.", tools_used=used)


class Ground(NamedTuple):
    """A desk, an operator, what was asked of its agent, and the address of a page with the chat."""

    desk: RunningServer
    anna: Operator
    agent: ScriptedAgent
    url: str


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    agent = ScriptedAgent(act)
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with (
            serving(tmp_path / "data", named, agent=agent) as desk,
            operating(desk, tmp_path / "data") as anna,
        ):
            site.put("/", write_host_page(desk.url), desk.url)
            yield Ground(desk, anna, agent, f"{site.url}/")


async def test_what_the_page_says_reaches_the_agent_as_data(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, is_open=False) as visitor:
        await visitor.hear()
        await visitor.call("setContext", CONTEXT)  # before the chat is loaded
        await visitor.open()
        await visitor.ask("Is this light?")
        await expect(visitor.answers).to_have_count(1)
        page = '{"product":"Stove","page":"/stove?ref=1","inStock":true}'
        assert ground.agent.turns[0].page == page
        await visitor.call("setContext", {"product": "x" * 600})
        (error,) = await visitor.heard("error")
        assert error["code"] == "context_too_long"
        assert error["text"] == "setContext: 614 characters of JSON, at most 500"
        await visitor.ask("And this?")
        await expect(visitor.answers).to_have_count(2)
        assert ground.agent.turns[1].page == page
        await visitor.call("setContext", None)
        await visitor.ask("And now?")
        await expect(visitor.answers).to_have_count(3)
        assert ground.agent.turns[2].page == ""


async def test_the_page_hears_of_all_that_happens(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, is_open=False) as visitor:
        await visitor.hear()
        await visitor.call("ask", "Where is my order?")
        await expect(visitor.answers).to_have_count(1)
        assert await visitor.heard("ready") == [None]
        assert await visitor.heard("open") == [None]
        assert await visitor.heard("message") == [{"text": "Where is my order?"}]
        assert await visitor.heard("action") == [{"names": ["find_order"]}]
        assert await visitor.heard("answer") == [{"text": "Yes.", "name": ""}]
        thread = await visitor.thread()
        await ground.anna.post(f"threads/{thread}/take")
        await ground.anna.post(f"threads/{thread}/say", words="Hello, it is Anna.")
        await expect(visitor.people).to_have_count(1)
        assert (await visitor.heard("handover"))[0]["name"].lower() == "anna"
        assert (await visitor.heard("answer"))[1]["text"] == "Hello, it is Anna."
        await visitor.call("newConversation")
        await expect(visitor.questions).to_have_count(0)
        await visitor.call("close")
        await expect(visitor.panel).to_have_count(0)
        assert await visitor.heard("close") == [None]
        await visitor.call("open")
        await expect(visitor.panel).to_have_count(1)
        assert await visitor.heard("error") == []


async def test_the_page_hears_of_a_question_that_could_not_be_answered(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.hear()
        await visitor.ask("Break.")
        told = "This could not be answered. Please ask again."
        await expect(visitor.notes).to_have_text(told)
        assert await visitor.heard("error") == [{"text": told, "code": "not_answered"}]
        await visitor.page.reload()
        await visitor.hear()
        await visitor.open()
        await expect(visitor.notes).to_have_text(told)
        assert await visitor.heard("error") == []


async def test_the_page_learns_of_a_message_whose_answer_comes_before_the_response(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    answered = asyncio.Event()

    async def respond_late(route: Route) -> None:
        response = await route.fetch()
        await answered.wait()
        await route.fulfill(response=response)

    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask("Is this light?")
        await expect(visitor.answers).to_have_count(1)
        await visitor.hear()
        await visitor.page.route("**/messages", respond_late)
        await visitor.ask("And this?")
        await expect(visitor.answers).to_have_count(2)
        answered.set()
        await visitor.page.unroute_all(behavior="wait")
        kinds = [kind for kind, _ in await visitor.page.evaluate("window.heard")]
        assert kinds == ["message", "answer"]
        assert await visitor.heard("message") == [{"text": "And this?"}]


async def test_a_chat_within_a_page_that_cannot_be_loaded_is_loaded_later(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, is_open=False) as visitor:
        page = visitor.page
        await page.clock.install()
        await page.route("**/chat.js", lambda route: route.abort())
        async with page.expect_event("requestfailed"):
            await page.evaluate(
                "() => { const chat = document.createElement('aitp-chat');"
                " chat.setAttribute('inline', ''); document.body.append(chat) }"
            )
        await visitor.launcher.click()
        badge = visitor.page.locator(".badge").first
        await expect(badge).to_have_text("!")
        await expect(visitor.launcher).to_have_accessible_name(
            "Open the chat. The site cannot be reached."
        )
        await page.unroute("**/chat.js")
        await page.clock.fast_forward(6000)
        await expect(page.locator("section.panel")).to_be_visible()
        await visitor.launcher.click()
        await expect(page.locator("dialog.panel")).to_be_visible()
        await expect(badge).to_be_empty()
        await expect(visitor.launcher).to_have_accessible_name("Open the chat")


async def test_the_page_of_the_documentation_tutorial_has_the_chat(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    docs = ROOT / "examples" / "documentation"
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named, folder=docs / "docs") as desk:
            page = (docs / "page.html").read_text("utf-8").replace(DEMO_URL, desk.url)
            site.put("/page.html", page, desk.url)
            async with at_chat(browser, f"{site.url}/page.html") as visitor:
                await visitor.ask("How do I install it on Windows?")
                await expect(visitor.answers).to_contain_text(["snapname-setup.exe"])


async def test_a_site_that_the_owner_has_not_named_says_so_at_once_and_to_the_owner_how_to(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as other, at_chat(browser, ground.url, is_open=False) as visitor:
        other.put("/", write_host_page(ground.desk.url), ground.desk.url)
        await visitor.page.goto(f"{other.url}/")
        await visitor.open()
        await visitor.ask("Where is my order?")
        failure = visitor.page.locator(".failure")
        await expect(failure).to_have_text("The site cannot be reached.")
        asked = [one for one in visitor.requests if one.url.endswith("/v1/threads")]
        assert len(asked) == 1
        remedy = f'{ground.desk.url}/: add "{other.url}" to origins of [widget] in desk.toml'
        assert remedy in visitor.faults
        visitor.faults.clear()
