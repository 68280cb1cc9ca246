"""A visitor who is signed in at the host site, in a browser: claimed, followed, forgotten."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.access.host_person import sign_person, write_site
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import AtChat, at_chat, hosting, in_new_tab, write_host_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

QUESTION = "How long may I return a book?"
OTHER_QUESTION = "What does gift wrapping cost?"


class Ground(NamedTuple):
    """A desk that accepts the tokens of a website, and the address of a page there."""

    desk: RunningServer
    url: str

    def token(self, person: str = "aya", *, seconds: int = 600) -> str:
        """A token that was signed ten minutes ago or now, and lasts for some seconds from now."""
        now = int(time.time())
        return sign_person(self.desk.url, person, iat=now - 60, exp=now + seconds)


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    folder = write_site(tmp_path / "site")
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        sign_in = "widget.sign_in_url=https://www.shop.example/sign-in"
        async with serving(tmp_path / "data", named, sign_in, folder=folder) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            yield Ground(desk, f"{site.url}/")


def count_shown(visitor: AtChat) -> set[str]:
    """The tokens that went along in an address."""
    return {one.url for one in visitor.requests if "eyJ" in one.url}


async def test_the_conversation_is_claimed_and_follows_the_person(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_contain_text("14 days")
        thread = await visitor.thread()
        assert await visitor.identify(ground.token())
        await expect(visitor.notes).to_have_count(0)
        await visitor.ask(OTHER_QUESTION)
        await expect(visitor.answers.last).to_contain_text("2 EUR")
        await expect(visitor.questions).to_have_count(2)
        status = await visitor.page.evaluate(
            "url => fetch(url).then(answer => answer.status)",
            f"{ground.desk.url}/v1/threads/{thread}",
        )
        assert status == 404
        assert not any("eyJ" in value for value in (await visitor.stored()).values())
        assert count_shown(visitor) == set()
        async with at_chat(browser, ground.url, is_open=False) as elsewhere:
            await elsewhere.identify(ground.token())  # before the chat is loaded
            await elsewhere.open()
            await expect(elsewhere.words).to_have_text([QUESTION, OTHER_QUESTION])
            await elsewhere.ask(QUESTION)
            await expect(visitor.questions).to_have_count(3)
            await expect(visitor.answers).to_have_count(3)
        await visitor.page.reload()
        await visitor.open()
        await expect(visitor.questions).to_have_count(0)
        await expect(visitor.notes).to_have_count(0)
        await visitor.identify(ground.token())
        await expect(visitor.questions).to_have_count(3)
        assert await visitor.thread() == f"~{thread}"


async def test_a_visitor_whom_nobody_has_named_learns_where_to_sign_in(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        link = visitor.page.get_by_role("link", name="Sign in")
        await expect(link).to_have_attribute("href", "https://www.shop.example/sign-in")
        await visitor.ask("Where is my order?")
        told = visitor.answers.last.get_by_role("link", name="https://www.shop.example/sign-in")
        await expect(told).to_be_visible()
        await visitor.identify(ground.token())
        await expect(link).to_have_count(0)
        await visitor.ask("Where is my order?")
        await expect(visitor.answers.last).to_contain_text(re.compile("Order 7 of .*aya is on its"))
        await visitor.identify(None)
        await expect(link).to_be_visible()


async def test_signing_out_leaves_nothing_and_another_person_sees_nothing(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.identify(ground.token())
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        await visitor.box.fill("My secret draft")
        await visitor.identify(None)
        await expect(visitor.questions).to_have_count(0)
        await expect(visitor.box).to_have_value("")
        assert await visitor.stored() == {}
        text = await visitor.page.evaluate(
            "document.querySelector('aitp-chat').shadowRoot.textContent"
        )
        assert QUESTION not in text
        assert "14 days" not in text
        await visitor.ask(OTHER_QUESTION)
        await expect(visitor.answers).to_contain_text("2 EUR")
        await visitor.identify(ground.token("ben"))
        await expect(visitor.words).to_have_text([OTHER_QUESTION])
        await visitor.identify(ground.token())  # without signing out between
        await expect(visitor.words).to_have_text([QUESTION])
        await visitor.choose("New conversation")
        await expect(visitor.questions).to_have_count(0)
        async with at_chat(browser, ground.url) as elsewhere:
            await elsewhere.identify(ground.token())
            await elsewhere.page.wait_for_timeout(300)
            await expect(elsewhere.questions).to_have_count(0)


async def test_a_token_that_is_over_loses_nothing_and_is_renewed(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.hear()
        assert not await visitor.identify(ground.token(seconds=-5))
        assert [detail["code"] for detail in await visitor.heard("error")] == ["token_expired"]
        assert not await visitor.identify(sign_person("https://elsewhere.example"))
        refused = (await visitor.heard("error"))[1]
        assert refused["code"] == "token_refused"
        assert "(aud)" in refused["text"]
        await visitor.identify(ground.token(seconds=3))
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        await expect(visitor.notes).to_have_text("Your sign-in has ended. Please sign in again.")
        codes = [detail["code"] for detail in await visitor.heard("error")]
        assert codes[2:] == ["token_expired"]
        await visitor.ask(OTHER_QUESTION)
        await expect(visitor.page.locator(".failure")).to_contain_text("sign in again")
        assert await visitor.identify(ground.token())
        await expect(visitor.answers).to_have_count(2)
        await expect(visitor.questions).to_have_count(2)
        await expect(visitor.notes).to_have_count(0)
        await expect(visitor.page.locator(".failure")).to_have_count(0)


async def test_other_tabs_go_on_as_the_same_person(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.ask(QUESTION)
        await expect(visitor.answers).to_have_count(1)
        other = await in_new_tab(visitor.page.context, ground.url)
        await other.open()
        await expect(other.questions).to_have_count(1)
        await visitor.identify(ground.token())
        await expect(other.questions).to_have_count(0)
        await other.identify(ground.token())
        await expect(other.words).to_have_text([QUESTION])
        await visitor.choose("New conversation")
        await expect(other.questions).to_have_count(0)
        await other.ask(OTHER_QUESTION)
        await expect(visitor.words).to_have_text([OTHER_QUESTION])
