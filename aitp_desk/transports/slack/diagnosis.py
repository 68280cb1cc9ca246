"""Tries the token, its scopes and the way back from Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from aitp_desk.capability import Request, Unanswered
from aitp_desk.transports.base import Failed, Host, Step, Try, try_steps
from aitp_desk.transports.slack.connection import ConnectionLost, find_socket_url, greet
from aitp_desk.transports.slack.settings import SlackSettings
from aitp_desk.transports.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign

if TYPE_CHECKING:
    from aitp_desk.transports.slack.api import SlackApi

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
)
"""What the desk needs, of the bot token."""
GREETING_SECONDS = 10.0


class Diagnosis:
    """The steps of a check.

    Parameters:
        app_api: with the app-level token, in the mode socket.
        secret: the signing secret, in the mode events.
    """

    def __init__(
        self,
        settings: SlackSettings,
        host: Host,
        api: SlackApi,
        app_api: SlackApi | None,
        secret: str,
    ) -> None:
        self._settings = settings
        self._host = host
        self._api = api
        self._app_api = app_api
        self._secret = secret
        self._base = f"{host.url}/transports/slack"
        self._scopes: Collection[str] = ()

    def run(self) -> AsyncIterator[Step]:
        """Yield the steps; the first that fails is the last."""
        way: Try = (f"The desk answers Slack's check at {self._base}/events.", self._check_address)
        if (api := self._app_api) is not None:
            way = ("Slack greets the desk in Socket Mode.", partial(self._connect, api))
        return try_steps(
            (
                ("Slack accepts the bot token.", self._check_token),
                ("The token has the scopes that the desk needs.", self._check_scopes),
                way,
            )
        )

    async def _check_token(self) -> str:
        tested = await self._api.call("auth.test", is_form=True)
        self._scopes = tested.scopes
        return f"Workspace {tested.text('team')}, as @{tested.text('user')}."

    async def _check_scopes(self) -> str:
        if missing := [scope for scope in SCOPES if scope not in self._scopes]:
            raise Failed(f"Add the bot scopes {', '.join(missing)} and install the app again.")
        return ""

    async def _connect(self, api: SlackApi) -> str:
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                await greet(await find_socket_url(api, self._settings.api_url))
        except (ConnectionLost, TimeoutError) as error:
            raise Failed(str(error) or "No greeting came.") from None
        return ""

    async def _check_address(self) -> str:
        """Send what Slack sends to check the address, signed with the same secret."""
        challenge = self._host.secret("slack check").hex()
        body = msgspec.json.encode({"type": "url_verification", "challenge": challenge})
        timestamp = str(int(self._host.clock()))
        headers = {
            "Content-Type": "application/json",
            TIMESTAMP_HEADER: timestamp,
            SIGNATURE_HEADER: sign(self._secret, timestamp, body),
        }
        url = f"{self._base}/events"
        request = Request(url=url, method="POST", body=body, headers=headers)
        try:
            response = await self._host.send(request)
        except Unanswered as error:
            raise Failed(f"{error} Slack calls this address: it must be public.") from None
        if response.status != HTTPStatus.OK or challenge.encode() not in response.body:
            raise Failed(
                f"The address answered with status {response.status}. site.url must lead to this"
                " desk."
            )
        return (
            f"In the app's settings: Event Subscriptions {url}, "
            f"Interactivity {self._base}/interactions, Slash Commands {self._base}/commands."
        )
