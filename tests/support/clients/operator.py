"""An operator who has signed in to a desk's console."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from multidict import CIMultiDictProxy

from aitp_desk.app.server import RunningServer
from tests.support.access.keys import make_key
from tests.support.clients.event_stream import Listener
from tests.support.clients.threads import Headers

ACTIONS = '''
"""What people are asked for: a quote, and whether money is paid back."""

from decimal import Decimal
from pathlib import Path

from aitp_desk.actions import Context, Money, Ticket, action

BOOK = Path(__file__).with_name("book.txt")


@action(kind="async", mutability="read_only", blast_radius="self")
def custom_quote(wish: str, context: Context) -> Ticket:
    """Has a person quote what is not in the catalogue."""
    return Ticket(f"Quote: {wish}", note=f"Asked by {context.caller.id}.")


@action(
    kind="async",
    mutability="irreversible",
    blast_radius="self",
    approval=True,
    cost=Money(Decimal("2.50"), "EUR"),
)
def refund(order: str, amount: int) -> int:
    """Pays money back.

    At once, and for good.

    Args:
        order: the order's number.
        amount: in euros.
    """
    with BOOK.open("a") as book:
        book.write(f"{order} {amount}" + chr(10))
    return amount
'''
DESK_TOML = """
[content]
folder = "content"
[[agents]]
name = "books"
[agents.content]
folder = "books"
"""
API = "/console/api"
COOKIE = "desk_console"


class Shown(msgspec.Struct, frozen=True):
    """What the console answered.

    Parameters:
        body: None where it is empty.
    """

    status: int
    headers: CIMultiDictProxy[str]
    body: Any

    @property
    def ok(self) -> Any:
        """The body of a success."""
        assert self.status in {200, 204}, self.body
        return self.body

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        """Status, code and param of an error, after a look at the form of the whole."""
        assert self.body.keys() == {"error"}, self.body
        error = self.body["error"]
        assert error.keys() == {"code", "message", "param"}
        assert error["message"]
        return self.status, error["code"], error["param"]

    @property
    def cookie(self) -> Morsel[str]:
        """The cookie that it sets."""
        return SimpleCookie(self.headers["Set-Cookie"])[COOKIE]


class Operator:
    """A browser at the operators' pages.

    Attributes:
        secret: what the cookie holds; None for no cookie.
        csrf: what is sent with whatever changes something.
    """

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http
        self.secret: str | None = None
        self.csrf: str | None = None

    @property
    def headers(self) -> list[tuple[str, str]]:
        """What this browser sends with each request."""
        cookie = [] if self.secret is None else [("Cookie", f"{COOKIE}={self.secret}")]
        return cookie if self.csrf is None else [*cookie, ("X-CSRF-Token", self.csrf)]

    async def send(
        self, method: str, path: str, body: Any = None, *, headers: Headers = ()
    ) -> Shown:
        """Send one request to the API; ``bytes`` go as they are, anything else as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = [*self.headers, *headers]
        if data is not None:
            sent.append(("Content-Type", "application/json"))
        async with self._http.request(method, f"{API}/{path}", data=data, headers=sent) as answer:
            raw = await answer.read()
            return Shown(answer.status, answer.headers, json.loads(raw) if raw else None)

    async def get(self, path: str) -> Any:
        """What is answered to a GET that succeeds."""
        return (await self.send("GET", path)).ok

    async def post(self, path: str, **body: Any) -> Any:
        """What is answered to a POST that succeeds."""
        return (await self.send("POST", path, body)).ok

    async def sign_in(self, key: str) -> Shown:
        """Sign in and keep the cookie, as a browser does; a refusal leaves all as it is."""
        shown = await self.send("POST", "session", {"token": key})
        if shown.status == 200:
            self.secret, self.csrf = shown.cookie.value, shown.body["csrf"]
        return shown

    @asynccontextmanager
    async def follow(self, path: str, *, headers: Headers = ()) -> AsyncIterator[Listener]:
        """Follow a stream of the API."""
        sent = [*self.headers, *headers]
        async with self._http.get(f"{API}/{path}", headers=sent) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "text/event-stream"
            yield Listener(response.content, response.headers)


@asynccontextmanager
async def browsing(desk: RunningServer) -> AsyncIterator[Operator]:
    """A browser in which nobody has signed in."""
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(desk.url, cookie_jar=jar) as http:
        yield Operator(http)


@asynccontextmanager
async def operating(
    desk: RunningServer, data: Path, name: str = "anna", *scopes: str
) -> AsyncIterator[Operator]:
    """An operator who has signed in.

    Parameters:
        data: the desk's data folder.
        name: of their key.
        scopes: that it has besides ``operator``.
    """
    async with browsing(desk) as operator:
        key = await make_key(desk.store, data, "operator", *scopes, name=name)
        shown = await operator.sign_in(key)
        assert shown.status == 200
        yield operator


def write_site(folder: Path) -> Path:
    """A site with actions that take people, and a further agent for books; returns its folder."""
    site = folder / "site"
    for name in ("content", "books"):
        (site / name).mkdir(parents=True)
    (site / "content" / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "books" / "index.md").write_text("# Books\n\nWe sell books.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text(DESK_TOML, encoding="utf-8")
    return site


def new_name() -> str:
    """A name that no key has yet."""
    return secrets.token_hex(6)
