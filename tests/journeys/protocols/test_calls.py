"""Every action of the shop over every protocol, in every situation: with the same outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

import pytest
import pytest_asyncio

from tests.support.clients.threads import Talker
from tests.support.protocols.a2a import ByTasks
from tests.support.protocols.agent import ByAgent, CallingAgent
from tests.support.protocols.cases import NEVER, SITUATIONS, Case, Outcome, Situation, cases
from tests.support.protocols.hac import ByHac
from tests.support.protocols.http import Ahp, Direct
from tests.support.protocols.mcp import ByMcp
from tests.support.protocols.shop import Shop, open_shop, stuck_shop

OTHERS = ("ahp", "hac", "agent", "mcp", "mcp-by-handshake", "a2a", "a2a-by-http")
UNTOLD: Mapping[tuple[str, Situation], tuple[str, ...]] = {
    **{("agent", one): ("code",) for one in SITUATIONS},
    ("agent", "consent"): ("code", "data"),
    ("ahp", "consent"): ("code", "data"),
    ("a2a", "consent"): ("code",),
    ("a2a-by-http", "consent"): ("code",),
}
"""What a protocol has no place for, or says in words alone; all else it tells as the others do."""
pytestmark = pytest.mark.asyncio(loop_scope="module")


class Door(Protocol):
    """A way by which an action is called."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        """Call it, and say what the protocol has told."""


class Doors:
    """All protocols of two shops: one as it is, and one that is stuck."""

    def __init__(self, shop: Shop, stuck: Shop, agent: CallingAgent) -> None:
        self._known: dict[str, Outcome] = {}
        self._shop = shop
        self._stuck = stuck
        self._doors: dict[str, Door] = {
            "direct": Direct(),
            "ahp": Ahp(),
            "agent": ByAgent(agent),
            "hac": ByHac(),
            "mcp": ByMcp("auto"),
            "mcp-by-handshake": ByMcp("legacy"),
            "a2a": ByTasks("JSONRPC"),
            "a2a-by-http": ByTasks("HTTP+JSON"),
        }

    async def call(self, door: str, case: Case) -> Outcome:
        shop = self._stuck if case.situation == "late" else self._shop
        shop.renew()
        who = shop.other if case.situation == "not_allowed" else shop.customer
        return await self._doors[door].call(who, case)

    async def expected(self, case: Case) -> Outcome:
        """The outcome of a call over plain HTTP."""
        if str(case) not in self._known:
            self._known[str(case)] = await self.call("direct", case)
        return self._known[str(case)]

    async def offered(self) -> set[str]:
        """The names of the site's actions, as its manifest has them."""
        manifest = (await self._shop.customer.send("GET", "/.well-known/agent.json")).ok
        return {one["name"] for one in manifest["capabilities"] if one["mode"] == "MODE3"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    agent = CallingAgent()
    open_, stuck = tmp_path_factory.mktemp("open"), tmp_path_factory.mktemp("stuck")
    async with open_shop(open_, agent=agent) as shop, stuck_shop(stuck, agent=agent) as still:
        yield Doors(shop, still, agent)


async def test_every_action_is_in_the_table_in_every_situation_or_it_is_said_why_not(
    doors: Doors,
) -> None:
    tried = {(case.action, case.situation) for case in cases()}
    assert tried.isdisjoint(NEVER)
    offered = await doors.offered()
    assert tried | NEVER.keys() == {(name, one) for name in offered for one in SITUATIONS}


@pytest.mark.parametrize("case", cases(), ids=str)
async def test_a_call_over_plain_http_has_the_outcome_of_the_table(
    doors: Doors, case: Case
) -> None:
    outcome = await doors.call("direct", case)
    assert (outcome.kind, outcome.code) == (case.kind, case.code)


@pytest.mark.parametrize("door", OTHERS)
@pytest.mark.parametrize("case", cases(), ids=str)
async def test_a_call_has_the_same_outcome_over_every_other_protocol(
    doors: Doors, case: Case, door: str
) -> None:
    expected = await doors.expected(case)
    outcome = await doors.call(door, case)
    assert outcome.kind == expected.kind
    told = {name: getattr(outcome, name) for name in ("code", "data", "words")}
    for name in UNTOLD.get((door, case.situation), ()) if outcome.kind != "done" else ():
        assert told.pop(name) is None
    assert told == {name: getattr(expected, name) for name in told}
    assert (outcome.message is None) == (expected.message is None)
    if door == "agent" and case.situation == "not_allowed":
        # an agent is not told of what its visitor may not call
        assert outcome.message == f"There is no action named {case.action!r}."
    elif outcome.message is not None:
        assert outcome.message.startswith(expected.message or "")
