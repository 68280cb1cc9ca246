"""Tries the token, its scopes and the way back from Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from aitp_desk.capability import Request, Unanswered
from aitp_desk.transports.base import Failed, Host, Step
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


async def diagnose(
    settings: SlackSettings, host: Host, api: SlackApi, app_api: SlackApi | None, secret: str
) -> AsyncIterator[Step]:
    """Yield the steps of a test; the first that fails is the last.

    Parameters:
        app_api: with the app-level token, in the mode socket.
        secret: the signing secret, in the mode events.
    """
    token = "Slack accepts the bot token."  # noqa: S105 -- a sentence
    try:
        tested = await api.call("auth.test", is_form=True)
    except Failed as error:
        yield Step(what=token, is_done=False, detail=error.reason)
        return
    workspace = f"Workspace {tested.text('team')}, as @{tested.text('user')}."
    yield Step(what=token, is_done=True, detail=workspace)

    missing = [scope for scope in SCOPES if scope not in tested.scopes]
    detail = f"Add the bot scopes {', '.join(missing)} and install the app again."
    scopes = "The token has the scopes that the desk needs."
    yield Step(what=scopes, is_done=not missing, detail=detail if missing else "")
    if missing:
        return

    if app_api is not None:
        yield await _try_connection(app_api, settings.api_url)
    else:
        yield await _try_address(host, secret)


async def _try_connection(api: SlackApi, api_url: str) -> Step:
    what = "Slack greets the desk in Socket Mode."
    try:
        async with asyncio.timeout(GREETING_SECONDS):
            await greet(await find_socket_url(api, api_url))
    except Failed as error:
        return Step(what=what, is_done=False, detail=error.reason)
    except (ConnectionLost, TimeoutError) as error:
        return Step(what=what, is_done=False, detail=str(error) or "No greeting came.")
    return Step(what=what, is_done=True)


async def _try_address(host: Host, secret: str) -> Step:
    """Send what Slack sends to check the address, signed with the same secret."""
    base = f"{host.url}/transports/slack"
    what = f"The desk answers Slack's check at {base}/events."
    challenge = host.secret("slack check").hex()
    body = msgspec.json.encode({"type": "url_verification", "challenge": challenge})
    timestamp = str(int(host.clock()))
    request = Request(
        url=f"{base}/events",
        method="POST",
        body=body,
        headers={
            "Content-Type": "application/json",
            TIMESTAMP_HEADER: timestamp,
            SIGNATURE_HEADER: sign(secret, timestamp, body),
        },
    )
    try:
        response = await host.send(request)
    except Unanswered as error:
        detail = f"{error} Slack calls this address: it must be public."
        return Step(what=what, is_done=False, detail=detail)
    if response.status != HTTPStatus.OK or challenge.encode() not in response.body:
        detail = (
            f"The address answered with status {response.status}. site.url must lead to this desk."
        )
        return Step(what=what, is_done=False, detail=detail)
    detail = (
        f"In the app's settings: Event Subscriptions {base}/events, "
        f"Interactivity {base}/interactions, Slash Commands {base}/commands."
    )
    return Step(what=what, is_done=True, detail=detail)
