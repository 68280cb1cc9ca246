"""The first actions, as `aitp-desk init --with-actions` writes them, do what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loading import load_actions
from aitp_desk.config import load_config
from aitp_desk.model.errors import InvalidRequest
from tests.commands import run_here


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
    with pytest.raises(InvalidRequest, match='takes "Monday" or "Tuesday"'):
        hours.read({"day": "today"})

    left = await leave.perform(leave.read({"text": "Hello.", "reply_to": "a@b.example"}), context)
    assert left.result == {"id": "call_1"}
    (line,) = (site / "notes.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line).items() >= {"id": "call_1", "text": "Hello."}.items()


def test_actions_that_are_there_already_are_kept(tmp_path: Path) -> None:
    (tmp_path / "actions.py").write_text("# mine\n", "utf-8")
    kept = run_here("init", tmp_path, "--with-actions").out
    assert f"kept   {tmp_path}/actions.py (it was there already)" in kept.splitlines()
    assert (tmp_path / "actions.py").read_text("utf-8") == "# mine\n"
