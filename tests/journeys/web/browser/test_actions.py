"""What the home page offers to do, for who has a key, in Chromium, with a real desk behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.access.keys import make_key
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import AtChat, at_page
from tests.support.desk.server import serving

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

ACTIONS = '''
"""What a lamp shop does: it mends lamps, and lends them."""

from typing import Literal

from aitp_desk.actions import Context, action


@action(kind="async", mutability="reversible", blast_radius="self")
def mend_lamp(fault: Literal["dark", "loud"], context: Context) -> str:
    """Mends a lamp.

    Args:
        fault: what is wrong with it.
    """
    return f"It is not {fault} any more."


@action(kind="action", mutability="reversible", blast_radius="self", confirmation_recommended=True)
def lend_lamp(kind: Literal["tall", "small"], context: Context) -> str:
    """Lends a lamp for a week.

    Args:
        kind: which kind of lamp.
    """
    return f"A {kind} lamp is yours for a week."


@action(open_to="anyone")
def count_lamps(context: Context) -> int:
    """Counts the lamps."""
    return 3
'''


@asynccontextmanager
async def at_lamps(tmp_path: Path, browser: OpenBrowser) -> AsyncIterator[tuple[AtChat, str]]:
    """A visitor at a lamp shop's page, and a key that they have."""
    site, data = tmp_path / "site", tmp_path / "data"
    (site / "content").mkdir(parents=True)
    (site / "content" / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text('[content]\nfolder = "content"\n', encoding="utf-8")
    async with serving(data, folder=site) as desk, at_page(browser, desk) as visitor:
        yield visitor, await make_key(desk.store, data, "actions", "threads")


async def use_key(visitor: AtChat, key: str) -> None:
    """Enter an access key."""
    form = visitor.page.locator(".key")
    await form.locator("summary").click()
    await form.get_by_label("Access key").fill(key)
    await visitor.press("Enter")


async def begin(visitor: AtChat, expect: Expect, act: str, key: str) -> None:
    """Begin what the page offers, with a key."""
    await use_key(visitor, key)
    await expect(visitor.page.locator(".key [role=status]")).to_contain_text("uses this key")
    await visitor.page.get_by_role("button", name=act, exact=True).click()


async def test_what_changes_something_is_offered_and_nothing_else(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_lamps(tmp_path, browser) as (visitor, _):
        offered = visitor.page.locator("[data-action]")
        await expect(offered).to_have_text(["Mend lamp", "Lend lamp"])
        await expect(offered.first).to_have_attribute("title", "Mends a lamp.")
        await visitor.page.locator(".key summary").click()
        assert await find_flaws(visitor.page) == []


async def test_who_has_no_key_learns_what_is_missing(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_lamps(tmp_path, browser) as (visitor, _):
        await visitor.page.get_by_role("button", name="Lend lamp").click()
        await expect(visitor.answers).to_contain_text("visitors whom I do not know")
        await expect(visitor.answers).not_to_contain_text("actions:lend_lamp")
        await expect(visitor.box).to_be_focused()


async def test_a_key_stays_on_the_page(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_lamps(tmp_path, browser) as (visitor, key):
        await use_key(visitor, "desk_wrong")
        said = visitor.page.locator(".key [role=status]")
        await expect(said).to_have_text("This access key is not accepted.")
        await visitor.page.get_by_label("Access key").fill(key)
        await visitor.press("Enter")
        await expect(said).to_have_text("The chat uses this key until you leave the page.")
        await visitor.page.get_by_role("button", name="Lend lamp").click()
        await expect(visitor.answers).to_contain_text("tall")
        kept = await visitor.page.evaluate(
            "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
        )
        assert key not in kept
        assert key not in await visitor.page.content()
        await visitor.page.reload()
        await visitor.page.get_by_role("button", name="Lend lamp").click()
        await expect(visitor.answers.last).to_contain_text("visitors whom I do not know")


async def test_words_answer_what_is_asked_until_it_is_done(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_lamps(tmp_path, browser) as (visitor, key):
        await begin(visitor, expect, "Lend lamp", key)
        await expect(visitor.answers).to_contain_text("tall")
        await visitor.ask("tall")
        await visitor.page.get_by_role("button", name="yes", exact=True).click()
        await expect(visitor.answers.last).to_contain_text("A tall lamp is yours for a week.")
        await visitor.ask("Which lamps do you sell?")
        await expect(visitor.answers.last).to_contain_text("We sell lamps.")


async def test_what_runs_in_the_background_is_reported_in_the_end(
    tmp_path: Path, browser: OpenBrowser, expect: Expect
) -> None:
    async with at_lamps(tmp_path, browser) as (visitor, key):
        await begin(visitor, expect, "Mend lamp", key)
        await visitor.page.get_by_role("button", name="loud").click()
        await expect(visitor.answers.last).to_contain_text("It is not loud any more.")
