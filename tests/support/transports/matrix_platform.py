"""Matrix: a real homeserver, and people on it who write by plain HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest

from tests.support.servers.synapse import SERVER_NAME, Account, Synapse, is_installed
from tests.support.transports.matrix_gate import DESK, MatrixGate
from tests.support.transports.platform import Platform, Shown

DESK_USER = f"@desk:{SERVER_NAME}"
AS_TOKEN = "as-token-of-the-tests"
HS_TOKEN = "hs-token-of-the-tests"
_LINK = re.compile(r'<a href="([^"]+)">')
_CHOICE = re.compile(r"^([1-9])\. (.+)$", re.MULTILINE)
_SECONDS = 60


class MatrixPlatform(Platform):
    """A homeserver with an account of the desk.

    Parameters:
        folder: for its files.
        mode: of the desk.
    """

    name = "matrix"

    def __init__(self, folder: Path, mode: Literal["client", "appservice"] = "client") -> None:
        self.synapse = Synapse(folder)
        self.gate = MatrixGate(self.synapse.url)
        self._mode = mode
        self._token = AS_TOKEN
        self._people: dict[str, Account] = {}
        self._rooms: dict[str, str] = {}
        self._count = 0

    async def open(self) -> None:
        await self.gate.open()
        registration = self.registration if self._mode == "appservice" else None
        await asyncio.to_thread(self.synapse.start, registration)
        if self._mode == "client":
            self._token = (await self.synapse.register("desk")).token

    @property
    def registration(self) -> dict[str, Any]:
        """What the homeserver knows of the application service."""
        return {
            "id": "aitp-desk",
            "url": f"{self.gate.url}{DESK}",
            "as_token": AS_TOKEN,
            "hs_token": HS_TOKEN,
            "sender_localpart": "desk",
            "rate_limited": False,
            "namespaces": {"users": [{"exclusive": True, "regex": re.escape(DESK_USER)}]},
        }

    @property
    def desk(self) -> str:
        """URL of the desk."""
        return self.gate.desk

    @desk.setter
    def desk(self, url: str) -> None:
        self.gate.desk = url

    @property
    def settings(self) -> str:
        return (
            "[transports.matrix]\n"
            f'homeserver = "{self.gate.url}"\n'
            f'user = "{DESK_USER}"\n'
            f'mode = "{self._mode}"\n'
            f'allowed_servers = ["{SERVER_NAME}"]\n'
        )

    @property
    def environment(self) -> Mapping[str, str]:
        return {"MATRIX_TOKEN": self._token, "MATRIX_HS_TOKEN": HS_TOKEN}

    # People and rooms

    async def person(self, name: str) -> Account:
        """Return a person's account, which is made on first use."""
        if name not in self._people:
            self._people[name] = await self.synapse.register(name)
        return self._people[name]

    async def room(self, person: str) -> str:
        """Return the room of a person and the desk; the desk joins it on first use."""
        if person not in self._rooms:
            body = {"preset": "private_chat", "is_direct": True}
            self._rooms[person] = await self.create(person, body)
        return self._rooms[person]

    async def create(self, person: str, body: Mapping[str, Any]) -> str:
        """Create a room, invite the desk, and return when it has joined."""
        account = await self.person(person)
        made = await account.call("POST", "client/v3/createRoom", {**body, "invite": [DESK_USER]})
        room: str = made["room_id"]
        await self.member(person, room, "join")
        return room

    async def member(self, person: str, room: str, membership: str) -> None:
        """Return once the desk has a membership in a room, as a person's client sees it."""

        def is_so(event: dict[str, Any]) -> bool:
            return (
                event["type"] == "m.room.member"
                and event.get("state_key") == DESK_USER
                and event["content"]["membership"] == membership
            )

        await self.see(person, room, is_so)

    async def see(self, person: str, room: str, is_so: Any) -> dict[str, Any]:
        """Wait for an event of a room that a person's client sees, and return it."""
        account = await self.person(person)
        query = {"timeout": "0"}
        async with asyncio.timeout(_SECONDS):
            while True:
                kept = {"room": {"timeline": {"limit": 100}}}
                query["filter"] = json.dumps(kept)
                found = await account.call("GET", "client/v3/sync", query=query)
                joined = found.get("rooms", {}).get("join", {}).get(room, {})
                state = joined.get("state", {}).get("events", [])
                for event in [*state, *joined.get("timeline", {}).get("events", [])]:
                    if is_so(event):
                        return dict(event)
                query = {"timeout": "30000", "since": found["next_batch"]}

    async def put(
        self, person: str, room: str, content: Mapping[str, Any], kind: str = "m.room.message"
    ) -> str:
        """Send an event, and return its id."""
        self._count += 1
        account = await self.person(person)
        path = f"client/v3/rooms/{quote(room)}/send/{kind}/t{self._count}"
        sent: str = (await account.call("PUT", path, content))["event_id"]
        return sent

    # What the contract asks

    async def write(self, person: str, text: str) -> str:
        content = {"msgtype": "m.text", "body": text}
        event = await self.put(person, await self.room(person), content)
        await self.gate.acknowledged(event)
        return event

    async def redeliver(self, event_id: str) -> None:
        await self.gate.redeliver(event_id)

    async def deliver_forged(self, person: str, text: str) -> int:
        event = {
            "type": "m.room.message",
            "event_id": "$forged",
            "room_id": await self.room(person),
            "sender": (await self.person(person)).user,
            "origin_server_ts": 1,
            "content": {"msgtype": "m.text", "body": text},
        }
        body = json.dumps({"events": [event]}).encode()
        return await self.gate.deliver("Bearer of bad news", body, "forged")

    async def shown(self, person: str) -> tuple[Shown, ...]:
        return await self.shown_in(person, await self.room(person))

    async def shown_in(self, person: str, room: str) -> tuple[Shown, ...]:
        """Return what the desk has sent to a room."""
        account = await self.person(person)
        path = f"client/v3/rooms/{quote(room)}/messages"
        found = await account.call("GET", path, query={"dir": "f", "limit": "500"})
        return tuple(
            Shown(
                ref=event["event_id"],
                text=event["content"]["body"],
                buttons=tuple(label for _, label in _CHOICE.findall(event["content"]["body"])),
                links=tuple(_LINK.findall(event["content"].get("formatted_body", ""))),
            )
            for event in found["chunk"]
            if event["type"] == "m.room.message"
            and event["sender"] == DESK_USER
            and "body" in event["content"]
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        room = await self.room(person)
        (shown,) = (one for one in await self.shown_in(person, room) if one.ref == ref)
        key = f"{shown.buttons.index(label) + 1}\ufe0f\u20e3"
        relation = {"rel_type": "m.annotation", "event_id": ref, "key": key}
        event = await self.put(person, room, {"m.relates_to": relation}, "m.reaction")
        await self.gate.acknowledged(event)

    async def edit(self, person: str, event_id: str, text: str) -> None:
        content = {
            "msgtype": "m.text",
            "body": f"* {text}",
            "m.new_content": {"msgtype": "m.text", "body": text},
            "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
        }
        event = await self.put(person, await self.room(person), content)
        await self.gate.acknowledged(event)

    async def remove(self, person: str, event_id: str) -> None:
        self._count += 1
        account = await self.person(person)
        room = quote(await self.room(person))
        path = f"client/v3/rooms/{room}/redact/{quote(event_id)}/t{self._count}"
        event = (await account.call("PUT", path, {}))["event_id"]
        await self.gate.acknowledged(event)

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        account = await self.person(person)
        query = {"filename": name}
        stored = await account.call("POST", "media/v3/upload", data=data, query=query)
        content = {
            "msgtype": "m.file",
            "body": text or name,
            "filename": name,
            "url": stored["content_uri"],
            "info": {"size": len(data), "mimetype": "text/plain"},
        }
        event = await self.put(person, await self.room(person), content)
        await self.gate.acknowledged(event)
        return event

    async def block(self, person: str) -> None:
        account = await self.person(person)
        room = await self.room(person)
        path = f"client/v3/rooms/{quote(room)}/kick"
        await account.call("POST", path, {"user_id": DESK_USER})

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        status, body = 503, {"errcode": "M_UNKNOWN", "error": "Overloaded"}
        if retry_after:
            status = 429
            body = {"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests"}
            body |= {"retry_after_ms": retry_after * 1000}  # type: ignore[dict-item]
        self.gate.fail_next("/send/m.room.message/", status, body, count)

    async def close(self) -> None:
        await self.gate.close()
        self.synapse.kill()


@asynccontextmanager
async def matrix_platform(
    mode: Literal["client", "appservice"] = "client",
) -> AsyncIterator[MatrixPlatform]:
    """Run a homeserver; the test is skipped where Synapse is not installed."""
    if not is_installed():
        pytest.skip("matrix-synapse is not installed: the extra `browser` brings it")
    with tempfile.TemporaryDirectory(prefix="synapse-") as folder:
        platform = MatrixPlatform(Path(folder), mode)
        with platform.synapse.ended_with_parent():
            try:
                await platform.open()
                yield platform
            finally:
                await platform.close()
