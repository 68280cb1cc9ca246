"""Everybody who calls the desk of a history, and a look at all that they are sent."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from aitp_desk.app.server import RunningServer
from aitp_desk.auth.credentials.api_key import make_api_key
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.tokens import revoke_token, rotate_token
from tests.access_walk.model import ALWAYS, ID, MARKER, Credential, Marker, Model, Party, Thread
from tests.access_walk.results import Result, Results
from tests.access_walk.site import MarkingAgent
from tests.support.access.keys import make_key
from tests.support.clients.dispatcher import Answered, Headers, answer
from tests.support.clients.threads import DATABASE
from tests.support.doubles.agent import Clock
from tests.support.doubles.website import Website

JSON = ("Content-Type", "application/json")
SECRETS = re.compile(r"(?:thread|session|task|call)_[0-9a-z]{16,}")
CLOSED_SECONDS = 5
REST_SECONDS = 20


@dataclass
class Leak:
    """A caller was sent what it may not see."""

    step: int
    who: str
    asked: str
    what: str
    threads: tuple[Thread, ...] = ()


@dataclass(eq=False)
class Call:
    """A call that a party made of an action."""

    id: str
    name: str
    note: str
    marker: Marker
    credential: Credential
    thread: Thread | None
    quote: str = ""
    is_paid: bool = False
    task: str = ""


@dataclass(eq=False)
class Stream:
    """A stream of a thread's events that a caller has open.

    Attributes:
        sent_before: markers that its follower could see at the moment before access
            to it changed. They may still be on their way; after the event of a claim no longer.
    """

    credential: Credential
    thread: Thread
    task: asyncio.Task[None]
    sent_before: frozenset[str] = frozenset()


@dataclass
class World:
    """The desk, everybody who calls it, and what was found.

    Attributes:
        once: requests that were sent with an Idempotency-Key: whose, method, target, headers, body.
    """

    desk: RunningServer
    data: Path
    clock: Clock
    model: Model
    http: aiohttp.ClientSession
    site: Website
    agent: MarkingAgent
    results: Results
    credentials: list[Credential] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    once: list[tuple[Credential, str, str, Headers, bytes]] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    ended: list[Stream] = field(default_factory=list)
    leaks: list[Leak] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    receivers: dict[str, Credential] = field(default_factory=dict)
    routes_asked: set[tuple[str, str]] = field(default_factory=set)
    pushes: int = 0
    refusals: list[tuple[int, str, int, bytes]] = field(default_factory=list)

    async def ask(
        self,
        credential: Credential,
        method: str,
        target: str,
        body: Any = None,
        *,
        headers: Iterable[tuple[str, str]] = (),
        once: str = "",
    ) -> Answered:
        """Send one request, and look at all that comes of it.

        Parameters:
            body: ``bytes`` go as they are, with their type among the headers.
            once: the Idempotency-Key.
        """
        sent = body if isinstance(body, bytes) else b"" if body is None else _encode(body)
        lines = [*credential.headers, *headers]
        if body is not None and not isinstance(body, bytes):
            lines.append(JSON)
        if once:
            lines.append(("Idempotency-Key", once))
        answered = await answer(self.desk, method, target, lines, sent, reads_on=True)
        self.counts[f"{answered.status // 100}xx"] += 1
        said = answered.body.decode(errors="replace") + str(answered.headers)
        known = f"{target} {sent.decode(errors='replace')}"
        asked = f"{method} {target} {sent[:300]!r}"
        self.look(credential, asked, said, known)
        self.look_at_prompt(credential, asked)
        if answered.status >= 500 and answered.status != 503:
            self.leak(credential, f"{method} {target}", f"{answered.status}: {said[:300]}")
        if once and answered.status < 400:
            kept = tuple(line for line in lines if line not in credential.headers)
            self.once.append((credential, method, target, kept, sent))
        return answered

    def look(self, credential: Credential, asked: str, said: str, known: str = "") -> None:
        """Search what a caller was sent for what they may not see.

        Parameters:
            known: what they have sent themselves.
        """
        self.note_results()
        model = self.model
        for text in set(MARKER.findall(said)):
            marker = model.markers.get(text)
            if marker is None or text in known or model.may_see(credential, marker):
                continue
            where = tuple(dict.fromkeys(thread for thread, _ in marker.places))
            self.leak(credential, asked, f"{text}, which is {marker.said}", where)
        for id_ in set(SECRETS.findall(said)):
            thread = model.by_id.get(id_)
            if thread is None or id_ in known:
                continue
            party = credential.party
            if party in thread.told or party in thread_knowers(thread, party):
                continue
            if model.reads_until(party, thread) != ALWAYS:
                self.leak(credential, asked, f"{id_}, an id of {thread.name}", (thread,))

    def note_results(self) -> None:
        """Note the markers of new results, each by the call that it is of."""
        for result in self.results.read():
            asked = self._asked_by(result)
            if asked is None:
                what = f"{result.marker}, a result of a call that nobody made"
                self.leaks.append(Leak(self.model.step, "nobody", result.call_id, what))
            elif result.marker not in self.model.markers:
                self.model.mark_result(result.marker, asked)

    def _asked_by(self, result: Result) -> Marker | None:
        """Return the marker of a result's call: of the quote that paid, or what it was given."""
        for call in self.calls:
            if call.quote in result.quotes:
                return call.marker
        return self.model.markers.get(result.note)

    def look_at_prompt(self, credential: Credential, asked: str) -> None:
        """Search the files that the agent was given to answer a caller."""
        model = self.model
        for text in MARKER.findall(" ".join(self.agent.files)):
            file = model.markers[text].file
            assert file is not None
            if file.owner is not None and file.owner is not credential.party:
                what = f"{text}, in the prompt, which is {model.markers[text].said}"
                where = tuple(
                    thread for thread in model.threads for _, f in thread.files if f is file
                )
                self.leak(credential, asked, what, where)
        self.agent.files.clear()

    def leak(
        self, credential: Credential, asked: str, what: str, threads: tuple[Thread, ...] = ()
    ) -> None:
        """Note that a caller was sent what they may not see."""
        name = credential.party.name + ("" if credential.is_live else " (by a dead credential)")
        self.leaks.append(Leak(self.model.step, name, asked, what, threads))

    def refuse(self, what: str, sent: Answered) -> str | None:
        """Note that a step was refused, which the rule allows; it is no step of the history."""
        self.counts[f"refused: {what}"] += 1
        self.refusals.append((self.model.step, what, sent.status, sent.body[:300]))
        return None

    async def make_party(self, name: str, kind: Any, *scopes: str) -> Credential:
        """A new caller, who has a key with these scopes, or none."""
        if not scopes:
            credential = Credential(Party(name, kind))
        else:
            unique = f"{name}-{len(self.credentials)}".lower()
            key = await make_key(self.desk.store, self.data, *scopes, name=unique)
            party = Party(name, kind, f"key:{key.split('_')[1]}")
            credential = Credential(party, (("Authorization", f"Bearer {key}"),))
        self.credentials.append(credential)
        return credential

    async def rotate(self, credential: Credential) -> Credential:
        """Give a key another secret; the old one is worth nothing from now on."""
        keys = await open_data_keys(self.desk.store, self.data, {})
        id_ = credential.party.principal.removeprefix("key:")
        kept = await reads.unrevoked_token(self.desk.store, id_)
        assert kept is not None
        _, key = make_api_key(id_)
        now = int(self.clock())
        await self.desk.store.run(
            rotate_token,
            id=id_,
            version=kept.version,
            hash=keys.hash_token(key, keys.newest),
            data_key=keys.newest,
            previous_until=now,
            now=now,
        )
        renewed = Credential(credential.party, (("Authorization", f"Bearer {key}"),))
        self.credentials.append(renewed)
        await self.end(credential)
        return renewed

    async def revoke(self, credential: Credential) -> None:
        """Take a key back."""
        id_ = credential.party.principal.removeprefix("key:")
        now = int(self.clock())
        assert await self.desk.store.run(revoke_token, id_or_name=id_, now=now)
        await self.end(credential)

    async def end(self, credential: Credential) -> None:
        """A credential is worth nothing from now on; its streams end within a second."""
        streams = [one for one in self.streams if one.credential is credential]
        self.note_sent(streams)
        credential.is_live = False
        await self.end_streams(streams)

    async def end_streams(self, streams: list[Stream]) -> None:
        """Wait until streams have ended; those that go on are noted."""
        self.ended += streams
        self.streams = [stream for stream in self.streams if stream not in streams]
        if not streams:
            return
        await asyncio.wait([stream.task for stream in streams], timeout=CLOSED_SECONDS)
        for stream in streams:
            if not stream.task.done():
                stream.task.cancel()
                asked = f"GET /v1/threads/{stream.thread.id}/events"
                self.leak(stream.credential, asked, "a stream that does not end", (stream.thread,))

    def follow(self, credential: Credential, thread: Thread) -> None:
        """Open a stream of a thread's events, over HTTP, and look at what it is sent."""
        target = f"/v1/threads/{thread.id}/events"

        async def read() -> None:
            headers = [*credential.headers, ("Last-Event-ID", "0")]
            async with self.http.get(target, headers=headers) as response:
                async for line in response.content:
                    if line.startswith(b"event: thread.claimed"):
                        stream.sent_before = frozenset()
                    told, known = line.decode(errors="replace"), " ".join(stream.sent_before)
                    self.look(credential, f"the stream of {thread.name}, {target}", told, known)

        stream = Stream(credential, thread, asyncio.create_task(read()))
        self.streams.append(stream)

    def note_sent(self, streams: Iterable[Stream]) -> None:
        """Note what followers may see at the moment before access changes."""
        self.note_results()
        for stream in streams:
            stream.sent_before = frozenset(
                marker.text
                for marker in self.model.markers.values()
                if self.model.may_see(stream.credential, marker)
            )

    def receiver(self, credential: Credential, thread: Thread | None) -> str:
        """An address of a caller's, at which pushes are looked at.

        Parameters:
            thread: of the task that is told of. Without an owner its id alone opens it, whether or
                not the link still holds that was sent with it.
        """
        if credential.party.kind == "link" and (thread is None or thread.owner is None):
            credential = Credential(credential.party)
        path = f"/told/{len(self.receivers)}"
        self.receivers[path] = credential

        async def receive(request: web.Request) -> web.StreamResponse:
            self.pushes += 1
            told = await request.text()
            self.look(credential, f"a push to {path}", told, known=self._own_ids(told))
            return web.Response(status=204)

        self.site.handle(path, receive)
        return f"{self.site.url}{path}"

    @staticmethod
    def _own_ids(told: str) -> str:
        return " ".join(ID.findall(told))

    async def rest(self) -> None:
        """Wait until all that was promised is done, so that each push is looked at in its time."""
        waiting = (
            "SELECT count(*) FROM jobs WHERE state = 'at_work'"
            " OR state = 'queued' AND available_at <= ?"
        )
        path = f"{(self.data / DATABASE).as_uri()}?mode=ro"
        with closing(sqlite3.connect(path, uri=True)) as connection:
            async with asyncio.timeout(REST_SECONDS):
                while True:
                    await self.desk.store.settled()
                    if connection.execute(waiting, (int(self.clock()),)).fetchone() == (0,):
                        break
        self.note_results()

    def live(self, *kinds: str) -> list[Credential]:
        """Credentials that are worth something, of these kinds or of all."""
        live = [one for one in self.credentials if one.is_live]
        return [one for one in live if not kinds or one.party.kind in kinds]

    def credential_of(self, party: Party) -> Credential | None:
        """What a party presents now."""
        return next((one for one in self.live() if one.party is party), None)


def thread_knowers(thread: Thread, party: Party) -> set[Party]:
    """The party, if it was given the thread's id once."""
    return {party} if thread in party.knows else set()


def _encode(body: Any) -> bytes:
    return json.dumps(body).encode()
