"""A small shop with its actions, callers over AHP, and work that takes long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.model.calls.action import DATA, TEXT_ANSWER, Action, Safety
from aitp_desk.model.errors import PreconditionFailed
from tests.support.clients.ahp import Said, Visitor, read
from tests.support.clients.threads import Talker, talking

ACTIONS = '''
"""The shop of these tests."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec

from aitp_desk.actions import Context, Money, PreconditionFailed, action

BOOK = Path(__file__).with_name("book.txt")


class Stock(msgspec.Struct):
    sku: str
    left: int


class Kept(Stock):
    supplier: str


Sku = Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}-[0-9]{2}$", description="The article number.")]
Count = Annotated[int, msgspec.Meta(ge=1, le=99, description="How many.")]


def write(line: str) -> None:
    with BOOK.open("a") as book:
        book.write(line + chr(10))


@action(says=lambda stock: f"There are {stock.left} of {stock.sku} left.")
def check_stock(sku: Sku) -> Stock:
    """Says how many of an article there are."""
    return Kept(sku, 7, "Moth & Sons")


@action(open_to="anyone")
def opening_hours() -> dict[str, str]:
    """Says when the shop is open."""
    return {"monday": "9 to 17"}


def total(sku: str, quantity: int) -> Money:
    return Money(Decimal("9.50") * quantity, "EUR")


@action(
    kind="action",
    mutability="reversible",
    blast_radius="self",
    reversible_within="P30D",
    cost=total,
)
def place_order(sku: Sku, quantity: Count, context: Context) -> Stock:
    """Orders an article."""
    if quantity > 7:
        raise PreconditionFailed("There are only 7 left.")
    write(f"{quantity} of {sku}")
    context.note("email", "A confirmation was sent.")
    return Stock(sku, 7 - quantity)


@action(kind="action", mutability="irreversible", blast_radius="self")
def close_account() -> dict[str, bool]:
    """Closes the account."""
    write("closed")
    return {"closed": True}
'''


def write_site(folder: Path) -> Path:
    """The site of a shop with these actions, below a folder."""
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text("", encoding="utf-8")
    return site


class Caller:
    """A caller over AHP, with or without a key."""

    def __init__(self, talker: Talker, site: Path) -> None:
        self.talker = talker
        self._site = site
        self._visitor = Visitor(talker.desk, talker.http)

    async def ask(self, query: Any, capability: str, **more: Any) -> Said:
        """Call an action: what is no text goes as JSON."""
        words = query if isinstance(query, str) else json.dumps(query)
        headers = self.talker.credentials
        return await self._visitor.ask(words, capability, headers=headers, **more)

    async def post(self, body: Any) -> Said:
        """Send any JSON to the endpoint."""
        return await self._visitor.post(body, headers=self.talker.credentials)

    @property
    def anybody(self) -> Caller:
        """A caller without a credential."""
        talker = self.talker
        return Caller(Talker(talker.desk, self._site, talker.http), self._site)

    async def reply(self, said: Said, words: str, capability: str, **more: Any) -> Said:
        """Answer what was asked back."""
        return await self.ask(words, capability, session_id=said.session_id, **more)

    async def status(self, session_id: str) -> Said:
        """Ask after a call that was accepted."""
        path = f"/agent/converse/status/{session_id}"
        async with self.talker.http.get(path, headers=self.talker.credentials) as response:
            return await read(response)

    async def ended(self, session_id: str) -> Said:
        """Ask after a call until it is over."""
        async with asyncio.timeout(60):
            while (said := await self.status(session_id)).body["status"] == "pending":
                await self.talker.desk.store.settled()
        return said

    @property
    def booked(self) -> list[str]:
        """What was done."""
        book = self._site / "book.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []


@asynccontextmanager
async def calling(
    folder: Path, site: Path, *settings: str, scopes: tuple[str, ...] = ("actions",), **more: Any
) -> AsyncIterator[Caller]:
    """A desk with the site's actions, and a caller who may call them."""
    async with talking(folder, *settings, site=site, **more) as talker:
        yield Caller(await talker.with_key(*scopes) if scopes else talker, site)


class Research:
    """An action that takes its time, and what tells it to go on."""

    def __init__(self, *, is_idempotent: bool = False) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.calls: list[str] = []
        self.offered = OfferedAction(
            Action(
                "research",
                "Looks something up at length.",
                "async",
                open_to="actions",
                answer_types=(DATA, TEXT_ANSWER),
                accept_fallback=True,
                input_schema={
                    "type": "object",
                    "properties": {"topic": {"type": "string"}},
                    "required": ["topic"],
                },
                output_schema={"type": "object"},
                safety=Safety("reversible"),
                is_idempotent=is_idempotent,
            ),
            read=dict,
            perform=self._perform,
        )

    async def _perform(self, arguments: Mapping[str, Any], context: Context) -> ActionResult:
        self.calls.append(context.call_id)
        context.progress("Reading books.")
        self.begun.set()
        await self.go_on.wait()
        if arguments["topic"] == "nothing":
            raise PreconditionFailed("There is nothing to find.")
        return ActionResult({"found": arguments["topic"]}, f"All about {arguments['topic']}.")
