"""Operators in a room of a failing platform, and what the desk has acknowledged to them."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec

from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.desk.tickets.bindings import OperatorBindings
from aitp_desk.store.reads import threads as reads
from aitp_desk.transports.events import Choice, Event, Incoming, TextMessage
from aitp_desk.transports.messages import Outgoing
from aitp_desk.transports.operators.text import NOTE_MARK
from tests.faults.databases import FaultDatabase, open_fault_store
from tests.faults.processes.writers import Delivery, FailingPlatform
from tests.support.access.keys import make_key

ROOM = "room-of-operators"
NAMES = ("anna", "ben")
NEWEST = 12
"""Among so many messages of the room an operator chooses what to act on."""
LONGEST_PAUSE = 0.3
_OPEN = """
SELECT c.ticket, max(c.token) FROM operator_controls c JOIN tickets t ON t.id = c.ticket
WHERE t.state IN ('open', 'taken') AND c.deed = 'close' AND coalesce(t.taken_by, '{0}') = '{0}'
GROUP BY c.ticket
"""
"""Buttons that close what an operator may close."""


class Press(msgspec.Struct, frozen=True):
    """A button that an operator has pressed."""

    name: str
    event_id: str
    token: str
    label: str
    ref: str


class Reply(msgspec.Struct, frozen=True):
    """What an operator has written.

    Parameters:
        ref: the platform's id of it.
        of: the platform's id of the message that it answers.
        is_note: whether it is for operators only.
    """

    name: str
    text: str
    ref: str
    of: str
    is_note: bool


class Operators:
    """Two operators, who press and write at random.

    Attributes:
        presses, replies: those that the desk has acknowledged.
    """

    def __init__(self, platform: FailingPlatform, delivery: Delivery, seed: int) -> None:
        self._platform = platform
        self._delivery = delivery
        self._chance = random.Random(f"{seed} operators")
        self._count = 0
        self.presses: list[Press] = []
        self.replies: list[Reply] = []

    async def bind(self, codes: Sequence[str], http: aiohttp.ClientSession) -> None:
        """Send the codes, and wait until they count."""
        for name, code in zip(NAMES, codes, strict=True):
            bound = TextMessage(text=f"bind {code}", message_ref=f"bind-{name}")
            await self._deliver(name, bound, http, conversation=f"chat-{name}")
            while not self._platform.seen[f"chat-{name}"]:  # noqa: ASYNC110 -- of another process
                await asyncio.sleep(0.05)

    @asynccontextmanager
    async def acting(self, http: aiohttp.ClientSession) -> AsyncIterator[None]:
        """Act while the context lasts; what was begun is delivered."""
        over = asyncio.Event()
        tasks = [asyncio.create_task(self._act(name, over, http)) for name in NAMES]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*tasks)

    async def close_all(self, database: FaultDatabase, http: aiohttp.ClientSession) -> None:
        """Close what is open, and what is opened later, until cancelled."""
        pressed: dict[str, str] = {}
        while True:
            for name in NAMES:
                for ticket, token in await database.rows(_OPEN.format(name)):
                    if ticket not in pressed or pressed[ticket] in self._platform.notices:
                        pressed[ticket] = await self._press(name, token, "Close", "", http)
            await asyncio.sleep(1)

    async def _act(self, name: str, over: asyncio.Event, http: aiohttp.ClientSession) -> None:
        while not over.is_set():
            shown = self._platform.seen[ROOM][-NEWEST:]
            if shown:
                await self._act_on(name, self._chance.choice(shown), http)
            await asyncio.sleep(self._chance.uniform(0, LONGEST_PAUSE))

    async def _act_on(self, name: str, shown: Outgoing, http: aiohttp.ClientSession) -> None:
        ref = self._platform.ref_of(shown)
        if shown.buttons and self._chance.random() < 0.6:
            button = self._chance.choice(shown.buttons)
            await self._press(name, button.token, button.label, ref, http)
            return
        self._count += 1
        is_note = self._chance.random() < 0.2
        text = f"{name} says {self._count}."
        said = Reply(name, text, f"op-{self._count}", ref, is_note)
        words = f"{NOTE_MARK}{text}" if is_note else text
        message = TextMessage(text=words, message_ref=said.ref, answers_ref=ref)
        await self._deliver(name, message, http)
        self.replies.append(said)

    async def _press(
        self, name: str, token: str, label: str, ref: str, http: aiohttp.ClientSession
    ) -> str:
        event_id = await self._deliver(name, Choice(token=token, message_ref=ref), http)
        self.presses.append(Press(name, event_id, token, label, ref))
        return event_id

    async def _deliver(
        self, name: str, event: Event, http: aiohttp.ClientSession, conversation: str = ROOM
    ) -> str:
        incoming = Incoming(
            event_id=f"{name}/{time.monotonic_ns()}",
            conversation=conversation,
            sender=f"op-{name}",
            is_private=conversation != ROOM,
            is_addressed=conversation != ROOM,
            event=event,
        )
        await self._delivery.deliver_one(incoming, http)
        return incoming.event_id


async def make_codes(database: FaultDatabase, data: Path) -> list[str]:
    """Make keys for the operators, and codes that bind people to them."""
    codes = []
    async with open_fault_store(database.url, data) as store:
        audit = derive_audit_keys(await open_data_keys(store, data, os.environ))
        bindings = OperatorBindings(store, audit, time.time)
        for name in NAMES:
            await make_key(store, data, "operator", name=name)
            key = await reads.unrevoked_token(store, name)
            assert key is not None
            code, _ = await bindings.make_code("pigeon", key)
            codes.append(code)
    return codes
