"""Operators at the console where something is to be signed, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.access.signatures import ORDER, sign_request
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import at_console
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

SLUG = "aitp.dev/sign"


def part(**message: Any) -> str:
    return json.dumps({"$schema": SLUG, **message})


async def open_thread(guest: Talker, *messages: Any) -> str:
    actor = {"id": "guest", "capabilities": [{"schema": SLUG}]}
    return str((await guest.open(*messages, wait=10, metadata={"actors": [actor]})).id)


async def structured(guest: Talker, thread: str, key: str) -> list[dict[str, Any]]:
    read = [json.loads(text) for text in await guest.texts(thread) if text.startswith("{")]
    return [one[key] for one in read if key in one]


async def test_an_operator_reads_what_the_site_is_to_sign_and_signs_it(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    settings = ("capabilities.sign.open_for=3600",)
    async with talking(tmp_path, *settings, agent=ScriptedAgent()) as talker:
        guest = await talker.with_key("threads")
        request = {**ORDER, "text": "I sell\u202e it."}
        thread = await open_thread(
            guest, {"role": "user", "content": part(request_signature=request)}
        )
        async with at_console(browser, talker.desk, tmp_path / "data") as anna:
            await anna.go(f"#/threads/{thread}")
            card = anna.page.get_by_role("group", name="Asks for a signature")
            await expect(card).to_contain_text("| I sell⟦U+202E⟧ it.")
            await expect(card).to_contain_text("Waits for an answer")
            await anna.button("Answer…").click()
            await expect(anna.dialog).to_contain_text("| I sell⟦U+202E⟧ it.")
            await anna.dialog.get_by_role("button", name="Answer").click()
            assert not await structured(guest, thread, "signature"), "nothing was chosen"
            assert await find_flaws(anna.page) == []
            await anna.dialog.get_by_label("Sign this for the site").check()
            await anna.dialog.get_by_role("button", name="Answer").click()
            await expect(anna.dialog).to_have_count(0)
            await expect(card).to_contain_text("Answered just now")
        (signature,) = await structured(guest, thread, "signature")
        assert signature["request_id"] == ORDER["id"]


async def test_an_operator_asks_for_a_signature_and_sees_it_come(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    settings = ("capabilities.sign.open_for=3600",)
    async with talking(tmp_path, *settings, agent=ScriptedAgent()) as talker:
        guest = await talker.with_key("threads")
        thread = await open_thread(guest, {"role": "user", "content": "Hello"})
        async with at_console(browser, talker.desk, tmp_path / "data") as anna:
            await anna.open_thread(thread)
            await anna.take_over()
            await anna.button("Ask…").click()
            await anna.dialog.get_by_label("Question").fill("Your order")
            await anna.dialog.get_by_label("Text to sign").fill(ORDER["text"])
            await anna.dialog.get_by_role("button", name="Ask", exact=True).click()
            await expect(anna.dialog).to_have_count(0)
            card = anna.page.get_by_role("group", name="Asks for a signature")
            await expect(card).to_contain_text(f"| {ORDER['text']}")
            (asked,) = await structured(guest, thread, "request_signature")
            await guest.post(thread, part(signature=sign_request(asked)))
            await expect(card).to_contain_text("Answered just now")
        (result,) = await structured(guest, thread, "signature_result")
        assert result["result"] == "success"
