"""What the agent says is shown as it formats it, and nothing in it acts on the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aitp_desk.agent.base import Answer, Event, Turn
from tests.support.browser.accessibility import find_flaws
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.console import at_console
from tests.support.clients.threads import talking

if TYPE_CHECKING:
    from playwright.async_api import Expect

pytestmark = BROWSER_MARKS

SAID = """## Sizes

Boots come in **three** widths [1]:

- narrow
- wide

| Size | Stock |
| --- | --- |
| 42 | 3 |

```sh
curl <b>https://shop.example</b>
```

[Your bank](https://evil.example/login) and [run](javascript:alert(1))
<img src=x onerror="document.title='broken'">"""


class FormattingAgent:
    """Says the same each time."""

    name = "formatting"

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        yield Answer(SAID, tokens_used=5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_markdown_of_the_agent_is_shown_as_elements(
    tmp_path: Path, browser: OpenBrowser, expect: Expect, scheme: str
) -> None:
    async with (
        talking(tmp_path, agent=FormattingAgent()) as talker,
        at_console(browser, talker.desk, tmp_path / "data", "anna", color_scheme=scheme) as anna,
    ):
        visitor = await talker.with_key("threads")
        asked = {"role": "user", "content": "Which **sizes**?"}
        thread = (await visitor.open(asked, wait=10)).id
        await anna.open_thread(thread)
        await expect(anna.said.first).to_have_text("Which **sizes**?")
        said = anna.said.last
        await expect(said.locator("strong")).to_have_text("three")
        await expect(said.locator("li")).to_have_text(["narrow", "wide"])
        await expect(said.locator("td")).to_have_text(["42", "3"])
        await expect(said.locator("pre")).to_have_text("curl <b>https://shop.example</b>")
        await expect(said.locator("a")).to_have_text(["Your bank"])
        await expect(said).to_contain_text("Your bank (evil.example) and run")
        await expect(said).to_contain_text("<img src=x")
        await expect(said.locator("img")).to_have_count(0)
        assert await find_flaws(anna.page) == []
