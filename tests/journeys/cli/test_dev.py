"""`aitp-desk dev` serves on this machine without limits, and follows changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.support.desk.command import SECONDS, run, serving_command, start
from tests.support.desk.processes import free_port

pytestmark = pytest.mark.servers

ANSWERS = "/assets/desk/answers.json"
"""Where the panel next to the chat reads how answers were found."""


async def report(process: asyncio.subprocess.Process) -> list[str]:
    """The lines of a desk's start, up to the last one."""
    assert process.stdout is not None
    lines: list[str] = []
    async with asyncio.timeout(SECONDS):
        while not lines or "/ready" not in lines[-1]:
            line = await process.stdout.readline()
            assert line, lines
            lines.append(line.decode().rstrip())
    return lines


async def fetch_status(url: str) -> int:
    async with aiohttp.ClientSession() as web, web.get(url) as answer:
        return answer.status


async def test_a_desk_in_development_follows_its_settings(tmp_path: Path) -> None:
    site, port = tmp_path / "site", free_port()
    site.mkdir()
    (site / "page.md").write_text("# Hours\n\nWe open at nine.\n")
    settings = site / "desk.toml"
    settings.write_text("[site]\nname = 'Before'\nurl = 'https://books.example'\n")
    process = await start("dev", site, "--port", port, "--data", tmp_path / "data")
    try:
        url = f"http://127.0.0.1:{port}"
        assert f"aitp-desk serves Before on {url}" in await report(process)
        async with (
            aiohttp.ClientSession(url) as web,
            web.get("/.well-known/api-catalog") as answer,
        ):
            assert url in await answer.text()
            assert "X-RateLimit-Limit" not in answer.headers
        assert await fetch_status(f"{url}{ANSWERS}") == 200
        settings.write_text("[site]\nname = 3\n")
        (site / "actions.py").write_text("1 / 0")
        settings.write_text("[site]\nname = 'Afterwards'\n")
        (site / "actions.py").write_text("")
        assert f"aitp-desk serves Afterwards on {url}" in await report(process)
    finally:
        process.terminate()
        async with asyncio.timeout(SECONDS):
            await process.communicate()
    assert process.returncode == 0
    with pytest.raises(aiohttp.ClientConnectorError):
        async with aiohttp.ClientSession() as web, web.get(url):
            pass


async def test_a_served_desk_explains_nothing(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Hours\n\nWe open at nine.\n")
    async with serving_command(tmp_path, tmp_path / "data") as served:
        assert await fetch_status(f"{served.url}{ANSWERS}") == 404
        assert await fetch_status(f"{served.url}/page") == 200


async def test_a_mistake_in_the_settings_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_text("[site]\nname = 3\n")
    code, lines, errors = await run("dev", tmp_path)
    assert (code, lines) == (1, [])
    assert errors[0].startswith("site.name: is 3")
