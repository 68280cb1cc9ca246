"""The desk is killed within an answer: the chat says so, and has the whole answer afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.processes.halting_answer import BEGINNING, END, GO_ON
from tests.support.browser.chromium import BROWSER_MARKS, OpenBrowser
from tests.support.browser.widget import HostSite, at_chat, hosting, write_host_page
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork

pytestmark = BROWSER_MARKS


@contextmanager
def halting(folder: Path, port: int, site: HostSite) -> Iterator[Server]:
    """A real desk over the same data and port each time."""
    command = desk_command(folder / "data", port, f"widget.origins=['{site.url}']")
    command[command.index("aitp_desk")] = "tests.faults.processes.halting_answer"
    with serving_fork(command, port, log=folder / "log") as server:
        yield server


async def test_a_killed_desk_goes_on_with_the_answer(
    tmp_path: Path, browser: OpenBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.async_api import expect

    monkeypatch.setenv(GO_ON, str(tmp_path / "go_on"))
    port = free_port()
    async with hosting() as site:
        desk_url = f"http://127.0.0.1:{port}"
        site.put("/", write_host_page(desk_url), desk_url)
        with halting(tmp_path, port, site) as server:
            async with at_chat(browser, f"{site.url}/") as visitor:
                await visitor.ask("How long may I return something?")
                writing = visitor.page.locator(".entry.writing")
                await expect(writing).to_contain_text(BEGINNING)
                server.kill()
                await expect(visitor.banner).to_contain_text("The connection was lost.")
                await visitor.ask("And shoes?")
                await expect(visitor.questions.last).to_contain_class("sending")
                (tmp_path / "go_on").touch()
                with halting(tmp_path, port, site):
                    whole = visitor.answers.get_by_text(BEGINNING + END)
                    await expect(whole.first).to_be_visible(timeout=30_000)
                    await expect(visitor.page.locator(".sending")).to_have_count(0, timeout=30_000)
                    await expect(visitor.banner).to_be_hidden()
                    await expect(writing).to_have_count(0)
                    await expect(visitor.answers).to_have_count(2)
                    await expect(visitor.questions).to_have_count(2)
