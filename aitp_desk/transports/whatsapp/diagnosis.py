"""Tries the token, the number, and the way back: ``aitp-desk transport test``.

Source: Graph API, "WhatsApp Business Account Phone Number", "Messaging Health Status", "Subscribed
Apps", "Webhook Overrides" and "/{app-id}/subscriptions".
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from urllib.parse import urlencode

from aitp_desk.capability import Request, Unanswered
from aitp_desk.transports.base import Failed, Host, Step, try_steps
from aitp_desk.transports.whatsapp.client import GraphApi
from aitp_desk.transports.wire.payload import EMPTY, Payload

UNREGISTERED = frozenset({"PENDING", "DISCONNECTED", "DELETED", "MIGRATED", "BANNED"})
"""States of a number that carries no messages."""
ACCOUNT = "whatsapp_business_account"


class Diagnosis:
    """The steps of a check.

    Parameters:
        app_secret: of the app.
        verify_token: what Meta shows when it verifies the webhook.
        url: of the webhook.
    """

    def __init__(
        self, api: GraphApi, host: Host, *, app_secret: str, verify_token: str, url: str
    ) -> None:
        self._api = api
        self._host = host
        self._secret = app_secret
        self._verify_token = verify_token
        self._url = url
        self._entities: dict[str, str] = {}
        """Ids of the app and of the account, as Meta names them with the number."""

    def run(self) -> AsyncIterator[Step]:
        """Yield the steps; the first that fails is the last."""
        return try_steps(
            (
                ("Meta accepts the access token for the number.", self._check_token),
                ("The app's secret belongs to the token's app.", self._check_secret),
                ("The number is registered.", self._check_registration),
                ("The webhook can be reached and answers.", self._check_webhook),
                ("The app gets the messages of the account.", self._check_account),
                ("Meta delivers them to the webhook.", self._check_subscription),
            )
        )

    async def _check_token(self) -> str:
        number = await self._api.describe_number("display_phone_number", "verified_name")
        return f"The number is {number.text('display_phone_number', 32)}."

    async def _check_secret(self) -> str:
        await self._api.describe_number("id", app_secret=self._secret)
        return ""

    async def _check_registration(self) -> str:
        number = await self._api.describe_number("status", "platform_type", "health_status")
        entities = number.part("health_status").parts("entities")
        self._entities = {one.text("entity_type", 32): one.text("id", 32) for one in entities}
        status, platform = number.text("status", 32), number.text("platform_type", 32)
        if platform != "CLOUD_API" or status in UNREGISTERED:
            raise Failed(
                f"Meta says {status or 'nothing'}, {platform or 'nothing'}: register the number"
                " by a POST to PHONE_NUMBER_ID/register."
            )
        return ""

    async def _check_webhook(self) -> str:
        challenge = secrets.token_hex(8)
        query = {
            "hub.mode": "subscribe",
            "hub.verify_token": self._verify_token,
            "hub.challenge": challenge,
        }
        request = Request(url=f"{self._url}?{urlencode(query)}")
        where = f"In the app's dashboard the callback URL is {self._url}."
        try:
            response = await self._host.send(request)
        except Unanswered as error:
            raise Failed(f"{error} Meta calls this address: it must be public.") from None
        if response.status != 200 or response.body != challenge.encode():
            raise Failed(f"The desk does not answer there. {where}")
        return where

    async def _check_account(self) -> str:
        app, account = self._find("APP"), self._find("WABA")
        apps = await self._api.list_apps(account)
        if not any(one.part("whatsapp_business_api_data").text("id", 32) == app for one in apps):
            raise Failed(f"It does not: subscribe it by a POST to {account}/subscribed_apps.")
        return ""

    async def _check_subscription(self) -> str:
        found = await self._api.list_subscriptions(self._find("APP"), self._secret)
        of_account = next((one for one in found if one.text("object", 64) == ACCOUNT), EMPTY)
        fields = {one.text("name", 64) for one in of_account.parts("fields")}
        if "messages" not in fields or not of_account.flag("active"):
            raise Failed(
                "The webhook has not subscribed to messages: do so in the app's dashboard, below"
                " WhatsApp > Configuration."
            )
        chosen = (await self._api.describe_number("webhook_configuration")).part(
            "webhook_configuration"
        )
        url = _first(chosen, "phone_number", ACCOUNT) or of_account.text("callback_url", 2048)
        if url != self._url:
            raise Failed(f"It delivers to {url or 'no address'}: set {self._url}.")
        return ""

    def _find(self, kind: str) -> str:
        found = self._entities.get(kind, "")
        if not (found.isascii() and found.isdigit()):
            raise Failed(
                "Meta does not name the app and the account of the number: the token needs the"
                " permission whatsapp_business_management."
            )
        return found


def _first(members: Payload, *names: str) -> str:
    return next((text for name in names if (text := members.text(name, 2048))), "")
