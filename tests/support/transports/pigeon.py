"""A transport of the tests' own: the smallest one that carries everything."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from aitp_desk.capability import Request, Response
from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.transports.base import (
    Delivery,
    Endpoint,
    Failed,
    HookResult,
    Host,
    Refused,
    Step,
    Transport,
    TryLater,
    Unreachable,
    WindowClosed,
)
from aitp_desk.transports.events import Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage

SECRET = "x-pigeon-secret"
MOST_FILE_BYTES = 1000


class PigeonSettings(msgspec.Struct, frozen=True):
    """Where the platform is, and the variable with its secret."""

    api: str
    secret_env: str = "PIGEON_SECRET"


class Pigeon(Transport):
    """Carries JSON to and from a platform of the tests."""

    name = "pigeon"
    settings = PigeonSettings
    bounds = Bounds(
        characters=1000,
        per_second=1000,
        per_conversation=1000,
        buttons=5,
        file_bytes=MOST_FILE_BYTES,
    )

    def __init__(self, settings: PigeonSettings, host: Host) -> None:
        super().__init__(settings, host)
        self._api = settings.api
        self._secret = host.environment.get(settings.secret_env, "")

    def endpoints(self) -> Mapping[str, Endpoint]:
        return {"events": Endpoint(read=self._read, repeats_heads=True)}

    def _read(self, delivery: Delivery) -> HookResult:
        given = delivery.headers.get(SECRET, "")
        if not hmac.compare_digest(given.encode(), self._secret.encode()):
            raise NotAuthenticated("The secret is wrong.")
        return HookResult(events=msgspec.json.decode(delivery.body, type=tuple[Incoming, ...]))

    async def send(self, outgoing: Outgoing) -> SentMessage:
        answer = await self._post("/send", msgspec.json.encode(outgoing))
        told = msgspec.json.decode(answer.body)
        return SentMessage(message_ref=told["ref"], conversation=told.get("moved", ""))

    async def retract(self, conversation: str, message_ref: str) -> None:
        await self._post("/retract", msgspec.json.encode({"ref": message_ref}))

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        told = {"event_id": incoming.event_id, "notice": notice}
        await self._post("/acknowledge", msgspec.json.encode(told))

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        answer = await self.host.send(
            Request(url=f"{self._api}/files/{file.ref}", max_bytes=max_bytes)
        )
        if answer.status == 429:
            raise _failure(answer)
        if answer.status != 200:
            raise Refused("the platform has it no more.")
        return answer.body

    async def check(self) -> AsyncIterator[Step]:
        yield Step(what="The platform answers.", is_done=True)

    async def _post(self, path: str, body: bytes) -> Response:
        answer = await self.host.send(
            Request(
                url=f"{self._api}{path}",
                method="POST",
                body=body,
                headers={SECRET: self._secret, "Content-Type": "application/json"},
            )
        )
        if answer.status == 200:
            return answer
        raise _failure(answer)


def _failure(answer: Response) -> Failed:
    if answer.status == 403:
        return Unreachable("The person has blocked the desk.")
    if answer.status == 409:
        return WindowClosed("The person has to write first.")
    if answer.status == 400:
        return Refused("The platform does not take it.")
    after: Any = answer.headers.get("retry-after", "0")
    return TryLater(f"The platform answers {answer.status}.", after=int(after))
