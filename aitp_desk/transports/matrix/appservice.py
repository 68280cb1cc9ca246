"""Takes the events that a homeserver sends to an application service.

Source: Matrix specification 1.16, application service API.
"""

from __future__ import annotations

import asyncio
import hmac
import re

import msgspec

from aitp_desk.model.errors import InvalidRequest, NotAuthenticated, Unavailable
from aitp_desk.transports.base import (
    Delivery,
    Endpoint,
    Failed,
    HookReply,
    HookResult,
    Host,
)
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.matrix.events import Event, decode_transaction, is_invitation
from aitp_desk.transports.matrix.inbox import Inbox
from aitp_desk.transports.matrix.invitations import Invitations
from aitp_desk.transports.matrix.listener import Listener
from aitp_desk.transports.matrix.rooms import Rooms
from aitp_desk.transports.matrix.settings import MatrixSettings

HOOK = "app"
"""Last segment of the address in the registration; the homeserver appends its paths."""
MOST_BYTES = 16 * 1024 * 1024
"""The longest transaction: a homeserver sends some hundred events of 64 KiB in one."""

_TRANSACTION = re.compile(r"_matrix/app/v1/transactions/[^/]{1,512}")
_PING = "_matrix/app/v1/ping"
_QUERY = re.compile(r"_matrix/app/v1/(?:users|rooms)/[^/]{1,1024}")


class AppService:
    """The endpoint of an application service.

    Raises:
        ValueError: the environment has no ``hs_token``.
    """

    def __init__(
        self,
        settings: MatrixSettings,
        host: Host,
        rooms: Rooms,
        inbox: Inbox,
        invitations: Invitations,
        listener: Listener,
    ) -> None:
        token = host.read_credential(settings.hs_token_env, "the registration's hs_token")
        self._proof = f"Bearer {token}".encode()
        self._user = settings.user
        self._host = host
        self._rooms = rooms
        self._inbox = inbox
        self._invitations = invitations
        self._listener = listener
        self._interrupted = ""
        self._waits = False

    def endpoint(self) -> Endpoint:
        """Return the address at which the homeserver calls."""
        return Endpoint(
            read=self.read, methods=("PUT", "POST", "GET"), max_bytes=MOST_BYTES, has_paths=True
        )

    async def read(self, delivery: Delivery) -> HookResult:
        """Read a request of the homeserver.

        Raises:
            NotAuthenticated: the ``hs_token`` is missing or wrong.
            InvalidRequest: the body is no transaction.
            Unavailable: the homeserver did not answer a question about an event; it sends the
                transaction again.
        """
        proof = delivery.headers.get("authorization", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(proof, self._proof):
            raise NotAuthenticated("The Authorization header must have the hs_token.")
        if delivery.method == "POST" and delivery.path == _PING:
            return HookResult(reply=HookReply(body=b"{}"))
        if delivery.method == "PUT" and _TRANSACTION.fullmatch(delivery.path):
            return await self._take(delivery)
        code = "M_UNRECOGNIZED"
        if delivery.method == "GET" and _QUERY.fullmatch(delivery.path):
            code = "M_NOT_FOUND"  # the desk creates neither users nor rooms
        body = msgspec.json.encode({"errcode": code, "error": "There is none."})
        return HookResult(reply=HookReply(status=404, body=body))

    async def _take(self, delivery: Delivery) -> HookResult:
        try:
            events = decode_transaction(delivery.body)
        except ValueError as error:
            raise InvalidRequest(str(error)) from None
        # another process may have seen the changes of these rooms; but what was found before the
        # homeserver refused further questions is kept, so that the next attempt gets further
        if delivery.path != self._interrupted:
            for event in events:
                self._rooms.forget(event.room)
        found: list[Incoming] = []
        try:
            for event in events:
                if is_invitation(event, self._user):
                    found += await self._join(event)
                else:
                    found += await self._inbox.read(event)
        except Failed as failure:
            self._interrupted = delivery.path
            raise Unavailable(failure.reason, retry_after=1) from failure
        waits = self._invitations.pause is not None
        follow_up = self._join_waiting if waits else None
        return HookResult(events=tuple(found), reply=HookReply(body=b"{}"), follow_up=follow_up)

    async def _join(self, event: Event) -> list[Incoming]:
        """Join, and read what was written between the invitation and this."""
        return await self._read_room(event.room) if await self._invitations.answer(event) else []

    async def _join_waiting(self) -> None:
        """Join the rooms that could not be joined yet; one call at a time does so."""
        if self._waits:
            return
        self._waits = True
        try:
            while (pause := self._invitations.pause) is not None:
                await asyncio.sleep(pause)
                for room in await self._invitations.retry():
                    for incoming in await self._read_room(room):
                        await self._host.receive(incoming)
        finally:
            self._waits = False

    async def _read_room(self, room: str) -> list[Incoming]:
        events = await self._listener.read_back(room, "")
        return [incoming for event in events for incoming in await self._inbox.read(event)]
