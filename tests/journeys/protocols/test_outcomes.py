"""A call in the background ends the same way over every protocol, and a poll returns it there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple, Protocol

import pytest
import pytest_asyncio

from aitp_desk.desk.tickets.service import EscalationService
from tests.support.access.audit_log import somebody
from tests.support.clients.threads import Talker
from tests.support.doubles.agent import NOON, Clock
from tests.support.protocols.a2a import ByTasks
from tests.support.protocols.agent import ByAgent, CallingAgent
from tests.support.protocols.cases import TRIED, Case, Outcome
from tests.support.protocols.hac import ByHac
from tests.support.protocols.http import Ahp, Direct
from tests.support.protocols.mcp import ByMcp
from tests.support.protocols.shop import Shop, open_shop

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 60
ENDS = {"answered": "contact_human", "closed": "contact_human"} | {
    "approved": "late_return",
    "declined": "late_return",
}
"""How people may end what is taken on, and which action is."""
_AGENT = CallingAgent()


class Door(Protocol):
    """A way by which an action is called and asked after."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        """Call it."""

    async def ending(self, who: Talker, handle: str) -> Outcome:
        """Ask after it."""


DOORS: Mapping[str, Door] = {
    "direct": Direct(),
    "ahp": Ahp(),
    "hac": ByHac(),
    "mcp": ByMcp("auto"),
    "a2a": ByTasks("JSONRPC"),
    "a2a-by-http": ByTasks("HTTP+JSON"),
    "agent": ByAgent(_AGENT),
}


class Ended(NamedTuple):
    """How a call stood while people were waited for, and afterwards."""

    before: Outcome
    after: Outcome


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    async with open_shop(tmp_path_factory.mktemp("shop"), agent=_AGENT) as opened:
        yield opened


async def end(shop: Shop, door: Door, how: str) -> Ended:
    """Call an action, have a person end that, and ask what came of it."""
    shop.renew()
    who, name = shop.customer, ENDS[how]
    taken = await door.call(who, Case(name, "ok", TRIED[name].ok, "accepted"))
    assert taken.kind == "accepted"
    store = who.desk.store
    async with asyncio.timeout(SECONDS):
        while not (tickets := who.rows("SELECT id FROM tickets WHERE state = 'open'")):
            await store.settled()
        before = await door.ending(who, taken.handle)
        await decide(EscalationService(store, Clock(NOON)), tickets[0][0], how)
        while (after := await door.ending(who, taken.handle)).kind == "accepted":
            await store.settled()
    return Ended(before, after)


async def decide(people: EscalationService, ticket: str, how: str) -> None:
    """What a person of the shop does about a ticket."""
    match how:
        case "answered":
            assert await people.answer(ticket, "We can.", "sam", somebody())
        case "closed":
            assert await people.close(ticket, "Our engraver has left.", "sam", somebody())
        case "approved":
            assert await people.approve(ticket, "sam", somebody())
        case _:
            assert await people.decline(ticket, "It was worn.", "sam", somebody())


@pytest.mark.parametrize("how", ENDS)
async def test_over_plain_http_it_ends_as_a_person_has_decided(shop: Shop, how: str) -> None:
    before, after = await end(shop, DOORS["direct"], how)
    assert before.kind == "accepted"
    assert after.kind == ("done" if how in {"answered", "approved"} else "refused")
    told = f"{after.message} {after.words}"
    wanted = {"answered": "We can.", "closed": "engraver", "approved": "R000001"}
    assert wanted.get(how, "It was worn.") in told


@pytest.mark.slow
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("door", [door for door in DOORS if door != "direct"])
async def test_over_every_other_protocol_it_ends_the_same_way(
    shop: Shop, how: str, door: str
) -> None:
    _, expected = await end(shop, DOORS["direct"], how)
    before, after = await end(shop, DOORS[door], how)
    assert before.kind == "accepted"
    if door == "agent":  # a thread has words alone, and says who speaks next to them
        assert after.words == (expected.words or expected.message or "").removeprefix("sam: ")
        return
    assert (after.kind, after.code) == (expected.kind, expected.code)
    assert after.data in (expected.data, None)
    assert (after.message, after.words) == (expected.message, expected.words)
