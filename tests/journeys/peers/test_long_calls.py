"""A partner's action that takes long: it is followed until its outcome is known here."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import ActionResult, Context, OfferedAction, OutcomeUnknown
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER, Action, Safety
from aitp_desk.model.errors import PreconditionFailed
from tests.support.clients.threads import Talker, Told
from tests.support.desk.jobs import wake_jobs
from tests.support.doubles.agent import Clock
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.sites.partners import LIBRARY, peer, serving_site, write_site

pytestmark = pytest.mark.usefixtures("no_pauses")

KINDS = ("ahp", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("a2a", "mcp")))
"""The protocols through which a partner's actions are called."""
SECONDS = 30
ENGRAVING = {"text": "For Aya"}
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
LONG = Action(
    "engrave_plate",
    "Engraves a plate.",
    "async",
    answer_types=(DATA, TEXT_ANSWER),
    accept_fallback=True,
    input_schema=SCHEMA,
    output_schema={"type": "object", "properties": {"plate": {"type": "string"}}},
    safety=Safety("reversible"),
    deadline_seconds=SECONDS,
)


class Engraver:
    """The partner's side: its call ends as a test says."""

    def __init__(self) -> None:
        self.end: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        self.calls: list[str] = []

    async def engrave(self, arguments: Mapping[str, Any], _context: Context) -> ActionResult:
        self.calls.append(arguments["text"])
        return await asyncio.shield(self.end)

    def finish(self) -> None:
        """End the call with a result."""
        self.end.set_result(ActionResult({"plate": "P-1"}, "The plate P-1 is ready."))


@asynccontextmanager
async def workshop(
    folder: Path, protocol: str, clock: Clock
) -> AsyncIterator[tuple[Talker, Engraver]]:
    """Serve a workshop, and a library that offers its action to a caller with a key.

    Parameters:
        clock: the library's.
    """
    engraver = Engraver()
    site = write_site(folder / "workshop", "# Plates\n\nWe engrave plates.\n")
    offered = OfferedAction(LONG, dict, engraver.engrave)
    async with serving_site(site, actions=(offered,)) as partner:
        guest = await partner.with_key("actions", "threads")
        given: dict[str, Any] = {"bearer_env": "TOKEN", "actions": ["engrave_plate"], "seconds": 6}
        toml = peer(partner.desk.url, title="Plates", protocol=protocol, **given)
        library = write_site(folder / "library", LIBRARY, toml)
        environment = {"TOKEN": guest.key or ""}
        async with serving_site(library, environment=environment, clock=clock) as talker:
            yield await talker.with_key("actions", "threads"), engraver


async def read_until(talker: Talker, read: Callable[[], Awaitable[str | None]]) -> str:
    """Read until there is something, as a client polls: other tests need the processor too."""
    async with asyncio.timeout(SECONDS):
        while (told := await read()) is None:
            await talker.desk.store.settled()
            await asyncio.sleep(0.05)
    return told


def find_pause(talker: Talker) -> int:
    """Return after how many seconds the call is looked at."""
    statement = (
        "SELECT available_at - created_at FROM jobs WHERE kind = 'followed_call' ORDER BY id"
    )
    found: int = talker.rows(statement)[0][0]
    return found


async def pass_time(talker: Talker, clock: Clock, poll: str) -> dict[str, Any]:
    """Let time pass, whenever the call is to be looked at later, until it has ended."""
    begun = int(clock())

    async def read() -> str | None:
        wait = find_pause(talker) - (clock() - begun)
        if wait > 0:
            clock.advance(wait)
            wake_jobs(talker.desk)
        told = (await talker.send("GET", poll)).ok
        return None if told["status"] == "pending" else json.dumps(told)

    ended: dict[str, Any] = json.loads(await read_until(talker, read))
    return ended


@pytest.mark.parametrize("protocol", KINDS)
async def test_a_call_that_a_partner_accepts_is_accepted_here_and_ends_with_its_result(
    tmp_path: Path, protocol: str
) -> None:
    clock = Clock(time.time())
    async with workshop(tmp_path, protocol, clock) as (talker, engraver):
        told = await talker.send("POST", "/capabilities/engrave_plate", ENGRAVING)
        assert (told.status, told.body["status"]) == (202, "accepted"), told.body
        engraver.finish()
        ended = await pass_time(talker, clock, told.body["poll"])
        assert ended["status"] == "success", ended
        assert "P-1" in json.dumps(ended["result"])
        assert engraver.calls == ["For Aya"]


@pytest.mark.parametrize("protocol", KINDS)
@pytest.mark.parametrize(
    ("fault", "state", "words"),
    [
        (PreconditionFailed("The press is broken."), "failed", "The press is broken."),
        (OutcomeUnknown("The line was cut."), "unknown", "The outcome is unknown."),
    ],
)
async def test_its_failure_is_told_as_what_it_is(
    tmp_path: Path, protocol: str, fault: Exception, state: str, words: str
) -> None:
    clock = Clock(time.time())
    async with workshop(tmp_path, protocol, clock) as (talker, engraver):
        told = await talker.send("POST", "/capabilities/engrave_plate", ENGRAVING)
        engraver.end.set_exception(fault)
        ended = await pass_time(talker, clock, told.body["poll"])
        assert ended["status"] == "failed"
        assert words in ended["error"]["message"]
        assert talker.rows("SELECT state FROM calls") == [(state,)]


@pytest.mark.parametrize("calling", ["ahp", "aitp"])
async def test_the_outcome_is_told_on_the_visitors_thread(tmp_path: Path, calling: str) -> None:
    clock = Clock(time.time())
    async with workshop(tmp_path, "", clock) as (talker, engraver):
        asked = {
            "ahp": "0.1",
            "capability": "engrave_plate",
            "query": json.dumps(ENGRAVING),
            "context": {"user_intent": "A gift."},
        }
        told = await talker.send("POST", "/agent/converse", asked)
        assert told.body["status"] == "accepted", told.body
        thread = await talker.thread_of(told.body["session_id"])
        engraver.finish()
        ended = json.dumps(await pass_time(talker, clock, told.body["poll"]))

        async def read() -> str | None:
            texts = await talker.texts(thread)
            return texts[-1] if "P-1" in texts[-1] else None

        told_there = ended if calling == "ahp" else await read_until(talker, read)
        assert "Plates: The plate P-1 is ready." in told_there


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Plates", "version": "1"},
    "paths": {
        "/engrave": {
            "post": {
                "operationId": "engrave_plate",
                "summary": "Engraves a plate.",
                "x-safety": {"mutability": "reversible", "blast_radius": "self"},
                "requestBody": {"content": {"application/json": {"schema": SCHEMA}}},
                "responses": {"202": {"description": "Accepted"}},
            }
        }
    },
}


@asynccontextmanager
async def plain_workshop(
    folder: Path, clock: Clock, retry_after: str
) -> AsyncIterator[tuple[Talker, ScriptedSite]]:
    """Serve a library whose partner has an OpenAPI document, and accepts each call with 202."""
    async with scripted_site() as site:
        site.will("/openapi.json", DOCUMENT, method="GET")
        accepted = {"Location": "/calls/1", "Retry-After": retry_after}
        site.will("/engrave", {"status": "accepted"}, status=202, headers=accepted)
        toml = peer(site.url, title="Plates", actions=["engrave_plate"], seconds=2)
        library = write_site(folder / "library", LIBRARY, toml)
        async with serving_site(library, clock=clock) as talker:
            yield await talker.with_key("actions"), site


async def call(talker: Talker) -> Told:
    """Call the action; that also has the jobs looked at that are due."""
    told = await talker.send("POST", "/capabilities/engrave_plate", ENGRAVING)
    assert told.status == 202, told.body
    return told


async def test_a_partner_that_wants_to_be_asked_later_is_not_asked_sooner(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with plain_workshop(tmp_path, clock, "3000") as (talker, site):
        await call(talker)
        assert 3000 <= find_pause(talker) <= 3000 * 1.25 + 2
        clock.advance(2999)
        await call(talker)
        assert "/calls/1" not in {one.path for one in site.asked}


async def test_a_call_that_has_not_ended_before_it_expires_has_an_unknown_outcome(
    tmp_path: Path,
) -> None:
    clock = Clock(time.time())
    async with plain_workshop(tmp_path, clock, "90000000") as (talker, site):
        told = await call(talker)
        ended = await pass_time(talker, clock, told.body["poll"])
        assert "The outcome is unknown." in ended["error"]["message"]
        assert "/calls/1" not in {one.path for one in site.asked}


@pytest.mark.parametrize("status", [404, 410])
async def test_a_partner_that_forgets_the_call_leaves_its_outcome_unknown(
    tmp_path: Path, status: int
) -> None:
    clock = Clock(time.time())
    async with plain_workshop(tmp_path, clock, "5") as (talker, site):
        told = await call(talker)
        site.will("/calls/1", {"message": "No such call."}, method="GET", status=status)
        ended = await pass_time(talker, clock, told.body["poll"])
        assert "The outcome is unknown." in ended["error"]["message"]


async def test_a_call_that_is_to_be_polled_elsewhere_may_have_been_made(tmp_path: Path) -> None:
    async with scripted_site() as site:
        site.will("/openapi.json", DOCUMENT, method="GET")
        elsewhere = {"Location": "https://other.example/calls/1"}
        site.will("/engrave", {"status": "accepted"}, status=202, headers=elsewhere)
        toml = peer(site.url, title="Plates", actions=["engrave_plate"])
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            buyer = await talker.with_key("actions")
            told = await buyer.send("POST", "/capabilities/engrave_plate", ENGRAVING)
            assert told.status == 503
            assert "The outcome is unknown." in told.body["detail"]
            assert talker.rows("SELECT state FROM calls") == [("unknown",)]


async def test_a_partner_that_is_down_for_a_while_is_asked_again(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with plain_workshop(tmp_path, clock, "5") as (talker, site):
        told = await call(talker)
        for _ in range(3):
            site.will("/calls/1", b"Bad gateway", method="GET", status=502)
        site.will("/calls/1", {"status": "success", "result": {"plate": "P-1"}}, method="GET")
        ended = await pass_time(talker, clock, told.body["poll"])
        assert "P-1" in json.dumps(ended)
