"""``aitp-desk transport``: what is enabled, whether it works, and a message by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.support.desk.command import run
from tests.support.transports.platforms import LOOPBACK, CarriedDesk, carrying
from tests.support.transports.telegram_platform import TelegramPlatform

SETTINGS = ("--set", LOOPBACK)
GROUP = -1001234567890


@pytest_asyncio.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CarriedDesk]:
    """A desk that serves with Telegram, whose credentials the commands find too."""
    async with carrying(tmp_path, "telegram") as carried:
        for name, value in carried.platform.environment.items():
            monkeypatch.setenv(name, value)
        yield carried


async def test_the_list_names_the_address_to_register(desk: CarriedDesk, tmp_path: Path) -> None:
    url = f"site.url={desk.talker.desk.url}"
    code, lines, _ = await run("transport", "list", tmp_path / "site", "--set", url)
    assert code == 0
    assert f"telegram\tenabled\t{desk.talker.desk.url}/transports/telegram/updates" in lines
    assert "slack\tnot enabled: add [transports.slack] to desk.toml" in lines


async def test_the_steps_of_a_test_are_told_while_the_desk_serves(
    desk: CarriedDesk, tmp_path: Path
) -> None:
    command = ("transport", "test", "telegram", tmp_path / "site", "--data", tmp_path / "data")
    _, lines, _ = await run(*command, *SETTINGS)
    assert lines
    assert lines[0].startswith("ok   ")


async def test_a_test_tells_whether_the_address_leads_to_the_desk(
    desk: CarriedDesk, tmp_path: Path
) -> None:
    command = ("transport", "test", "telegram", tmp_path / "site", "--data", tmp_path / "data")
    url = desk.talker.desk.url
    code, lines, _ = await run(*command, *SETTINGS, "--set", f"site.url={url}")
    assert lines[-1] == f"ok   The desk answers at {url}/transports/telegram/updates."
    assert code == 0
    async with TestServer(web.Application()) as other:
        wrong = str(other.make_url("")).rstrip("/")
        code, lines, _ = await run(*command, *SETTINGS, "--set", f"site.url={wrong}")
    assert code == 1
    assert lines[-1].startswith(f"FAIL The desk answers at {wrong}/transports/telegram/updates.")
    assert "status 404" in lines[-1]
    code, lines, _ = await run(*command, *SETTINGS, "--set", f"site.url={wrong}")
    assert code == 1
    assert "Start the desk" in lines[-1]


async def test_a_test_sends_a_message_to_the_operators(desk: CarriedDesk, tmp_path: Path) -> None:
    platform = desk.platform
    assert isinstance(platform, TelegramPlatform)
    platform.add_group(GROUP, "Tickets")
    url = ("--set", f"site.url={desk.talker.desk.url}")
    command = ("transport", "test", "telegram", tmp_path / "site", "--data", tmp_path / "data")
    room = "transports.telegram.operators='{}'"
    code, lines, _ = await run(*command, *SETTINGS, *url, "--set", room.format(GROUP))
    assert code == 0
    assert lines[-1] == f"ok   Tickets reach {GROUP}. The message was deleted again."
    assert platform.sent == []
    code, lines, _ = await run(*command, *SETTINGS, *url, "--set", room.format(f"{GROUP}9"))
    assert code == 1
    assert lines[-1].startswith(f"FAIL Tickets reach {GROUP}9.")
    assert "operators must name" in lines[-1]


async def test_a_wrong_credential_ends_the_test_and_says_so(
    desk: CarriedDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "1:" + "x" * 35)
    command = ("transport", "test", "telegram", tmp_path / "site", "--data", tmp_path / "data")
    code, lines, _ = await run(*command, *SETTINGS)
    assert code == 1
    assert lines[-1].startswith("FAIL ")


async def test_a_transport_that_is_not_enabled_is_named(tmp_path: Path) -> None:
    (tmp_path / "about.md").write_text("# About\n", encoding="utf-8")
    code, _, faults = await run("transport", "test", "telegram", tmp_path)
    assert code == 1
    assert any("[transports.telegram]" in line for line in faults)


async def test_a_check_finds_settings_that_cannot_work(tmp_path: Path) -> None:
    (tmp_path / "about.md").write_text("# About\n", encoding="utf-8")
    for text, fault in (
        ("[transports.carrier]\n", "no installed package has a transport of this name"),
        ("[transports.telegram]\nusername = 'bot'\nlanguage = 'en'\n", "there is no setting"),
        (
            "[transports.telegram]\nusername = '@shop_bot'\n",
            "username does not have the expected form. The bot's user name, without @",
        ),
        ("[transports.matrix]\nuser = '@d:a.b'\n", "homeserver is missing. Address of"),
        (
            "[transports.email]\naddress = 'desk@a.b'\nsmtp = {host = 'a.b', port = 99999}\n",
            "smtp.port has a wrong value: Expected `int` <= 65535. 587 for starttls",
        ),
        ("[transports.slack]\nquiet_hours = '22-7'\n", "such as 22:00-07:00"),
        ("[transports.slack]\nblocked = [5]\n", "blocked has a wrong value: Expected `str`"),
    ):
        (tmp_path / "desk.toml").write_text(text, encoding="utf-8")
        code, _, faults = await run("check", tmp_path)
        assert code == 1
        assert any(fault in line for line in faults), faults
        assert not any("regex" in line or "`$" in line for line in faults), faults


async def test_a_check_names_opened_actions_that_the_site_lacks(
    desk: CarriedDesk, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    text = (
        "from aitp_desk.actions import action\n@action\ndef book_court() -> None:\n    'Books.'\n"
    )
    (site / "actions.py").write_text(text, encoding="utf-8")
    opened = "transports.telegram.actions=['book_cort', 'book_court']"
    code, lines, _ = await run("check", site, "--set", opened)
    assert code == 0
    assert lines[0] == (
        "transports.telegram, actions: the site has no action named 'book_cort';"
        " did you mean book_court?"
    )
    assert not any("'book_court'" in line for line in lines)
