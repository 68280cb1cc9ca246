"""A site that sells tents and asks what it needs to know for that, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_desk.agent.base import Agent
from tests.support.clients.threads import THREADS, Talker, Told, talking

ACTIONS = '''
import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Literal

from aitp_desk.actions import Choice, Choose, Money, action

BOOK = Path(__file__).with_name("orders.txt")
PRICES = {"ridge": Decimal(349), "cove": Decimal(199)}


async def pass_by(place: str) -> None:
    """Holds there, for as long as a test says."""
    BOOK.with_name(f"at-{place}").touch()
    while BOOK.with_name(f"hold-{place}").exists():
        await asyncio.sleep(0.01)


async def price(tent: str) -> Money:
    await pass_by("price")
    return Money(PRICES[tent], "USD")


@action(
    kind="action",
    mutability="irreversible",
    blast_radius="self",
    cost=price,
)
async def order_tent(
    tent: Literal["ridge", "cove"], colour: Literal["red", "blue"]
) -> str:
    """Orders a tent.

    Args:
        tent: which one.
        colour: in which colour.
    """
    with BOOK.open("a") as book:
        book.write(f"{tent} {colour}\\n")
    await pass_by("order")
    return f"The {colour} {tent} is yours."


@action(open_to="anyone")
def weigh_tent(tent: Literal["ridge", "cove"]) -> str:
    """Says how heavy a tent is.

    Args:
        tent: which one.
    """
    return f"The {tent} has two kilos."


@order_tent.asks("tent")
def which() -> Choose:
    tents = tuple(
        Choice(id=f"t-{name}", name=name.title(), value=name, price=Money(cost, "USD"))
        for name, cost in PRICES.items()
    )
    return Choose(title="Which tent?", choices=tents)


@order_tent.requires("in_stock", "The tent is in stock.")
def in_stock(tent: str) -> str | None:
    return "It is sold out." if BOOK.with_name(f"no-{tent}").exists() else None
'''
REQUESTS = "capabilities.requests.remind_after=0"
SLUG = "aitp.dev/requests"


class Buyer:
    """A customer who buys tents."""

    def __init__(self, talker: Talker, site: Path) -> None:
        self.talker = talker
        self.site = site

    async def with_key(self, *scopes: str) -> Buyer:
        """Another customer."""
        return Buyer(await self.talker.with_key(*scopes), self.site)

    def hold(self, place: str) -> None:
        """Have the next call held before it is begun (``price``) or when it is done (``order``)."""
        (self.site / f"at-{place}").unlink(missing_ok=True)
        (self.site / f"hold-{place}").touch()

    async def is_held(self, place: str) -> None:
        """Wait until it is."""
        while not (self.site / f"at-{place}").exists():  # noqa: ASYNC110 -- another process
            await asyncio.sleep(0.01)

    def go_on(self, place: str) -> None:
        """Let it go on."""
        (self.site / f"hold-{place}").unlink()

    @property
    def key_id(self) -> str:
        """What the key is called by which they are known."""
        assert self.talker.key is not None
        return self.talker.key.split("_")[1]

    def forget(self) -> None:
        """Have no orders."""
        (self.site / "orders.txt").unlink(missing_ok=True)

    async def ask(self, query: str, session: str | None = None, **more: Any) -> Told:
        """Ask for a tent in a session."""
        body = {"capability": "order_tent", "query": query, **more}
        if session is not None:
            body["session_id"] = session
        return await self.talker.send("POST", "/agent/converse", body)

    def anonymous(self) -> Buyer:
        """A visitor without a credential."""
        talker = self.talker
        return Buyer(talker.without_key(), self.site)

    async def search(self, query: str, session: str | None = None, **more: Any) -> Told:
        """Ask the agent in a session."""
        return await self.ask(query, session, capability="content_search", **more)

    async def begin(self, query: str = "I want to order a tent") -> tuple[str, str]:
        """Begin to order in a session, and have an actor on its thread that reads requests.

        Returns:
            The session's id, and the thread's.
        """
        session = (await self.ask(query)).ok["session_id"]
        thread = await self.talker.thread_of(session)
        await declare(self, thread)
        return session, thread

    async def post(self, thread: str, content: Any, **more: Any) -> list[str]:
        """Say something on a thread, and read what the desk says to that."""
        posted = (await self.talker.post(thread, content, wait=10, **more)).ok
        run = posted["run"]
        if run is None:
            return (await self.said(thread))[-1]
        assert run["status"] == "completed", run
        return [text for one in posted["replies"] for text in one["content"]]

    async def asked(self, thread: str) -> dict[str, Any]:
        """The newest request on a thread."""
        return requests_in(await self.said(thread))[-1]

    async def listed(self, thread: str) -> list[str]:
        """What is open on a thread: the first line of each."""
        listed = await self.talker.send("GET", f"{THREADS}/{thread}/requests")
        return [one["text"].partition("\n")[0] for one in listed.ok["data"]]

    async def said(self, thread: str) -> list[list[str]]:
        """All messages of a thread, as this reader sees them."""
        listed = (await self.talker.messages(thread, "?order=asc&limit=100")).ok
        return [message["content"] for message in listed["data"]]

    @property
    def orders(self) -> list[str]:
        """What was ordered."""
        book = self.site / "orders.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []


def part(**message: Any) -> str:
    """A message of the capability."""
    return json.dumps({"$schema": SLUG, **message})


def decision(request: str, *chosen: str) -> str:
    """A decision."""
    options = [{"id": id} for id in chosen]
    return part(decision={"request_decision_id": request, "options": options})


def requests_in(said: list[list[str]]) -> list[dict[str, Any]]:
    """The requests among what was said, as messages."""
    parts = [json.loads(text) for one in said for text in one if text.startswith("{")]
    return [one["request_decision"] for one in parts if "request_decision" in one]


def make_site(folder: Path) -> Path:
    """The site's folder."""
    site = folder / "tents"
    (site / "content").mkdir(parents=True)
    (site / "content" / "about.md").write_text("# About\n\nWe sell tents.\n", "utf-8")
    (site / "desk.toml").write_text('[content]\nfolder = "content"\n', "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    return site


@asynccontextmanager
async def buying(
    folder: Path, *settings: str, agent: Agent | None = None, **more: Any
) -> AsyncIterator[Buyer]:
    """A desk that sells tents, and a customer."""
    site = make_site(folder)
    async with talking(folder, REQUESTS, *settings, site=site, agent=agent, **more) as talker:
        yield Buyer(await talker.with_key("actions", "threads"), site)


async def declare(buyer: Buyer, thread: str, name: str = "https://buyer.example") -> str:
    """Have an actor of the buyer's join a thread, that reads requests as they are."""
    joining = {"id": name, "capabilities": [{"schema": SLUG}]}
    joined = await buyer.talker.send("POST", f"{THREADS}/{thread}/actors", joining)
    assert joined.status == 200, joined.body
    return name
