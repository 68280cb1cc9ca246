"""A developer finds an operation at the page about the API, tries it, and reads the response."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import WIDE
from tests.support.sites.shop import shopping

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS
MOST_PIXELS = 4_000
"""The height of the page at 1280 pixels, as it is opened."""
WATCH = """window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""
HEIGHT = "document.documentElement.scrollHeight"
WIDTH = "document.documentElement.scrollWidth"
KEPT = "[Object.keys(localStorage), Object.keys(sessionStorage), document.cookie, location.href]"


async def test_an_operation_is_found_opened_and_tried(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        shopping(tmp_path) as (anybody, _),
        browser(base_url=anybody.talker.desk.url, viewport=WIDE) as context,
    ):
        page = await context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        await page.add_init_script(WATCH)
        await page.goto("/docs")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("for programs")
        assert await page.evaluate(HEIGHT) < MOST_PIXELS
        assert await page.evaluate("window.shifted") < 0.01
        assert await find_flaws(page) == []

        await page.get_by_label("Filter the operations").fill("upload")
        status = page.locator("[data-tools] [role=status]")
        await expect(status).to_contain_text("found.")
        await expect(page.locator("#post_v1_files")).to_be_visible()
        await expect(page.locator("#place_order")).to_be_hidden()
        await page.keyboard.press("Escape")
        await expect(status).to_contain_text("operations")
        await expect(page.locator("#place_order")).to_be_visible()
        await expect(page.locator("#post_v1_files")).to_be_hidden()
        await page.get_by_label("Filter the operations").fill("product")
        line = page.locator("#product_search")
        await line.locator("summary").focus()
        await page.keyboard.press("Enter")
        form = line.get_by_role("form")
        await expect(form).to_be_visible()
        assert await find_flaws(page) == []
        await form.get_by_label("Body").fill('{"words": "stove"}')
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("status")).to_contain_text("200 OK")
        await expect(form.get_by_label("Response")).to_contain_text('"status": "success"')
        assert await find_flaws(page) == []
        await form.get_by_label("Body").fill('{"words": 7}')
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("status")).to_contain_text("400 Bad Request")
        await expect(form.get_by_label("Response")).to_contain_text('"param": "words"')
        assert [one for one in said if "400 (Bad Request)" not in one] == []


async def test_a_credential_is_entered_once_and_kept_nowhere(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        shopping(tmp_path) as (anybody, _),
        browser(base_url=anybody.talker.desk.url, viewport=WIDE) as context,
    ):
        shopper = await anybody.with_key("threads")
        opened = await shopper.talker.open("Hello", wait=0)
        page = await context.new_page()
        await page.goto("/docs#get_v1_threads_thread_id")
        form = page.locator("#get_v1_threads_thread_id").get_by_role("form")
        await form.get_by_label("thread_id").fill(opened.id)
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("status")).to_contain_text("404 Not Found")
        await page.get_by_label("API key or access token").fill(shopper.talker.key or "")
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("status")).to_contain_text("200 OK")
        await expect(form.get_by_label("Response")).to_contain_text(opened.id)
        local, session, cookie, address = await page.evaluate(KEPT)
        assert (local, session, cookie) == ([], [], "")
        assert address.endswith("/docs#get_v1_threads_thread_id")
        await page.reload()
        await expect(page.get_by_label("API key or access token")).to_have_value("")


async def test_a_file_is_uploaded_from_the_page(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with (
        shopping(tmp_path) as (anybody, _),
        browser(base_url=anybody.talker.desk.url, viewport=WIDE) as context,
    ):
        shopper = await anybody.with_key("threads")
        page = await context.new_page()
        await page.goto("/docs#post_v1_files")
        form = page.locator("#post_v1_files").get_by_role("form")
        await page.get_by_label("API key or access token").fill(shopper.talker.key or "")
        (tmp_path / "note.txt").write_text("The tent leaks.")
        await form.get_by_label("file", exact=True).set_input_files(tmp_path / "note.txt")
        await form.get_by_label("purpose").fill("assistants")
        assert await find_flaws(page) == []
        await form.get_by_role("button", name="Send").click()
        await expect(form.get_by_role("status")).to_contain_text("200 OK")
        await expect(form.get_by_label("Response")).to_contain_text('"filename": "note.txt"')


async def test_it_is_read_on_a_phone_in_the_dark_and_a_schema_opens_by_its_link(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    phone = {"width": 375, "height": 740}
    async with (
        shopping(tmp_path) as (anybody, _),
        browser(base_url=anybody.talker.desk.url, viewport=phone, color_scheme="dark") as context,
    ):
        page = await context.new_page()
        await page.goto("/docs#post_v1_threads_thread_id_messages")
        line = page.locator("#post_v1_threads_thread_id_messages")
        await line.get_by_role("link", name="MessageDraft").click()
        schema = page.locator("details[id='schema.MessageDraft']")
        await expect(schema.get_by_text("content", exact=True)).to_be_in_viewport()
        assert await page.evaluate(WIDTH) == phone["width"]
        assert await find_flaws(page) == []
