"""Mails in Chromium: as narrow as a phone, as wide as a mail program, light and dark."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from aitp_desk.transports.email.letter.letter import Envelope, Site, write_letter
from aitp_desk.transports.messages import EarlierMessage, Field, Form, Outgoing, Source
from aitp_desk.transports.pages.html import Link, render_action_page
from aitp_desk.transports.pages.questionnaire import render_fields
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.transports.mail_server import parsed, part_of

pytestmark = BROWSER_MARKS

TEXT = f"""# Lamps

We have **two** lamps, see [the list](https://shop.example/lamps?{"q" * 200}).

## Prices

| Lamp | Price | {"Column" * 12} |
|---|---|---|
| Arc | 10 € | {"w" * 120} |

> A quotation

1. One
2. Two with `{"code" * 40}`

```
{"a long line of code " * 12}
```

{"unbroken" * 40} 日本語の文章{"です" * 80}
"""
MESSAGE = Outgoing(
    id="m1",
    conversation="c" * 16,
    recipient="ada@people.example",
    text=TEXT,
    subject="Lamps",
    answers_ref="a@people.example",
    sources=(Source(title="Lamps " * 20, url=f"https://shop.example/{'x' * 150}"),),
    earlier=(EarlierMessage(speaker="ada@people.example", text="Which lamps?", sent_at=60),),
)
ENVELOPE = Envelope(
    message_id="m1@shop.example",
    recipient="ada@people.example",
    reply_to="desk+abc@shop.example",
    unsubscribe="https://shop.example/transports/email/unsubscribe?link=abc",
    buttons=(
        Link("Yes, two lamps", "https://shop.example/press", "primary"),
        Link(
            "No, and this is a label of some length that wraps", "https://shop.example/n", "danger"
        ),
    ),
    now=1_000_000_000.0,
)
FORM = Form(
    token="t",
    title="Delivery",
    submit="Send",
    fields=(
        Field(name="name", label="Name", is_required=True, hint="As on the bell"),
        Field(name="gift", label="As a gift", kind="boolean"),
        Field(name="day", label="Day", kind="date"),
        Field(name="size", label="Size", kind="choice", choices=(("s", "Small"),)),
        Field(name="extras", label="Extras", kind="choices", choices=(("a", "A"), ("b", "B"))),
    ),
)
COLOURS = ("#0b5fff", "#ffcc00", "#111111", "#ffffff", "#808080", "#2e7d32")


def letter(colour: str) -> str:
    site = Site(address="desk@shop.example", name="Lamp shop", colour=colour)
    return part_of(parsed(write_letter(MESSAGE, site, ENVELOPE)), "html")


def form_page(colour: str) -> str:
    given = {"f0": ["Ada"], "f1": ["yes"], "f3": ["s"], "f4": ["b"]}
    return render_action_page(
        language="en",
        title=FORM.title,
        lead="Please check this field: Name.",
        site="Lamp shop",
        colour=colour,
        action=FORM.submit,
        fields=render_fields(FORM, given),
    ).decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 700])
@pytest.mark.parametrize("make", [letter, form_page])
async def test_everybody_can_read_it(
    browser: OpenBrowser, make: Any, width: int, scheme: Literal["light", "dark"]
) -> None:
    """Nothing scrolls sideways, nothing is loaded, and axe finds no flaw, contrast included."""
    viewport = {"width": width, "height": 900}
    async with browser(viewport=viewport, color_scheme=scheme) as context:
        page = await context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        for colour in COLOURS:
            await page.set_content(make(colour))
            # axe takes a page without a background for a white one; the browser's may be dark
            await page.add_style_tag(content="html { background: Canvas }")
            sizes = await page.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth,"
                " ...[...document.querySelectorAll('main *')].map("
                "one => one.getBoundingClientRect().right)]"
            )
            assert max(sizes) <= width, colour
            assert await find_flaws(page) == [], colour
            background = await page.evaluate("getComputedStyle(document.body).color")
            assert (background == "rgb(255, 255, 255)") == (scheme == "dark")
        assert requests == []


async def test_a_program_that_drops_the_head_shows_the_same(browser: OpenBrowser) -> None:
    """Webmail shows the body within its own page, without the head and its styles."""
    html = letter("#0b5fff")
    inner = html.partition("<main")[2].partition("</body>")[0]
    async with browser(viewport={"width": 320, "height": 900}) as context:
        page = await context.new_page()
        await page.set_content(f'<body style="margin:8px"><main{inner}</body>')
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320
        assert await page.locator("a", has_text="Yes, two lamps").is_visible()
