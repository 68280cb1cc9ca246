"""A site with an action for each thing that a desk may have to ask before it makes a call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_desk.agent.base import Agent
from tests.support.clients.threads import THREADS, Talker
from tests.support.doubles.agent import Clock
from tests.support.payments.till_plugin import selling

ACTIONS = '''
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from aitp_desk.actions import Choice, Choose, InvalidRequest, Related, Secret, Ticket, action

BOOK = Path(__file__).with_name("book.txt")
GRAVE = {"kind": "action", "mutability": "irreversible", "blast_radius": "self"}
MILD = {"kind": "action", "mutability": "reversible", "blast_radius": "self"}


def write(line: str) -> None:
    with BOOK.open("a") as book:
        book.write(line + "\\n")


@action(**GRAVE, cost="199.00 USD")
def order_tent(tent: Literal["ridge", "cove"], colour: Literal["red", "blue"]) -> str:
    """Orders a tent.

    Args:
        tent: which one.
        colour: in which colour.
    """
    write(f"{colour} {tent}")
    return f"The {colour} {tent} is yours."


@order_tent.asks("tent")
def which() -> Choose:
    tents = (Choice(id=f"t-{name}", name=name.title(), value=name) for name in ("ridge", "cove"))
    return Choose(title="Which tent?", choices=tuple(tents))


@order_tent.requires("in_stock", "The tent is in stock.")
def in_stock(tent: str) -> str | None:
    return "It is sold out." if BOOK.with_name(f"no-{tent}").exists() else None


@action(**GRAVE, related=[Related("collection", "/beds", "All beds")])
def book_bed(guest: str, nights: Annotated[int, Meta(ge=1, le=9)]) -> str:
    """Books a bed.

    Args:
        guest: who sleeps there.
        nights: how many.
    """
    write(f"{nights} nights")
    return f"A bed for {guest}, {nights} nights."


@action(**MILD)
def lock_box(box: str, code: Secret) -> str:
    """Locks a box.

    Args:
        box: which one.
        code: what opens it.
    """
    write(f"{box} is locked")
    return f"The box {box} is locked."


@action(**GRAVE, cost="5.00 EUR", prepaid=True)
def buy_ticket(name: str) -> str:
    """Sells a ticket.

    Args:
        name: for whom it is.
    """
    write(f"ticket for {name}")
    return f"A ticket for {name}."


@action(kind="async", mutability="irreversible", blast_radius="self", approval=True)
def refund(order: Literal["first", "last"]) -> str:
    """Pays an order back.

    Args:
        order: which one.
    """
    write(f"paid back {order}")
    return f"The {order} order is paid back."


@action(kind="async", mutability="irreversible", blast_radius="self")
def engrave(text: str) -> Ticket:
    """Has people engrave a plate.

    Args:
        text: what it says.
    """
    return Ticket(f"Engrave {text}.")


@action
def find_loan(number: str, name: str) -> str:
    """Says when a loan is due.

    Args:
        number: of the loan.
        name: who has it.
    """
    if number == "L9":
        raise InvalidRequest("There is no loan L9.", param="number")
    return f"The loan {number} of {name} is due."


@action(**MILD)
def reserve_court(hour: Annotated[int, Meta(ge=1, le=24)], name: str) -> str:
    """Reserves a court.

    Args:
        hour: when it begins.
        name: who plays.
    """
    write(f"court at {hour}")
    return f"The court is yours at {hour}, {name}."


@reserve_court.requires("is_free", "The court is free.", recovery="Choose another hour.")
def is_free(hour: int) -> str | None:
    return "The court is taken at 9." if hour == 9 else None
'''
DESK_TOML = """
[content]
folder = "content"
[capabilities.requests]
remind_after = 0
[capabilities.data]
[capabilities.till]
"""
SCOPES = ("actions", "threads")


class DialogueSite:
    """The site's desk, and a caller.

    Parameters:
        folder: of the site.
        clock: the desk's.
    """

    def __init__(self, talker: Talker, folder: Path, clock: Clock) -> None:
        self.talker = talker
        self.folder = folder
        self.clock = clock

    async def renew(self) -> None:
        """Have another caller, and nothing done yet."""
        for file in self.folder.glob("*.txt"):
            file.unlink()
        for file in self.folder.glob("no-*"):
            file.unlink()
        self.talker = await self.talker.with_key(*SCOPES)

    @property
    def done(self) -> list[str]:
        """What the actions have done."""
        book = self.folder / "book.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []

    async def messages(self, thread: str) -> list[dict[str, Any]]:
        """All messages of a thread in order, as a client without capabilities reads them."""
        listed = (await self.talker.messages(thread, "?order=asc&limit=100")).ok
        data: list[dict[str, Any]] = listed["data"]
        return data

    async def requests(self, thread: str) -> list[dict[str, Any]]:
        """The open requests of a thread."""
        data: list[dict[str, Any]] = (
            await self.talker.send("GET", f"{THREADS}/{thread}/requests")
        ).ok["data"]
        return data

    def calls(self, thread: str) -> list[tuple[str, str]]:
        """Action and state of each call of a thread, in order."""
        return self.talker.rows(
            f"SELECT action, state FROM calls WHERE thread_id = '{thread}' ORDER BY created_at, id"
        )


def part(schema: str, **message: Any) -> str:
    """Return a message of a capability."""
    return json.dumps({"$schema": schema, **message})


@asynccontextmanager
async def open_site(folder: Path, agent: Agent | None = None) -> AsyncIterator[DialogueSite]:
    """Serve the site."""
    site, clock = folder / "site", Clock()
    (site / "content").mkdir(parents=True)
    (site / "content" / "about.md").write_text("# About\n\nWe rent out beds.\n", "utf-8")
    (site / "desk.toml").write_text(DESK_TOML, "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    async with selling(folder, site, agent=agent, clock=clock) as talker:
        yield DialogueSite(await talker.with_key(*SCOPES), site, clock)
