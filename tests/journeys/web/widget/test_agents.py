"""The tools of the page for an agent in the browser (WebMCP), with a stand-in for its part."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.support.access.host_person import sign_person, write_site
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import AtChat, hosting, in_new_tab, write_host_page
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Expect

pytestmark = BROWSER_MARKS

SECONDS = 30

CONTEXT = """
const tools = new Map();
const registerTool = async (tool, { signal }) => {
  if (tools.has(tool.name)) throw new DOMException("twice", "InvalidStateError");
  tools.set(tool.name, tool);
  signal.addEventListener("abort", () => tools.delete(tool.name));
};
Object.defineProperty(document, "modelContext", { value: { registerTool } });
window.tools = tools;
"""
"""What the draft of September 2026 has of `document.modelContext`."""
MORE = '''
from aitp_desk.actions import action


@action(kind="action", blast_radius="self", mutability="irreversible")
def cancel_lamp(number: int, context: Context) -> str:
    """Cancels the order of a lamp for good."""
    return f"Lamp {number} is cancelled."


@action(open_to="anyone", kind="query")
def count_lamps(context: Context) -> int:
    """Counts the lamps."""
    return 3
'''


class Ground(NamedTuple):
    """A desk with actions, an operator, and the address of a page with the chat."""

    desk: RunningServer
    anna: Operator
    url: str


@pytest_asyncio.fixture(loop_scope="session")
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    folder = write_site(tmp_path / "site")
    with (folder / "actions.py").open("a", encoding="utf-8") as actions:
        actions.write(MORE)
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with (
            serving(tmp_path / "data", named, folder=folder) as desk,
            operating(desk, tmp_path / "data") as anna,
        ):
            site.put("/", write_host_page(desk.url), desk.url)
            yield Ground(desk, anna, f"{site.url}/")


async def until(visitor: AtChat, condition: str) -> None:
    """Wait for a condition; the page's policy forbids that the browser evaluates it again."""
    async with asyncio.timeout(SECONDS):
        while not await visitor.page.evaluate(condition):
            await visitor.page.wait_for_timeout(50)


async def names(visitor: AtChat) -> list[str]:
    """The names of the registered tools, once there are any."""
    await until(visitor, "tools.size")
    found: list[str] = await visitor.page.evaluate("[...tools.keys()].sort()")
    return found


async def execute(visitor: AtChat, name: str, **given: Any) -> Any:
    """Call a tool as the browser's agent does."""
    return await visitor.page.evaluate(
        "([name, given]) => tools.get(name).execute(given, {})", [name, given]
    )


async def test_an_agent_of_the_browser_asks_and_acts_with_the_visitors_yes(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    asked: list[str] = []
    agrees = False

    async def decide(dialog: Dialog) -> None:
        asked.append(dialog.message)
        await (dialog.accept() if agrees else dialog.dismiss())

    async with browser(locale="en-US") as context:
        await context.add_init_script(CONTEXT)
        visitor = await in_new_tab(context, ground.url)
        visitor.page.on("dialog", decide)
        assert await names(visitor) == ["ask", "count_lamps"]
        hint = await visitor.page.evaluate("tools.get('count_lamps').annotations.readOnlyHint")
        assert hint is True
        answer = await execute(visitor, "ask", question="How long may I return a book?")
        assert "14 days" in answer
        await expect(visitor.words).to_have_text(["How long may I return a book?"])
        counted = await execute(visitor, "count_lamps")
        assert counted["content"][0]["text"] == "3"
        await visitor.identify(sign_person(ground.desk.url))
        await until(visitor, "tools.has('find_my_order')")
        order = await execute(visitor, "find_my_order")
        assert order["content"][0]["text"] == "Order 7 of jwt:website:aya is on its way."
        assert asked == []
        refused = await execute(visitor, "cancel_lamp", number=7, _confirm=True)
        assert refused["isError"]
        assert len(asked) == 1
        assert asked[0].startswith("cancel_lamp: ")
        agrees = True
        done = await execute(visitor, "cancel_lamp", number=7)
        assert done["content"][0]["text"] == "Lamp 7 is cancelled."
        await visitor.identify(None)
        await until(visitor, "tools.size === 2")
        assert await names(visitor) == ["ask", "count_lamps"]
        assert visitor.faults == []


async def test_an_agent_of_the_browser_does_not_wait_for_a_person(
    ground: Ground, browser: OpenBrowser, expect: Expect
) -> None:
    told = "A person was asked. Do not wait: the visitor sees the reply in the chat."
    async with browser(locale="en-US") as context:
        await context.add_init_script(CONTEXT)
        visitor = await in_new_tab(context, ground.url)
        assert "ask" in await names(visitor)
        assert "14 days" in await execute(visitor, "ask", question="How long may I return a book?")
        await ground.anna.post(f"threads/{await visitor.thread()}/take")
        await expect(visitor.notes).to_have_count(1)
        async with asyncio.timeout(SECONDS):
            assert await execute(visitor, "ask", question="May I bring it on Sunday?") == told
        await expect(visitor.words).to_have_count(2)
        assert visitor.faults == []
