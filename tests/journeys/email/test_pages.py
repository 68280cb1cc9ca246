"""The links of a mail, opened in a real browser at a real desk."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.transports.email_platform import EmailPlatform, buttons_of
from tests.support.transports.platforms import CarriedDesk, carrying

pytestmark = BROWSER_MARKS
SECONDS = 60


def here(desk: CarriedDesk, url: str) -> str:
    """The URL of a mail's link at this desk: the site's public one is another."""
    parts = urlsplit(url)
    return f"{desk.platform.desk}{parts.path}?{parts.query}"


async def test_a_button_is_confirmed_on_its_page(tmp_path: Path, browser: OpenBrowser) -> None:
    async with carrying(tmp_path, "email") as desk, browser() as context:
        platform = desk.platform
        assert isinstance(platform, EmailPlatform)
        await platform.write("ada", "Which colours?")
        (asked,) = await platform.server.wait_for(1)
        (_, url) = buttons_of(asked)[1]
        page = await context.new_page()
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        response = await page.goto(here(desk, url))
        assert response is not None
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "script-src" not in response.headers["content-security-policy"]
        button = page.get_by_role("button", name="Blue")
        assert await button.is_visible()
        assert await find_flaws(page) == []
        radius = await button.evaluate("one => getComputedStyle(one).borderRadius")
        assert radius == "6px"  # the page's styles are allowed
        await button.click()
        await page.get_by_text("Your answer was received.").wait_for()
        assert await find_flaws(page) == []
        assert faults == []
        _, answer = await platform.server.wait_for(2)
        assert "You asked: Blue" in answer.part("plain")


async def test_the_mails_are_ended_on_their_page(tmp_path: Path, browser: OpenBrowser) -> None:
    async with carrying(tmp_path, "email") as desk, browser() as context:
        platform = desk.platform
        assert isinstance(platform, EmailPlatform)
        await platform.write("ada", "Do you sell books?")
        (answer,) = await platform.server.wait_for(1)
        url = answer.part("plain").partition("Receive no more mails: ")[2].split()[0]
        page = await context.new_page()
        await page.goto(here(desk, url))
        assert desk.talker.rows("SELECT state FROM transport_conversations") == [("open",)]
        await page.get_by_role("button", name="Receive no more mails").click()
        await page.get_by_text("You receive no more mails.").wait_for()
        async with asyncio.timeout(SECONDS):
            query = "SELECT state FROM transport_conversations"
            while desk.talker.rows(query) != [("stopped",)]:  # noqa: ASYNC110 -- of a store
                await asyncio.sleep(0.02)
