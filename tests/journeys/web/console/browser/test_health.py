"""Operators see at the console how the desk is, in Chromium.

Playwright is imported by the fixtures alone: ``make test`` collects this file without having it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.app.server import open_server
from aitp_desk.capability import Capability, Health, Schema, document_of
from aitp_desk.config import load_config
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import PHONE, WIDE, at_console
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import SITE

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

TWO_LINES = 60
"""Higher than one line of a table, in pixels of the page."""


class Nothing(msgspec.Struct, frozen=True):
    """A message that says nothing."""


class Watcher(Capability):
    """Watches two other desks."""

    slug = "watcher"

    def schemas(self) -> tuple[Schema, ...]:
        """One version, of nothing."""
        messages = {"watch": Nothing}
        return (Schema(version=1, messages=messages, document=document_of(messages, "W")),)

    def watched(self) -> Mapping[str, Health | None]:
        """One is well, one is gone."""
        return {"shop": None, "bank <b>": Health("down", "It is gone.")}


@pytest.fixture
def unread(tmp_path: Path) -> Path:
    """A file of the site's content that cannot be read."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nText.\n")
    bad = folder / "bad.txt"
    bad.write_bytes(b"caf\xe9")
    return bad


@pytest_asyncio.fixture(loop_scope="session")
async def desk(tmp_path: Path, unread: Path) -> AsyncIterator[Talker]:
    async with talking(tmp_path, site=unread.parent) as talker:
        yield talker


async def test_a_problem_is_shown_on_top_until_it_is_solved(
    desk: Talker, tmp_path: Path, unread: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_console(browser, desk.desk, tmp_path / "data") as anna:
        top = anna.page.get_by_role("banner").get_by_role("link", name="Degraded")
        await expect(top).to_be_visible()
        told = anna.page.locator("[data-announcer]")  # to those who cannot see it
        await expect(told).to_contain_text("The desk works, but with problems.")
        await top.click()
        knowledge = anna.page.get_by_role("row", name="knowledge")
        await expect(knowledge).to_contain_text("Degraded")
        await expect(knowledge).to_contain_text("Files of the content cannot be read: 1")
        await expect(anna.page.get_by_role("row", name="store")).to_contain_text("Up")

        await asyncio.to_thread(unread.write_text, "Coffee.")
        await desk.desk.desk.knowledge.refresh()
        await anna.press("1", "4")
        await expect(anna.page.get_by_text("Everything works.")).to_be_visible()
        await expect(top).to_be_hidden()


async def test_other_desks_that_this_one_watches_stand_apart(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    chosen = ("limits.enabled=false", "capabilities.watcher={}")
    config = load_config(SITE, chosen, port=0, data=tmp_path / "data")
    async with (
        open_server(config, capabilities_beside={"watcher": Watcher}) as desk,
        at_console(browser, desk, tmp_path / "data") as anna,
    ):
        await anna.press("4")
        others = anna.page.get_by_role("region", name="Other desks that this one watches")
        await expect(others.get_by_role("row", name="shop")).to_contain_text("Up")
        bank = others.get_by_role("row", name="bank <b>")
        await expect(bank).to_contain_text("Down")
        await expect(bank).to_contain_text("It is gone.")
        assert await find_flaws(anna.page) == []


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", WIDE), ("dark", WIDE), ("light", PHONE)]
)
async def test_axe_finds_nothing_wrong_with_it(
    desk: Talker,
    tmp_path: Path,
    browser: OpenBrowser,
    expect: Expect,
    scheme: str,
    viewport: dict[str, int],
) -> None:
    data = tmp_path / "data"
    options: dict[str, Any] = {"color_scheme": scheme, "viewport": viewport}
    async with at_console(browser, desk.desk, data, **options) as anna:
        if viewport == PHONE:
            await anna.page.locator("summary", has_text="anna").click()
            await anna.page.get_by_role("link", name="Health").click()
        else:
            await anna.press("4")
        row = anna.page.get_by_role("row", name="knowledge")
        await expect(row).to_be_visible()
        cell = await row.get_by_role("cell").first.bounding_box()  # the state, as high as a line
        assert cell is not None
        assert cell["height"] < TWO_LINES
        why = await row.get_by_text("Files of the content cannot be read").bounding_box()
        assert why is not None
        assert why["x"] + why["width"] <= viewport["width"]  # also on a phone it is seen
        assert await find_flaws(anna.page) == []
        assert not await anna.is_too_wide()
