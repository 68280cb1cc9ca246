"""Two desks in two processes: a purchase at the partner, by every protocol on either side."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import aiohttp
import pytest
import pytest_asyncio

from aitp_desk.app.server import RunningServer
from tests.faults.test_peers import BUYS, make_key, running
from tests.support.clients.threads import Talker
from tests.support.desk.processes import Server, free_ports
from tests.support.protocols.a2a import ByTasks
from tests.support.protocols.cases import Case, Outcome
from tests.support.protocols.http import Ahp, Direct
from tests.support.protocols.mcp import ByMcp
from tests.support.sites import orders
from tests.support.sites.partners import LIBRARY, PROTOCOLS, peer, write_site

pytestmark = [pytest.mark.servers, pytest.mark.asyncio(loop_scope="module")]

PRICE = {"amount": "19.00", "currency": "EUR"}
TERMS = '[[peers.terms]]\naction = "place_order"\nmutability = "reversible"\ncost = "19.00 EUR"\n'
CALLING = tuple(kind for kind in PROTOCOLS if kind != "aitp")
"""The protocols of a partner that list its actions."""


class Caller(Protocol):
    """A client of a protocol that calls actions."""

    async def call(self, who: Talker, case: Case) -> Outcome:
        """Call an action."""


CALLERS: Mapping[str, Caller] = {
    "ahp": Ahp(),
    "a2a": ByTasks("JSONRPC"),
    "mcp": ByMcp("auto"),
    "openapi": Direct(),
}


class Desks(NamedTuple):
    """A shop, and a library whose partner it is by each protocol."""

    buyer: Talker
    book: Path

    @property
    def bought(self) -> list[str]:
        """What the shop has sold so far."""
        return self.book.read_text("utf-8").splitlines() if self.book.exists() else []


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str, Path]]:
    folder = tmp_path_factory.mktemp("desks")
    first = free_ports(2)
    shop, data = orders.write_site(folder), folder / "data"
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        stack.enter_context(running(folder / "shop-data", shop, first))
        patch.setenv("SHOP_TOKEN", make_key(folder / "shop-data"))
        toml = ""
        for kind in PROTOCOLS:
            given: dict[str, Any] = {
                "bearer_env": "SHOP_TOKEN",
                "protocol": kind,
                "title": f"Moth {kind}",
            }
            if kind in CALLING:
                given |= {"prefix": f"{kind}_", "budget": "20.00 EUR", "actions": ["place_order"]}
            toml += peer(f"http://127.0.0.1:{first}", kind, **given)
            toml += TERMS if kind in CALLING else ""
        library = write_site(folder / "library", LIBRARY, toml)
        server = stack.enter_context(running(data, library, first + 1))
        yield server, make_key(data), shop / "book.txt"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desks(processes: tuple[Server, str, Path]) -> AsyncIterator[Desks]:
    server, key, book = processes
    async with aiohttp.ClientSession(server.url) as http:
        # a process has the address of a desk, which is all that the clients use
        desk = cast("RunningServer", server)
        yield Desks(Talker(desk, book.parent, http, key), book)


@pytest.mark.parametrize("link", CALLING)
@pytest.mark.parametrize("caller", CALLERS)
async def test_it_is_bought_once_at_the_price_that_the_caller_agreed_to(
    desks: Desks, caller: str, link: str
) -> None:
    before, client = len(desks.bought), CALLERS[caller]
    wish = Case(f"{link}_place_order", "consent", BUYS, "asks")
    asked = await client.call(desks.buyer, wish)
    assert asked.kind == "asks", asked
    assert asked.data in (None, PRICE)
    assert len(desks.bought) == before
    agreed = Case(f"{link}_place_order", "ok", BUYS, "done", agreed=PRICE)
    done = await client.call(desks.buyer, agreed)
    assert done.kind == "done", done
    assert done.data["by"] == f"Moth {link}"
    assert (done.words or "").startswith(f"Moth {link}: ")
    assert desks.bought[before:] == ["2 of LMP-01"]


async def test_it_is_bought_in_words_on_a_thread_at_the_partner_that_was_named(
    desks: Desks,
) -> None:
    before, buyer = len(desks.bought), desks.buyer
    opened = await buyer.open("Place an order by Moth mcp: 2 of LMP-01", wait=30)
    asked = "".join(opened.ok["replies"][-1]["content"])
    assert "19.00 EUR" in asked
    assert "(by Moth mcp)" in asked
    assert len(desks.bought) == before
    done = (await buyer.post(opened.id, "yes", wait=30)).ok["replies"][-1]["content"]
    assert done[0].startswith("Moth mcp: ")
    assert desks.bought[before:] == ["2 of LMP-01"]
