"""The stall of the tutorial says what it has, and fulfils a call once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aitp_desk.actions import PreconditionFailed
from aitp_desk.actions.base import Caller, Context
from aitp_desk.actions.loader.loader import load_actions
from aitp_desk.config import load_config
from tests.docs.snippets import ROOT
from tests.support.clients.threads import talking
from tests.support.sites.shop import perform

ONE = {"item": "candle", "count": 1}


def test_a_repeated_call_is_one_order_and_another_finds_nothing_left(tmp_path: Path) -> None:
    site = tmp_path / "stall"
    shutil.copytree(ROOT / "examples" / "stall", site, ignore=shutil.ignore_patterns("*.db*"))
    stall = load_actions(load_config(site))
    first, second, owner = (Context(f"call_{n}", Caller()) for n in range(3))
    bought = perform(stall, "order", first, **ONE)
    assert perform(stall, "order", first, **ONE) == bought
    with pytest.raises(PreconditionFailed, match="0 left"):
        perform(stall, "order", second, **ONE)
    assert perform(stall, "to_pack", owner) == [bought]


async def test_a_visitor_learns_what_the_stall_has_and_what_it_costs(tmp_path: Path) -> None:
    site = tmp_path / "stall"
    shutil.copytree(ROOT / "examples" / "stall", site, ignore=shutil.ignore_patterns("*.db*"))
    async with talking(tmp_path, "content.meaning.enabled=false", site=site) as visitor:
        for words, item in (
            ("How many jars of linden honey are left?", "Linden honey (500 g): 12 left"),
            ("How much is heather honey?", "Heather honey (250 g): 5 left, 9.80 EUR each."),
        ):
            told = await visitor.open({"role": "user", "content": words}, wait=10)
            (reply,) = told.ok["replies"]
            assert item in reply["content"][0]
