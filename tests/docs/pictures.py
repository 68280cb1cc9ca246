"""Takes the pictures in `docs/pictures` from the demo shop and its website, in Chromium.

    python -m tests.docs.pictures

writes them again, or into the folder that it is given. The clocks of the desk and of the browser
are set, so that no picture depends on the day; what one shows is asserted before it is taken.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp

from aitp_desk.app.server import RunningServer
from tests.docs.snippets import DEMO_URL, ROOT
from tests.support.access.keys import make_key
from tests.support.browser.chromium import OpenBrowser, browsing
from tests.support.browser.console import at_console
from tests.support.browser.widget import at_chat
from tests.support.clients.threads import THREADS, Talker
from tests.support.desk.server import SHOP, serving
from tests.support.doubles.website import Website, website

if TYPE_CHECKING:
    from playwright.async_api import Page

PICTURES = ROOT / "docs" / "pictures"
NAMES = ("home", "chat", "console", "insights")
WIDTH, HEIGHT = 1280, 800
LOOK: dict[str, Any] = {
    "viewport": {"width": WIDTH, "height": HEIGHT},
    "color_scheme": "light",
    "locale": "en-US",
    "timezone_id": "America/Los_Angeles",
}
NOW = datetime(2026, 6, 18, 17, 20, tzinfo=UTC)

PER_DAY = (2, 4, 3, 5, 1, 0, 4, 6, 5, 7, 6, 2, 1, 5, 6, 4, 8, 7, 3, 2, 6, 9, 7, 8, 6, 3, 4, 8, 5)
"""How many questions visitors ask on the days before."""
QUESTIONS = (
    "How long do I have to return something?",
    "How much is overnight shipping?",
    "Can I pay with PayPal?",
    "Do you rent kayaks?",
    "How long is the warranty on a tent?",
    "Do you deliver to Mexico?",
    "Do you have a student discount?",
    "Can I bring my dog into the store?",
    "What does a new zipper cost?",
    "When is the store in Bend open?",
    "Can you engrave a pot?",
    "How do I wash a down jacket?",
    "Which tent fits three people?",
)
RATINGS = {2: "up", 5: "up", 10: "down"}
"""How visitors rate the answer, by the place of the question."""
NO_DATE = """
const get = Headers.prototype.get;
Headers.prototype.get = function (name) { return name === "Date" ? null : get.call(this, name); };
"""
"""Hides when a response was sent: the console sets its clock by that."""


class Clock:
    """The desk's clock, which moves when it is set."""

    def __init__(self) -> None:
        self._now = NOW.timestamp()

    def __call__(self) -> float:
        return self._now

    def set_back(self, minutes: int) -> None:
        """Set it to so many minutes before `NOW`."""
        self._now = NOW.timestamp() - minutes * 60


class Demo(NamedTuple):
    """The demo shop's desk and a website with its chat, as `make demo` serves them, and a browser.

    Attributes:
        data: the desk's data folder.
        visitor: a caller without a credential.
    """

    desk: RunningServer
    data: Path
    clock: Clock
    site: Website
    visitor: Talker
    browser: OpenBrowser

    async def open_partner(self, name: str) -> Talker:
        """A caller with an API key of this name."""
        key = await make_key(self.desk.store, self.data, "actions", "threads", name=name)
        return Talker(self.desk, self.data, self.visitor.http, key)


@asynccontextmanager
async def serving_demo(folder: Path) -> AsyncIterator[Demo]:
    """Serve copies of both examples on free ports."""
    shop, data, clock = folder / "shop", folder / "data", Clock()
    shutil.copytree(SHOP, shop, ignore=shutil.ignore_patterns(".desk", "shop.db*"))
    async with website() as site, browsing() as browser:
        named = f"site.url={DEMO_URL}", f"widget.origins=['{site.url}']"
        async with (
            serving(data, *named, folder=shop, clock=clock) as desk,
            aiohttp.ClientSession(desk.url) as http,
        ):
            for file in (ROOT / "examples" / "host_site").iterdir():
                type_, _ = mimetypes.guess_type(file.name)
                assert type_ is not None
                page = file.read_text("utf-8").replace(DEMO_URL, desk.url)
                site.put(f"/{file.name}", page, type=type_)
            yield Demo(desk, data, clock, site, Talker(desk, data, http), browser)


async def ask_for_a_month(demo: Demo) -> None:
    """Ask what visitors ask, day by day, and rate some answers."""
    questions = cycle(enumerate(QUESTIONS))
    for ago, count in zip(range(len(PER_DAY), 0, -1), PER_DAY, strict=True):
        demo.clock.set_back(ago * 24 * 60)
        for at, question in islice(questions, count):
            thread = (await demo.visitor.open(question, wait=30)).id
            if at in RATINGS:
                path = f"{THREADS}/{thread}/messages/latest/feedback"
                assert (await demo.visitor.send("POST", path, {"rating": RATINGS[at]})).ok
    demo.clock.set_back(0)


async def show_home(demo: Demo, folder: Path) -> None:
    """The desk's own page, with a question and its answer."""
    from playwright.async_api import expect

    async with at_chat(demo.browser, demo.desk.url, is_open=False, **LOOK) as visitor:
        heading = visitor.page.get_by_role("heading", level=1)
        await expect(heading).to_have_text("Ask Trailhead Outfitters")
        await visitor.ask("Do you have a student discount?")
        await expect(visitor.answers).to_contain_text("get 10% off regular prices")
        source = visitor.answers.get_by_text("Student, military and rescue discount").last
        await visitor.page.locator(".log").evaluate("(log) => log.scrollTo(0, 0)")
        await visitor.page.evaluate("scrollTo(0, 0)")
        await expect(heading).to_be_in_viewport()
        await expect(source).to_be_in_viewport()
        await take(visitor.page, folder / "home.png")


async def show_chat(demo: Demo, folder: Path) -> None:
    """The chat on a website: an answer with its sources, and one of the shop's stock."""
    from playwright.async_api import expect

    async with at_chat(demo.browser, f"{demo.site.url}/index.html", **LOOK) as visitor:
        heading = visitor.page.get_by_role("heading", level=1)
        await expect(heading).to_have_text("Gear that is worth repairing")
        await visitor.ask("How long does a resole take?")
        await expect(visitor.answers).to_contain_text("A resole takes 4 weeks")
        source = visitor.answers.get_by_text("Repairs and care service: Turnaround").last
        await visitor.ask("Is the Larkspur 2 in stock in Bend?")
        stock = visitor.answers.last.get_by_text("(TO-2201): 12 in Bend.")
        await expect(stock).to_be_in_viewport()
        await visitor.page.locator(".log").evaluate("(log) => log.scrollBy(0, -24)")
        for shown in (visitor.words.first, source, stock):
            await expect(shown).to_be_in_viewport()
        await take(visitor.page, folder / "chat.png")


async def show_console(demo: Demo, folder: Path) -> None:
    """The console: three tickets, of which one is taken, and the insights of a month."""
    from playwright.async_api import expect

    async with at_console(demo.browser, demo.desk, demo.data, **LOOK) as anna:
        await anna.page.clock.set_fixed_time(NOW)
        await anna.page.add_init_script(NO_DATE)
        await anna.page.reload()
        asked = (
            ("summit-scouts", "Can a group of 14 rent bear canisters for the first week of July?"),
            ("lava-guides", "Do you buy back 30 used rental packs in the fall?"),
        )
        for at, (name, question) in enumerate(asked, 1):
            demo.clock.set_back(60 - 20 * at)
            partner = await demo.open_partner(name)
            body = {"question": question}
            assert (await partner.send("POST", "/capabilities/contact_human", body)).status == 202
            await expect(anna.rows).to_have_count(at)
        demo.clock.set_back(8)
        thread = (await demo.visitor.open("How long does a resole take?", wait=30)).id
        demo.clock.set_back(4)
        wish = "My boots have been with you for five weeks. Can I talk to a person?"
        await demo.visitor.post(thread, wish, wait=30)
        demo.clock.set_back(0)
        await anna.rows.filter(has_text="My boots").click()
        await anna.button("Take").click()
        await expect(anna.rows).to_have_count(3)
        await expect(anna.rows).to_contain_text(["40 min", "20 min", "4 min"])
        await anna.page.get_by_label("Answer").fill("They came back this morning. See you in Bend!")
        await expect(anna.page.get_by_text("Taken by you").last).to_be_in_viewport()
        await expect(anna.page.get_by_text("A resole takes 4 weeks")).to_be_in_viewport()
        await take(anna.page, folder / "console.png")

        await anna.go("#/insights")
        figures = anna.page.locator(".figures")
        await expect(figures).to_contain_text("Questions142")
        await expect(figures).to_contain_text("Answered85%")
        waiting = anna.page.locator(".unanswered > li")
        await expect(waiting).to_contain_text(["Do you rent kayaks?", "Can you engrave a pot?"])
        await expect(waiting.last).to_be_in_viewport()
        await take(anna.page, folder / "insights.png")


async def take(page: Page, picture: Path) -> None:
    """Write what the window shows, in 256 colours, which are enough and a third of the bytes."""
    from PIL import Image

    await page.mouse.move(0, 0)
    shot = await page.screenshot(animations="disabled", caret="hide")
    with Image.open(BytesIO(shot)) as image:
        image.quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


async def main(folder: Path) -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as temporary:
        async with serving_demo(Path(temporary)) as demo:
            await ask_for_a_month(demo)
            await show_home(demo, folder)
            await show_chat(demo, folder)
            await show_console(demo, folder)


if __name__ == "__main__":
    os.environ["AITP_DESK_MEANING"] = "off"  # as in `make demo`, which installs no model
    asyncio.run(main(Path(sys.argv[1]) if sys.argv[1:] else PICTURES))
