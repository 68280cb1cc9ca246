"""Sends healthchecks to other agents by plain AITP calls.

Source: AITP 0.1, Threads API; AITP-04.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from aitp_desk.capability import Health, Request, Response, Send, Unanswered
from aitp_operations.messages import AgentHealth

PUBLISHED = "https://aitp.dev/v1/operations.schema.json"
"""The ``$schema`` of healthchecks to other agents: the draft's URL, which all know."""
SECONDS = 10.0
"""Timeout of one call to a peer."""
WAIT_SECONDS = 5
"""Maximum time that a peer may wait for its own reply."""
MOST_BYTES = 64 * 1024
BUSY = frozenset({429, 503})

SAYS_DEGRADED = "It reports that it is degraded."
SAYS_DOWN = "It reports that it is down."


class Peer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another agent that is monitored.

    Parameters:
        name: its name here.
        url: its base URL, below which its threads are.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,39}$")]
    url: Annotated[str, Meta(pattern=r"^https?://\S+$", max_length=2000)]


T = TypeVar("T")


class _Thread(msgspec.Struct):
    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,200}$")]


class _Message(msgspec.Struct):
    role: str
    content: Any = None


class _Messages(msgspec.Struct):
    data: list[_Message]


class _PeerAnswer(msgspec.Struct):
    health: AgentHealth


class _Unfit(Exception):
    """A peer's response does not conform to AITP."""


class _Busy(Exception):
    """A peer rejects callers because of load."""


async def ask_all(
    peers: Sequence[Peer], actor: str, send: Send, tell: Callable[[str, Health | None], None]
) -> None:
    """Ask all peers for their health, concurrently.

    Parameters:
        actor: id of the desk's own actor.
        tell: receives the health of each by name, as soon as it is known; None if it is well.
    """

    async def ask_one(peer: Peer) -> None:
        tell(peer.name, await ask(peer, actor, send))

    await asyncio.gather(*map(ask_one, peers))


async def ask(peer: Peer, actor: str, send: Send) -> Health | None:
    """Ask one peer for its health; None if it is well."""
    try:
        return await _ask(peer.url.rstrip("/") + "/v1/threads", actor, send)
    except Unanswered as failure:
        return Health("down", failure.reason)
    except _Busy as failure:
        return Health("degraded", str(failure))
    except _Unfit as failure:
        return Health("down", str(failure))


async def _ask(threads: str, actor: str, send: Send) -> Health | None:
    opened = await send(_opening(threads, actor))
    thread = f"{threads}/{_read(opened, _Thread).id}"
    try:
        query = "?order=desc&limit=20"
        messages = await send(Request(url=f"{thread}/messages{query}", seconds=SECONDS))
        return _judge(_read(messages, _Messages).data)
    finally:
        await _delete(thread, send)


def _opening(threads: str, actor: str) -> Request:
    """Return the request for a thread with a healthcheck and the declared capability."""
    asked = msgspec.json.encode({"$schema": PUBLISHED, "healthcheck": {}}).decode()
    thread = {
        "messages": [{"role": "user", "content": [asked]}],
        "metadata": {"actors": [{"id": actor, "capabilities": [{"schema": PUBLISHED}]}]},
    }
    headers = {"Content-Type": "application/json", "Prefer": f"wait={WAIT_SECONDS}"}
    return Request(
        url=threads,
        method="POST",
        body=msgspec.json.encode(thread),
        headers=headers,
        max_bytes=MOST_BYTES,
        seconds=SECONDS,
    )


async def _delete(thread: str, send: Send) -> None:
    """Delete the thread at the peer; if that fails, the peer expires it."""
    try:
        await send(Request(url=thread, method="DELETE", seconds=SECONDS))
    except Unanswered:
        return


def _read(response: Response, type_: type[T]) -> T:
    if response.status in BUSY:
        raise _Busy(f"It rejects callers (status {response.status}).")
    if not 200 <= response.status < 300:
        raise _Unfit(f"It responds with status {response.status}.")
    try:
        return msgspec.json.decode(response.body, type=type_)
    except (msgspec.DecodeError, RecursionError):
        raise _Unfit("Its response does not conform to AITP's Threads API.") from None


def _judge(messages: Sequence[_Message]) -> Health | None:
    """Derive a peer's health from its replies; a text reply means that it is well."""
    replies = [one for one in messages if one.role != "user"]
    if not replies:
        return Health("degraded", "It has not replied.")
    status = next((told.status for reply in replies for told in _told(reply)), "up")
    if status == "degraded":
        return Health("degraded", SAYS_DEGRADED)
    return Health("down", SAYS_DOWN) if status == "down" else None


def _told(reply: _Message) -> Iterator[AgentHealth]:
    parts = reply.content if isinstance(reply.content, list) else [reply.content]
    for part in parts:
        if isinstance(part, str) and '"health"' in part:
            try:
                yield msgspec.json.decode(part, type=_PeerAnswer).health
            except (msgspec.DecodeError, RecursionError):
                continue
