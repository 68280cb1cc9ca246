"""The first actions, as `aitp-desk init --with-actions` writes them, do what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.faults import ActionsError
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from aitp_desk.model.errors import InvalidRequest
from tests.support.access.keys import make_key
from tests.support.desk.command import run, run_apart, run_here
from tests.support.desk.server import serving


async def test_the_first_actions_can_be_called(tmp_path: Path) -> None:
    site = tmp_path / "shop"
    begun = run_here("init", site, "--with-actions")
    assert f"wrote  {site}/actions.py" in begun.out.splitlines()
    assert run_here("check", site).out == f"{site} is ready to serve: 1 page, 2 actions.\n"
    hours, leave = load_actions(load_config(site)).offered
    assert (hours.action.is_open, leave.action.is_open) == (True, False)
    context = Context("call_1", Caller("key:1", ("actions",)))

    said = await hours.perform(hours.read({"day": "Monday"}), context)
    assert said.text == "On Monday we are open from 09:00 to 17:00."
    assert (await hours.perform(hours.read({"day": "Sunday"}), context)).result == {
        "day": "Sunday",
        "opens": None,
        "closes": None,
    }
    with pytest.raises(InvalidRequest, match='must be "Monday" or "Tuesday"'):
        hours.read({"day": "today"})

    left = await leave.perform(leave.read({"text": "Hello.", "reply_to": "a@b.example"}), context)
    assert left.result == {"id": "call_1"}
    (line,) = (site / "notes.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line).items() >= {"id": "call_1", "text": "Hello."}.items()


async def test_the_first_actions_are_served(tmp_path: Path) -> None:
    site = tmp_path / "shop"
    run_here("init", site, "--with-actions")
    # the content is next to the code, as it is where no folder of its own is set
    async with serving(tmp_path / "data", 'content.folder="."', folder=site) as desk:
        assert "  actions    opening_hours, leave_note" in desk.report
        key = await make_key(desk.store, tmp_path / "data", "actions:leave_note")
        async with aiohttp.ClientSession(desk.url) as web:

            async def ask(
                name: str, arguments: dict[str, str], headers: dict[str, str] | None = None
            ) -> tuple[int, Any]:
                question = {"ahp": "0.1", "capability": name, "query": json.dumps(arguments)}
                async with web.post("/agent/converse", json=question, headers=headers) as answer:
                    return answer.status, await answer.json()

            async with web.get("/actions.py") as answer:
                assert answer.status == 404
            status, body = await ask("opening_hours", {"day": "Sunday"})
            assert (status, body["response"]["answer"]) == (200, "We are closed on Sunday.")
            status, body = await ask("opening_hours", {"day": "today"})
            assert (status, body["param"]) == (400, "day")
            status, body = await ask("leave_note", {"text": "Hello."})
            assert (status, body["code"]) == (401, "auth_required")
            bearer = {"Authorization": f"Bearer {key}"}
            status, body = await ask("leave_note", {"text": "Hello."}, bearer)
            assert (status, body["status"]) == (200, "success")
    assert len((site / "notes.jsonl").read_text("utf-8").splitlines()) == 1


async def test_the_command_in_the_first_actions_makes_a_key(tmp_path: Path) -> None:
    site = tmp_path / "shop"
    run_here("init", site, "--with-actions")
    text = (site / "actions.py").read_text("utf-8")
    (command,) = re.findall(r"^# aitp-desk (token create .+)$", text, re.MULTILINE)
    async with serving(site / ".desk", folder=site):
        words = command.replace("FOLDER", str(site)).replace("NAME", "agent").split()
        assert "(agent) with the scopes actions." in "\n".join((await run(*words))[1])


async def test_a_desk_without_pages_says_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    told = "this folder has no content; add Markdown (.md), text (.txt), HTML (.html)"
    async with serving(tmp_path / "data", folder=tmp_path / "site") as desk:
        assert any(line.startswith(f"  problem    {told}") for line in desk.report)
    async with serving(tmp_path / "other") as desk:
        assert not any("no content" in line for line in desk.report)


async def test_a_desk_does_not_begin_with_actions_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n", "utf-8")
    (tmp_path / "desk.toml").touch()
    (tmp_path / "actions.py").write_text("1 / 0", "utf-8")
    with pytest.raises(ActionsError, match=r"actions\.py:1: raised ZeroDivisionError"):
        async with serving(tmp_path / "data", folder=tmp_path):
            pytest.fail("it serves")


@pytest.mark.servers
async def test_serve_tells_of_them_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n", "utf-8")
    (tmp_path / "desk.toml").touch()
    (tmp_path / "actions.py").write_text("1 / 0", "utf-8")
    assert await run_apart("serve", tmp_path, "--port", 0) == (
        1,
        [],
        ["actions.py:1: raised ZeroDivisionError: division by zero."],
    )


def test_check_tells_of_actions_without_settings_which_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n", "utf-8")
    (tmp_path / "actions.py").write_text("1 / 0", "utf-8")
    assert run_here("check", tmp_path).out.splitlines() == [
        "actions.py is not read without a desk.toml; 'aitp-desk init' writes one.",
        f"{tmp_path} is ready to serve: 1 page.",
    ]
    (tmp_path / "desk.toml").touch()
    assert run_here("check", tmp_path).code == 1


def test_check_tells_of_the_sample_page_among_others(tmp_path: Path) -> None:
    site = tmp_path / "shop"
    run_here("init", site)
    (site / "content" / "hours.md").write_text("# Hours\n\nOpen from 9 to 17.\n", "utf-8")
    note, ready = run_here("check", site).out.splitlines()
    assert note.startswith(f"{site}/content/welcome.md: is still the sample page")
    assert ready == f"{site} is ready to serve: 2 pages."
    with (site / "content" / "welcome.md").open("a", encoding="utf-8") as page:
        page.write("We are glad that you are here.\n")
    assert run_here("check", site).out.splitlines() == [ready]


def test_actions_that_are_there_already_are_kept(tmp_path: Path) -> None:
    (tmp_path / "actions.py").write_text("# mine\n", "utf-8")
    kept = run_here("init", tmp_path, "--with-actions").out
    assert f"kept   {tmp_path}/actions.py (it already exists)" in kept.splitlines()
    assert (tmp_path / "actions.py").read_text("utf-8") == "# mine\n"
