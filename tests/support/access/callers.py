"""Everybody who may call a desk and everything that they may ask about: for the table of access.

The desk is asked in process, at its front: no connection stands between.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from aitp_desk.app.server import RunningServer
from tests.support.access.keys import make_key
from tests.support.clients.dispatcher import Answered, Headers, answer
from tests.support.doubles.agent import Clock

THREADS = "/v1/threads"
OWNERLESS, AYAS, BENS, NOBODYS = "without an owner", "Aya's", "Ben's", "no"
"""Whose something is."""
NOBODY, AYA, BEN = "no credential", "Aya, the owner", "Ben, another owner"
DORA, FRED = "Dora, who takes part", "Fred, who has left"
READER, WRITER = "a key it is shared with to be read", "a key it is shared with to be written"
UNSCOPED_WRITER = "a key without `threads` that it is shared with"
LATE, REVOKED = "a key whose grant has expired", "a key whose grant was revoked"
LINK_READER, LINK_WRITER = "a link to read", "a link to write"
LATE_LINK, REVOKED_LINK = "a link that has expired", "a link that was revoked"
BESIDE = "a key next to a link"
SCOPES = {
    "a key with `threads`": "threads",
    "a key without `threads`": "actions",
    AYA: "threads",
    BEN: "threads",
    DORA: "threads",
    FRED: "threads",
    READER: "threads",
    WRITER: "threads",
    UNSCOPED_WRITER: "actions",
    LATE: "threads",
    REVOKED: "threads",
    "an operator": "operator",
    "an administrator": "admin",
}


class Thing(msgspec.Struct, frozen=True):
    """What can be asked about.

    Parameters:
        places: what stands in an address for the names in its template.
    """

    places: Mapping[str, str]


class Ground:
    """What is kept at one agent's address, and everybody who asks about it.

    Parameters:
        clock: the desk's.
        keys: what those send who have a key.
        name: of the further site agent; empty for the site's own.
    """

    def __init__(
        self, desk: RunningServer, clock: Clock, keys: Mapping[str, Headers], name: str
    ) -> None:
        self._desk = desk
        self._clock = clock
        self._at = f"/{name}" if name else ""
        self.name = name
        self.callers: dict[str, Headers] = {NOBODY: (), **keys}
        self.threads: dict[str, Thing] = {}
        self.files: dict[str, Thing] = {}
        self.sessions: dict[str, Thing] = {}

    async def make(self) -> None:
        """Make everything, and the links by which it is shared."""
        nobodys = {place: f"{place}_nobody" for place in self._places("", "", "")}
        self.threads[NOBODYS] = self.files[NOBODYS] = self.sessions[NOBODYS] = Thing(nobodys)
        for whose in (OWNERLESS, AYAS, BENS):
            await self.renew_thread(whose)
        for whose in (OWNERLESS, AYAS):
            await self.renew_file(whose)
            if self.name:
                continue
            said = await self.ask(self._who(whose), "POST", "/agent/converse", a_question())
            self.sessions[whose] = Thing({"session_id": said.ok["session_id"]})

    async def ask(
        self,
        who: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        headers: Headers = (("OpenAI-Beta", "assistants=v2"),),
    ) -> Answered:
        """Send one request; ``bytes`` go as they are, anything else as JSON."""
        lines = [*self.callers[who], *headers]
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        if body is not None:
            lines.append(("Content-Type", content_type))
        return await answer(self._desk, method, path, lines, b"" if body is None else sent)

    async def renew_thread(self, whose: str) -> None:
        """Create a thread again; on Aya's, add every participant again."""
        who = self._who(whose)
        opened = (
            await self.ask(
                who,
                "POST",
                f"{self._at}{THREADS}",
                {"messages": ["Hello?"], "actors": ["https://brought.example"]},
                headers=(("Prefer", "wait=10"),),
            )
        ).ok
        assert opened["replies"]
        thread_id, run_id = opened["id"], opened["run"]["id"]
        steps = await self.ask(who, "GET", f"{self._at}{THREADS}/{thread_id}/runs/{run_id}/steps")
        places = self._places(thread_id, opened["messages"][0]["id"], run_id)
        self.threads[whose] = Thing({**places, "step_id": steps.ok["data"][0]["id"]})
        if whose == AYAS:
            await self._have_take_part(thread_id)

    async def renew_file(self, whose: str) -> None:
        """Upload a file again."""
        body, content_type = a_form()
        who = self._who(whose)
        path = f"{self._at}/v1/files"
        kept = await self.ask(who, "POST", path, body, content_type=content_type)
        self.files[whose] = Thing({"file_id": kept.ok["id"]})

    async def _have_take_part(self, thread_id: str) -> None:
        thread = f"{self._at}{THREADS}/{thread_id}"

        async def send(method: str, path: str, body: Any = None) -> Any:
            return (await self.ask(AYA, method, f"{thread}/{path}", body)).ok

        for who, actor in ((DORA, "dora"), (FRED, "fred")):
            await send("POST", "actors", {"id": actor, "principal": self._principal(who)})
        await send("DELETE", "actors/fred")
        for who, may in ((READER, "read"), (WRITER, "write"), (UNSCOPED_WRITER, "write")):
            await send("POST", "grants", {"principal": self._principal(who), "may": may})
        late = {"principal": self._principal(LATE), "may": "write", "expires_in": 1}
        await send("POST", "grants", late)
        revoked = {"principal": self._principal(REVOKED), "may": "write"}
        await send("DELETE", f"grants/{(await send('POST', 'grants', revoked))['id']}")
        for name, may, ends in (
            (LINK_READER, "read", {}),
            (LINK_WRITER, "write", {}),
            (REVOKED_LINK, "write", {}),
            (LATE_LINK, "write", {"expires_in": 1}),
        ):
            made = await send("POST", "grants", {"link": True, "may": may, **ends})
            self.callers[name] = (("Desk-Grant", made["secret"]),)
            if name == REVOKED_LINK:
                await send("DELETE", f"grants/{made['id']}")
        self.callers[BESIDE] = (*self.callers[AYA], *self.callers[LINK_WRITER])
        self._clock.advance(1)

    def _principal(self, who: str) -> str:
        return f"key:{self.callers[who][0][1].split('_')[1]}"

    @staticmethod
    def _who(whose: str) -> str:
        return {OWNERLESS: NOBODY, AYAS: AYA, BENS: BEN}[whose]

    @staticmethod
    def _places(thread_id: str, message_id: str, run_id: str) -> dict[str, str]:
        return {
            "thread_id": thread_id,
            "message_id": message_id,
            "run_id": run_id,
            "response_id": run_id.replace("run_", "resp_"),
            "step_id": "step_nobody",
            "actor": "dora",
            "grant_id": "grant_nobody",
            "file_id": "",
            "session_id": "",
        }


async def make_keys(desk: RunningServer, data: Path) -> dict[str, Headers]:
    """Make keys for all who have some, and one that is worthless."""
    keys = {}
    for name, scope in SCOPES.items():
        keys[name] = await make_key(desk.store, data, scope, name=name)
    keys["a worthless key"] = f"desk_{'0' * 16}_{'0' * 64}"
    return {name: (("Authorization", f"Bearer {key}"),) for name, key in keys.items()}


def a_question(session_id: str | None = None) -> dict[str, str]:
    """A question as AHP puts it."""
    asked = {"ahp": "0.1", "capability": "content_search", "query": "Hello?"}
    return asked if session_id is None else {**asked, "session_id": session_id}


def a_form() -> tuple[bytes, str]:
    """A form that uploads a file, and its media type."""
    edge = secrets.token_hex(8)
    parts = (
        ('form-data; name="purpose"', "assistants"),
        ('form-data; name="file"; filename="a.txt"', "Notes."),
    )
    lines = [f"--{edge}\r\nContent-Disposition: {what}\r\n\r\n{value}\r\n" for what, value in parts]
    body = "".join([*lines, f"--{edge}--\r\n"])
    return body.encode(), f"multipart/form-data; boundary={edge}"
