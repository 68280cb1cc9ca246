"""Files in the chat, in a browser: chosen, dropped, pasted, cancelled, refused, shown again."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.access.host_person import sign_person, write_site
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import PHONE, AtChat, at_chat, hosting, write_host_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect, FilePayload, Route

pytestmark = BROWSER_MARKS

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NOTE: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"Order A-17. " * 99}
PICTURE: FilePayload = {"name": "tent.png", "mimeType": "image/png", "buffer": PIXEL}
LARGE: FilePayload = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"x" * 3000}
PROGRAM: FilePayload = {"name": "setup.exe", "mimeType": "", "buffer": b"MZ\x00\x01" * 99}
RULES = "Each file up to 2 KB: TXT, PNG"
GIVE = """
([kind, name, type]) => {
  const data = new DataTransfer();
  data.items.add(new File(["It is broken."], name, { type }));
  const log = document.querySelector("aitp-chat").shadowRoot.querySelector(".log");
  const given = kind === "paste" ? { clipboardData: data } : { dataTransfer: data };
  const made = kind === "paste" ? ClipboardEvent : DragEvent;
  const event = new made(kind, { ...given, bubbles: true, cancelable: true });
  log.dispatchEvent(event);
  return event.defaultPrevented;
}
"""
"""Drop a file on the chat or paste it there; returns whether the chat has taken it."""


class Ground(NamedTuple):
    """A desk that takes small files of those it knows, and the address of a page with the chat."""

    desk: RunningServer
    url: str

    def token(self) -> str:
        """A token of a person who is signed in at the website."""
        return sign_person(self.desk.url)


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    folder = write_site(tmp_path / "site")
    async with hosting() as site:
        settings = (
            f"widget.origins=['{site.url}']",
            "files.max_bytes=2048",
            "files.types=['text/plain', 'image/png']",
        )
        async with serving(tmp_path / "data", *settings, folder=folder) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            yield Ground(desk, f"{site.url}/")


async def choose(visitor: AtChat, *files: FilePayload) -> None:
    """Choose files in the browser's dialog."""
    async with visitor.page.expect_file_chooser() as chooser:
        await visitor.page.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files(list(files))


async def test_files_are_uploaded_sent_and_shown_again(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url, viewport=PHONE) as visitor:
        attach = visitor.page.get_by_role("button", name="Attach files")
        rules = visitor.page.get_by_text(RULES)
        await expect(attach).to_have_count(0)
        await expect(rules).to_be_hidden()
        assert not await visitor.page.evaluate(GIVE, ["drop", "a.txt", "text/plain"])
        await visitor.identify(ground.token())
        await expect(rules).to_be_visible()
        await choose(visitor, NOTE, PICTURE)
        waiting = visitor.page.locator("footer .files li")
        await expect(waiting).to_have_text(["note.txt · 2 KB", "tent.png · 1 KB"])
        await expect(visitor.page.locator("progress")).to_have_count(0)
        assert await find_flaws(visitor.page) == []
        await visitor.ask("What is wrong with it?")
        await expect(waiting).to_have_count(0)
        shown = visitor.page.locator(".visitor .files")
        await expect(shown.locator("li")).to_have_text(["note.txt · 2 KB", "tent.png · 1 KB"])
        await expect(shown.get_by_role("img", name="tent.png")).to_be_visible()
        await expect(visitor.answers).to_have_count(1)
        assert await find_flaws(visitor.page) == []
        assert not await visitor.is_too_wide()
        await visitor.page.reload()
        await visitor.open()
        await visitor.identify(ground.token())
        await expect(shown.locator("li")).to_have_text(["note.txt · 2 KB", "tent.png · 1 KB"])
        await expect(shown.get_by_role("img", name="tent.png")).to_be_visible()
        assert not any("eyJ" in request.url for request in visitor.requests)
        await visitor.identify(None)
        await expect(shown).to_have_count(0)


async def test_dropped_and_pasted_files_are_taken_and_need_no_words(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_chat(browser, ground.url) as visitor:
        await visitor.identify(ground.token())
        assert await visitor.page.evaluate(GIVE, ["drop", "one.txt", "text/plain"])
        assert await visitor.page.evaluate(GIVE, ["paste", "two.txt", "text/plain"])
        waiting = visitor.page.locator("footer .files li")
        await expect(waiting).to_have_count(2)
        await expect(visitor.page.locator("progress")).to_have_count(0)
        await visitor.page.get_by_role("button", name="Remove one.txt").click()
        await expect(waiting).to_have_text(["two.txt · 1 KB"])
        await visitor.box.press("Enter")
        await expect(visitor.words).to_have_text(["two.txt"])
        await expect(visitor.page.locator(".visitor .files li")).to_have_text(["two.txt · 1 KB"])


async def test_what_is_refused_or_cancelled_says_so_and_is_not_sent(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    async with at_chat(browser, ground.url) as visitor:
        await visitor.identify(ground.token())
        await choose(visitor, LARGE, PROGRAM)
        refused = visitor.page.locator("footer .files .failure")
        await expect(refused).to_have_text([RULES, RULES])
        await visitor.page.get_by_role("button", name="Remove large.txt").click()
        await visitor.page.get_by_role("button", name="Remove setup.exe").click()
        await visitor.page.route("**/v1/files", hold)
        await choose(visitor, NOTE)
        await expect(visitor.page.get_by_role("progressbar", name="note.txt")).to_be_visible()
        await visitor.box.fill("It waits.")
        await visitor.box.press("Enter")
        await expect(visitor.questions).to_have_count(0)
        await visitor.page.get_by_role("button", name="Remove note.txt").click()
        await expect(visitor.page.locator("footer .files li")).to_have_count(0)
        await visitor.box.press("Enter")
        await expect(visitor.words).to_have_text(["It waits."])
        await expect(visitor.page.locator(".visitor .files")).to_have_count(0)


async def test_where_strangers_may_upload_they_get_the_button(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with hosting() as site:
        settings = (f"widget.origins=['{site.url}']", "files.anonymous=true")
        async with serving(tmp_path / "data", *settings) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with at_chat(browser, f"{site.url}/") as visitor:
                await choose(visitor, NOTE)
                await expect(visitor.page.locator("progress")).to_have_count(0)
                await visitor.ask("What is this?")
                await expect(visitor.answers).to_have_count(1)
                await visitor.page.reload()
                await visitor.open()
                shown = visitor.page.locator(".visitor .files li")
                await expect(shown).to_have_text(["note.txt · 2 KB"])
                async with visitor.page.expect_response("**/v1/files/file_*") as deleted:
                    await visitor.choose("Delete my conversation")
                    await visitor.page.get_by_role("button", name="Delete", exact=True).click()
                answer = await deleted.value
                assert (answer.request.method, answer.status) == ("DELETE", 200)
