"""A caller of a real desk's Threads API over HTTP."""

from __future__ import annotations

import io
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from multidict import CIMultiDictProxy

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Agent
from aitp_desk.app.server import RunningServer
from aitp_desk.store.engine.copy.tables import load_tables
from aitp_desk.store.reads import threads as reads
from tests.support.access.keys import make_key
from tests.support.desk.server import SITE, serving
from tests.support.store.chosen import read_rows

THREADS = "/v1/threads"
DATABASE = "desk.db"
JSON_TYPES = frozenset({"application/json", "application/problem+json"})

Headers = Iterable[tuple[str, str]]


class Told(msgspec.Struct, frozen=True):
    """What the desk answered."""

    status: int
    headers: CIMultiDictProxy[str]
    body: Any

    @property
    def ok(self) -> Any:
        """The body of a success."""
        assert self.status == 200, self.body
        return self.body

    @property
    def id(self) -> str:
        """The id of what was created or read."""
        id_: str = self.ok["id"]
        return id_

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        """Status, code and param of an error, after a look at the form of the whole."""
        assert self.body.keys() == {"error"}, self.body
        error = self.body["error"]
        assert error.keys() == {"message", "type", "param", "code"}
        assert error["message"]
        return self.status, error["code"], error["param"]


class Talker:
    """A client of one desk, with or without an API key.

    Parameters:
        desk: the desk itself, for what cannot be seen from outside.
        data: its data folder.
        http: a client whose addresses are the desk's.
        key: sent with every request.
        link: the secret of a link, sent with every request.
    """

    def __init__(
        self,
        desk: RunningServer,
        data: Path,
        http: aiohttp.ClientSession,
        key: str | None = None,
        link: str | None = None,
    ) -> None:
        self.desk = desk
        self.http = http
        self._data = data
        self.key = key
        self.link = link

    @property
    def credentials(self) -> list[tuple[str, str]]:
        """The headers that say who this is."""
        key = [] if self.key is None else [("Authorization", f"Bearer {self.key}")]
        return key if self.link is None else [*key, ("Desk-Grant", self.link)]

    def with_link(self, secret: str) -> Talker:
        """A caller without a key, who holds a link."""
        return Talker(self.desk, self._data, self.http, link=secret)

    def without_key(self) -> Talker:
        """A caller without a credential."""
        return Talker(self.desk, self._data, self.http)

    async def with_key(self, *scopes: str) -> Talker:
        """Another caller, with a new API key of these scopes."""
        name = secrets.token_hex(8)
        key = await make_key(self.desk.store, self._data, *scopes, name=name)
        return Talker(self.desk, self._data, self.http, key)

    async def send(
        self, method: str, path: str, body: Any = None, *, headers: Headers = ()
    ) -> Told:
        """Send one request; ``bytes`` go as they are, anything else as JSON."""
        sent = [*headers, *self.credentials]
        data = None
        if body is not None:
            data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
            if not any(name.lower() == "content-type" for name, _ in sent):
                sent.append(("Content-Type", "application/json"))
        async with self.http.request(method, path, data=data, headers=sent) as response:
            assert response.content_type in JSON_TYPES
            body = await response.json(content_type=None)
            return Told(response.status, response.headers, body)

    async def upload(self, name: str = "notes.txt", data: bytes = b"Notes.", **fields: str) -> Told:
        """Upload a file; its purpose is ``assistants``, unless it is given."""
        form = aiohttp.FormData({"purpose": "assistants", **fields}, quote_fields=False)
        form.add_field("file", data, filename=name, content_type="application/x-anything")
        async with self.http.post("/v1/files", data=form, headers=self.credentials) as response:
            return Told(response.status, response.headers, await response.json())

    async def open(
        self, *messages: Any, wait: int | None = None, headers: Headers = (), **members: Any
    ) -> Told:
        """Open a thread with these messages and further members of its body."""
        body = {"messages": list(messages), **members}
        return await self.send("POST", THREADS, body, headers=[*headers, *_prefer(wait)])

    async def post(
        self,
        thread_id: str,
        content: Any,
        *,
        wait: int | None = None,
        headers: Headers = (),
        **members: Any,
    ) -> Told:
        """Post a message of role ``user``, unless ``role`` is given."""
        body = {"role": "user", "content": content, **members}
        path = f"{THREADS}/{thread_id}/messages"
        return await self.send("POST", path, body, headers=[*headers, *_prefer(wait)])

    async def read(self, thread_id: str) -> Told:
        """Retrieve a thread."""
        return await self.send("GET", f"{THREADS}/{thread_id}")

    async def messages(self, thread_id: str, query: str = "") -> Told:
        """List a thread's messages."""
        return await self.send("GET", f"{THREADS}/{thread_id}/messages{query}")

    async def thread_of(self, session_id: str) -> str:
        """Id of the thread that an AHP session lies on."""
        await self.desk.store.settled()
        session = await reads.session(self.desk.store, session_id)
        assert session is not None
        return session.thread_id

    async def texts(self, thread_id: str) -> list[str]:
        """The first part of all that was said on a thread, oldest first."""
        listed = (await self.messages(thread_id, "?order=asc&limit=100")).ok
        return [message["content"][0] for message in listed["data"]]

    def rows(self, statement: str) -> list[Any]:
        """Return rows of the desk's database, over a separate connection."""
        return read_rows(self._data, statement)

    def counts(self) -> dict[str, int]:
        """How many rows each table has, but for what the desk adds in its own time.

        That are the replies of runs in progress, what happens to runs, the audit log, and how the
        desk's parts are.
        """
        tables = {table.name for table in load_tables()}
        counts = [
            f"SELECT '{name}', count(*) FROM {name}"
            + " WHERE origin = 'visitor'" * (name == "messages")
            for name in sorted(tables - {"events", "audit", "conditions"})
        ]
        return dict(self.rows(" UNION ALL ".join(counts)))


HELD = (
    "A person, anna, has taken this conversation over and reads what you write."
    " Ask again for their answer."
)
"""What is said where anna has a conversation and has said nothing yet."""


@asynccontextmanager
async def talking(
    folder: Path,
    *settings: str,
    site: Path = SITE,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
    actions: Sequence[OfferedAction] = (),
    explains: bool = False,
) -> AsyncIterator[Talker]:
    """A desk with its data below ``folder``, and a caller without a credential."""
    data = folder / "data"
    async with (
        serving(
            data,
            *settings,
            folder=site,
            clock=clock,
            agent=agent,
            actions=actions,
            explains=explains,
        ) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)


def _prefer(wait: int | None) -> list[tuple[str, str]]:
    return [] if wait is None else [("Prefer", f"wait={wait}")]
