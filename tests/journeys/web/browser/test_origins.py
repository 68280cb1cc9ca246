"""Pages of other sites use a real desk in Chromium, which keeps the rules that it is told.

Playwright is imported when a browser is opened (``chromium.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.desk.server import serving
from tests.support.doubles.website import website

pytestmark = BROWSER_MARKS

FETCHED = """async ([url, options]) => {
  try {
    const response = await fetch(url, options);
    const limit = response.headers.get("X-RateLimit-Limit");
    return [response.type, response.status, limit, (await response.text()).slice(0, 9)];
  } catch (error) {
    return [error.name];
  }
}"""
ASKED = '{"ahp":"0.1","capability":"contact","query":"How do I reach you?"}'
PAGE = "<!doctype html><title>Elsewhere</title><p>A page of another site."


async def test_a_page_of_a_named_site_asks_and_of_another_reads_what_is_open(
    tmp_path: Path, browser: OpenBrowser
) -> None:
    async with website() as named, website() as other:
        settings = (f"cors.origins=['{named.url}']", "limits.enabled=true")
        async with serving(tmp_path / "data", *settings) as desk, browser() as context:

            async def fetch(origin: str, path: str, **options: Any) -> list[Any]:
                page = await context.new_page()
                await page.goto(f"{origin}/")
                told: list[Any] = await page.evaluate(FETCHED, [desk.url + path, options])
                return told

            for site in (named, other):
                site.put("/", PAGE)
                assert await fetch(site.url, "/llms.txt") == ["cors", 200, "120", "# My site"]
                told = await fetch(site.url, "/about.md", headers={"If-None-Match": '"x"'})
                assert told[:2] == ["cors", 200]
            own = {"X-Stainless-Lang": "js"}  # as a client of the OpenAI API adds some of its own
            asked = {"method": "POST", "headers": {"Content-Type": "application/json", **own}}
            told = await fetch(named.url, "/agent/converse", body=ASKED, **asked)
            assert told == ["cors", 200, "30", '{"status"']
            told = await fetch(named.url, "/v1/threads/thread_none", method="DELETE")
            assert told[:2] == ["cors", 404]
            for options in (asked, {"method": "POST"}, {"method": "POST", "mode": "no-cors"}):
                told = await fetch(other.url, "/agent/converse", body=ASKED, **options)
                assert told in (["TypeError"], ["opaque", 0, None, ""])
            assert await fetch(other.url, "/v1/models") == ["TypeError"]
            await desk.store.settled()
            assert (await fetch(named.url, "/v1/models"))[:2] == ["cors", 200]


async def test_the_pages_stand_in_no_frame_and_run_no_text(
    tmp_path: Path, browser: OpenBrowser
) -> None:
    async with website() as other, serving(tmp_path / "data") as desk, browser() as context:
        other.put("/", f'{PAGE}<iframe src="{desk.url}/"></iframe>')
        page = await context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        await page.goto(f"{other.url}/")
        assert any("frame-ancestors" in text for text in said), said
        assert page.frames[1].url.startswith("chrome-error:")
        await page.goto(f"{desk.url}/")
        for attempt in (
            "document.body.innerHTML = '<p>made from text</p>'",
            "document.write('<p>made from text</p>')",
            "setTimeout('document.title = 1', 0)",
        ):
            told = await page.evaluate(
                "text => { const script = document.createElement('script');"
                " try { script.textContent = text; document.body.append(script); return 'ran' }"
                " catch (error) { return error.name } }",
                attempt,
            )
            assert told == "TypeError", attempt
        assert "made from text" not in await page.content()
