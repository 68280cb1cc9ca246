"""Socket Mode: a WebSocket on which Slack delivers what it would send to the desk's addresses.

Each envelope is acknowledged when its events are on disk; Slack delivers again what is not
acknowledged within three seconds (docs.slack.dev, "Using Socket Mode").
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
import structlog

from aitp_desk.model.errors import DeskError, StoreBusy, Unavailable

if TYPE_CHECKING:
    from aitp_desk.transports.slack.api import SlackApi

MOST_BYTES = 4 * 1024 * 1024
"""The largest envelope."""
HEARTBEAT_SECONDS = 30.0

_log = structlog.get_logger()


class SocketEnvelope(msgspec.Struct):
    """A message of Slack on the connection."""

    type: str = ""
    envelope_id: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    accepts_response_payload: bool = False
    reason: str = ""


Handle = Callable[[SocketEnvelope], Awaitable[dict[str, Any] | None]]
"""Handles an envelope; returns what the acknowledgement says, or None. The acknowledgement leaves
when it returns."""


class ConnectionLost(Exception):
    """The connection ended without notice, or Slack wants no new one."""


def decode_envelope(data: bytes | str) -> SocketEnvelope | None:
    """Decode a message of the connection; None if it is none that Slack documents."""
    try:
        return msgspec.json.decode(data, type=SocketEnvelope)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def is_socket_url(url: str, api_url: str) -> bool:
    """Return whether a connection may be opened: to Slack, or to the API's own host."""
    try:
        found, api = urlsplit(url), urlsplit(api_url)
        host, own = found.hostname or "", api.hostname or ""
    except ValueError:
        return False
    if found.scheme == "wss":
        return host == own or host.endswith((".slack.com", ".slack-gov.com"))
    return found.scheme == "ws" and api.scheme == "http" and host == own


async def find_socket_url(api: SlackApi, api_url: str) -> str:
    """Ask Slack for the address of a new connection.

    Raises:
        Failed: Slack gives none.
        ConnectionLost: it gives one of another host.
    """
    url = (await api.call("apps.connections.open", is_form=True)).text("url")
    if not is_socket_url(url, api_url):
        raise ConnectionLost("Slack gave no address of a connection.")
    return url


async def serve_connection(url: str, handle: Handle) -> None:
    """Handle envelopes until Slack asks for a new connection.

    Raises:
        ConnectionLost: it ended otherwise.
    """
    async with _connect(url) as connection:
        async for message in connection:
            envelope = decode_envelope(message.data)
            if envelope is None:
                _log.warning("slack.unknown_envelope")
            elif envelope.type == "disconnect":
                if envelope.reason == "link_disabled":
                    raise ConnectionLost("Socket Mode is switched off for this app.")
                return
            elif envelope.envelope_id:
                await _answer(connection, envelope, handle)
    raise ConnectionLost("The connection to Slack was lost.")


async def greet(url: str) -> None:
    """Open a connection until Slack has greeted.

    Raises:
        ConnectionLost: it did not.
    """
    async with _connect(url) as connection:
        async for message in connection:
            envelope = decode_envelope(message.data)
            if envelope is not None and envelope.type == "hello":
                return
    raise ConnectionLost("Slack closed the connection without a greeting.")


@asynccontextmanager
async def _connect(url: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
            session.ws_connect(
                url, heartbeat=HEARTBEAT_SECONDS, max_msg_size=MOST_BYTES
            ) as connection,
        ):
            yield connection
    except (aiohttp.ClientError, OSError) as error:
        # the library's text holds the address, which is a ticket
        raise ConnectionLost(f"The connection to Slack failed: {type(error).__name__}.") from None


async def _answer(
    connection: aiohttp.ClientWebSocketResponse, envelope: SocketEnvelope, handle: Handle
) -> None:
    acknowledgement: dict[str, Any] = {"envelope_id": envelope.envelope_id}
    try:
        payload = await handle(envelope)
    except (StoreBusy, Unavailable) as error:  # without an acknowledgement it comes again
        _log.warning("slack.envelope_not_stored", reason=str(error))
        return
    except DeskError as error:
        # it would be no better if Slack delivered it again
        _log.warning("slack.refused_envelope", reason=str(error))
        payload = None
    if payload is not None and envelope.accepts_response_payload:
        acknowledgement["payload"] = payload
    await connection.send_str(msgspec.json.encode(acknowledgement).decode())
