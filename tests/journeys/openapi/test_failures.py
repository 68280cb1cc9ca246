"""What helps after a call has failed is returned each time that a caller asks after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.hac import ACCEPT, face
from tests.support.clients.threads import Talker, Told, talking
from tests.support.sites.orders import Caller

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTIONS = '''
from aitp_desk.actions import PreconditionFailed, Recovery, action


@action(open_to="anyone")
def lists_lamps() -> list[str]:
    """Lists the lamps."""
    return ["Moth"]


def refuse(lamp: str) -> None:
    raise PreconditionFailed(
        f"There is no lamp {lamp}.",
        param="lamp",
        recovery=Recovery("Choose one from the list.", ("lists_lamps",)),
    )


@action(kind="action", mutability="reversible", blast_radius="self")
def reserve(lamp: str) -> bool:
    """Reserves a lamp."""
    refuse(lamp)
    return True


@action(kind="async", mutability="reversible", blast_radius="self")
def engrave(lamp: str) -> bool:
    """Engraves a lamp."""
    refuse(lamp)
    return True
'''
RECOVERY = {"description": "Choose one from the list.", "actions": ["lists_lamps"]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def caller(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("lamps")
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text("", encoding="utf-8")
    async with talking(folder, site=site) as stranger:
        yield await stranger.with_key("actions")


async def call(caller: Talker, name: str, key: str) -> Told:
    headers = [("Idempotency-Key", key)]
    body = {"lamp": "Owl"}
    return await caller.send("POST", f"/capabilities/{name}", body, headers=headers)


async def test_a_repeat_is_told_what_helps_as_the_first_was(caller: Talker) -> None:
    first, again = [await call(caller, "reserve", "k-1") for _ in range(2)]
    assert (first.status, first.body["param"]) == (409, "lamp")
    assert first.body["recovery"] == RECOVERY
    assert {name: again.body[name] for name in first.body} == first.body


async def test_a_poll_of_a_failed_call_returns_what_helps(caller: Talker) -> None:
    accepted = await call(caller, "engrave", "k-2")
    assert accepted.status == 202
    told: Any = {"status": "pending"}
    async with asyncio.timeout(60):
        while told["status"] == "pending":
            await caller.desk.store.settled()
            told = (await caller.send("GET", accepted.body["poll"])).ok
    assert told["status"] == "failed"
    assert told["error"] == {
        "kind": "precondition_failed",
        "message": "There is no lamp Owl.",
        "param": "lamp",
        "recovery": RECOVERY,
    }


async def test_it_is_reported_over_ahp_too(caller: Talker) -> None:
    visitor = Caller(caller, Path())
    said = await visitor.ask({"lamp": "Owl"}, "engrave")
    ended = await visitor.ended(said.session_id)
    assert ended.body["status"] == "failed"
    assert ended.body["error"]["recovery"] == RECOVERY


async def test_agents_are_told_what_helps_as_a_call_that_may_be_made(caller: Talker) -> None:
    headers = (ACCEPT, ("Idempotency-Key", "k-3"))
    for _ in range(2):
        refused = await face(
            caller, "POST", "/capabilities/reserve", {"lamp": "Owl"}, headers=headers
        )
        assert (refused.status, refused.error["x-param"]) == (409, "lamp")
        helps = refused.action("lists-lamps")
        listed = await face(caller, helps["method"], helps["href"], {})
        assert listed.data["result"] == ["Moth"]
    taken = await face(caller, "POST", "/capabilities/engrave", {"lamp": "Owl"})
    assert taken.status == 202
    async with asyncio.timeout(60):
        while (stands := await face(caller, "GET", taken.link("status"))).data["status"] != (
            "failed"
        ):
            await caller.desk.store.settled()
    assert stands.rels == ["lists-lamps"]
