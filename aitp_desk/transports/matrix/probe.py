"""Tries the homeserver, the account and a room: ``aitp-desk transport test``."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

from aitp_desk.transports.base import Failed, Host, Step, try_steps
from aitp_desk.transports.matrix.client import Client, read_object, segment
from aitp_desk.transports.matrix.settings import MatrixSettings

OLDEST = (1, 11)
"""The first version with authenticated media."""


class Probe:
    """The steps of a check."""

    def __init__(self, settings: MatrixSettings, host: Host, client: Client) -> None:
        self._settings = settings
        self._host = host
        self._client = client

    def run(self) -> AsyncIterator[Step]:
        """Yield the steps; the first that fails is the last."""
        steps = [
            ("The homeserver answers.", self._read_versions),
            ("The homeserver accepts the token.", self._read_account),
            ("A message arrives in a room of the desk.", self._write),
        ]
        if self._settings.mode == "appservice":
            steps.insert(2, ("The homeserver reaches the desk.", self._ping))
        return try_steps(steps)

    async def _read_versions(self) -> str:
        found = read_object((await self._client.call("GET", "client/versions")).body)
        versions = found.get("versions")
        known = (
            [one for one in versions if isinstance(one, str)] if isinstance(versions, list) else []
        )
        latest = max((_number(one) for one in known), default=(0, 0))
        if latest < OLDEST:
            raise Failed("It must know version 1.11 of Matrix: update the homeserver.")
        return f"Version {latest[0]}.{latest[1]}"

    async def _read_account(self) -> str:
        found = read_object((await self._client.call("GET", "client/v3/account/whoami")).body)
        user = found.get("user_id")
        if user != self._settings.user:
            raise Failed(f"The token is another account's: set user to {user!r}, or use its token.")
        return str(user)

    async def _ping(self) -> str:
        """Have the homeserver call the desk (application service API, "Pinging")."""
        path = f"client/v1/appservice/{segment(self._settings.appservice)}/ping"
        try:
            await self._client.call("POST", path, body={"transaction_id": secrets.token_hex(8)})
        except Failed as failure:
            raise Failed(
                f"{failure.reason} The registration's url must be"
                f" {self._host.url}/transports/matrix/app, and the desk must run."
            ) from None
        return "It called the desk, which knew its token."

    async def _write(self) -> str:
        created = await self._client.call(
            "POST", "client/v3/createRoom", body={"preset": "private_chat", "name": "Test"}
        )
        room = segment(str(read_object(created.body).get("room_id")))
        try:
            path = f"client/v3/rooms/{room}/send/m.room.message/{secrets.token_hex(8)}"
            body = {"msgtype": "m.notice", "body": "Test"}
            sent = read_object((await self._client.call("PUT", path, body=body)).body)
            path = f"client/v3/rooms/{room}/event/{segment(str(sent.get('event_id')))}"
            await self._client.call("GET", path)
        finally:
            await self._client.call("POST", f"client/v3/rooms/{room}/leave")
        return "The room was left again."


def _number(version: str) -> tuple[int, int]:
    major, _, minor = version.removeprefix("v").partition(".")
    if not (major.isascii() and major.isdigit() and minor.isascii() and minor.isdigit()):
        return (0, 0)
    return (int(major[:6]), int(minor[:6]))
