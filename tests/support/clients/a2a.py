"""The A2A SDK's own client of a desk, in each binding and version."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import httpx
from a2a.types import a2a_pb2
from google.protobuf.json_format import ParseDict

from aitp_desk.app.server import RunningServer
from tests.support.clients.tls import certificates

if TYPE_CHECKING:
    from a2a.client import Client

Binding = Literal["JSONRPC", "HTTP+JSON"]


@asynccontextmanager
async def tasking(
    desk: RunningServer,
    binding: Binding = "JSONRPC",
    *,
    version: str = "1.0",
    key: str | None = None,
    streams: bool = False,
    **config: Any,
) -> AsyncIterator[Client]:
    """The SDK's client, made from the card that the desk serves.

    Parameters:
        version: of the protocol; for 0.3 its card names no other.
        key: its API key.
        streams: whether it sends by streams.
    """
    from a2a.client import ClientConfig, ClientFactory
    from a2a.client.card_resolver import A2ACardResolver

    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(headers=headers, timeout=30, verify=certificates()) as http:
        card = await A2ACardResolver(http, desk.url).get_agent_card()
        offered = [one for one in card.supported_interfaces if one.protocol_version == version]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(offered)
        settings = ClientConfig(
            streaming=streams,
            httpx_client=http,
            supported_protocol_bindings=[binding],
            **config,
        )
        yield ClientFactory(settings).create(card)


def request(*parts: str | dict[str, Any], **members: Any) -> a2a_pb2.SendMessageRequest:
    """A message to be sent.

    Parameters:
        parts: texts, or parts as JSON has them.
        members: of the message, but its parts; ``configuration`` is that of the request.
    """
    configuration = members.pop("configuration", {})
    said = [{"text": part} if isinstance(part, str) else part for part in parts]
    message = {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": said,
        **members,
    }
    body = {"message": message, "configuration": configuration}
    made: a2a_pb2.SendMessageRequest = ParseDict(body, a2a_pb2.SendMessageRequest())
    return made


def calling(action: str, **arguments: Any) -> dict[str, Any]:
    """A part that calls an action."""
    return {"data": {"action": action, "arguments": arguments}}


async def send(client: Client, *parts: str | dict[str, Any], **members: Any) -> a2a_pb2.Task:
    """Send a message, and return the task that comes of it."""
    (event,) = [one async for one in client.send_message(request(*parts, **members))]
    assert event.HasField("task")
    return event.task


def state(task: a2a_pb2.Task) -> str:
    """Where a task stands, in lower case and without its prefix."""
    name: str = a2a_pb2.TaskState.Name(task.status.state)
    return name.removeprefix("TASK_STATE_").lower()


def said(task: a2a_pb2.Task) -> str:
    """The words of what a task has given, or of what it asks."""
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    parts += task.status.message.parts
    return "\n".join(part.text for part in parts if part.text)
