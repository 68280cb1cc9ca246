"""A site that sends parcels and asks by forms where to, for tests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.clients.threads import THREADS, Talker, Told, talking

ACTIONS = '''
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from aitp_desk.actions import Secret, action

BOOK = Path(__file__).with_name("parcels.txt")


class Address(Struct):
    name: Annotated[str, Meta(extra_json_schema={"autocomplete": "name"})]
    street: Annotated[str, Meta(extra_json_schema={"autocomplete": "street-address"})]
    postal_code: Annotated[str, Meta(extra_json_schema={"autocomplete": "postal-code"})]


@action(kind="action", mutability="reversible", blast_radius="self")
def send_parcel(address: Address) -> str:
    """Sends a parcel.

    Args:
        address: where it goes.
    """
    with BOOK.open("a") as book:
        book.write(f"{address.name}, {address.street}, {address.postal_code}\\n")
    return f"A parcel goes to {address.name}."


@action(kind="action", mutability="reversible", blast_radius="self")
def lock_box(box: str, code: Secret) -> str:
    """Locks a box.

    Args:
        box: which one.
        code: what opens it.
    """
    with BOOK.open("a") as book:
        book.write(f"{box} opens with {code.reveal()}\\n")
    return f"The box {box} is locked."


@action(kind="action", mutability="reversible", blast_radius="self")
def open_box(code: Secret) -> str:
    """Opens the box.

    Args:
        code: what opens it.
    """
    return "It opens." if code.reveal() == "Sesame-4711" else "It stays shut."
'''
SLUG = "aitp.dev/data"
SCOPES = ("actions", "threads")


class Sender:
    """A customer who has parcels sent."""

    def __init__(self, talker: Talker, site: Path) -> None:
        self.talker = talker
        self.site = site

    async def ask(
        self, query: str, session: str | None = None, capability: str = "send_parcel"
    ) -> Told:
        """Ask for a parcel, or something else, in a session."""
        body = {"capability": capability, "query": query}
        if session is not None:
            body["session_id"] = session
        return await self.talker.send("POST", "/agent/converse", body)

    async def another(self, *scopes: str) -> Sender:
        """Another customer."""
        return Sender(await self.talker.with_key(*(scopes or SCOPES)), self.site)

    def forget(self) -> None:
        """Have no parcels."""
        (self.site / "parcels.txt").unlink(missing_ok=True)

    async def post(self, thread: str, content: str) -> list[str]:
        """Say something on a thread, and read what the desk says to that."""
        posted = (await self.talker.post(thread, content, wait=10)).ok
        if posted["run"] is None:
            return (await self.said(thread))[-1]
        return [text for one in posted["replies"] for text in one["content"]]

    async def said(self, thread: str) -> list[list[str]]:
        """All messages of a thread, as this reader sees them."""
        listed = (await self.talker.messages(thread, "?order=asc&limit=100")).ok
        return [message["content"] for message in listed["data"]]

    async def declare(self, thread: str) -> None:
        """Have an actor join that reads forms as they are."""
        joining = {"id": "https://sender.example", "capabilities": [{"schema": SLUG}]}
        joined = await self.talker.send("POST", f"{THREADS}/{thread}/actors", joining)
        assert joined.status == 200, joined.body

    async def form(self, thread: str) -> dict[str, Any]:
        """The newest form on a thread."""
        parts = [
            json.loads(text) for one in await self.said(thread) for text in one if text[:1] == "{"
        ]
        form: dict[str, Any] = [one for one in parts if "request_data" in one][-1]["request_data"]
        return form

    @property
    def parcels(self) -> list[str]:
        """What was sent where."""
        book = self.site / "parcels.txt"
        return book.read_text("utf-8").splitlines() if book.exists() else []


def reply(request: str, **values: str) -> str:
    """A form, filled in."""
    fields = [{"id": id, "value": value} for id, value in values.items()]
    return json.dumps({"$schema": SLUG, "data": {"request_data_id": request, "fields": fields}})


@asynccontextmanager
async def sending(
    folder: Path, *settings: str, data: bool = True, **more: Any
) -> AsyncIterator[Sender]:
    """A desk that sends parcels, and a customer."""
    site = folder / "parcels"
    (site / "content").mkdir(parents=True)
    (site / "content" / "about.md").write_text("# About\n\nWe send parcels.\n", "utf-8")
    (site / "desk.toml").write_text('[content]\nfolder = "content"\n', "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    enabled = ("capabilities.data={}",) if data else ()
    async with talking(folder, *enabled, *settings, site=site, **more) as talker:
        yield Sender(await talker.with_key(*SCOPES), site)
