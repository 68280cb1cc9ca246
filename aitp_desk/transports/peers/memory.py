"""What a desk keeps of its conversations with partners.

For each thread and partner: where the partner's conversation goes on, and the last question. That
is stored before a question is sent, so that no question is sent twice after a crash.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from aitp_desk.visitor.base import Answer, Choice


class PeerSource(msgspec.Struct, frozen=True):
    """A source of a partner's answer."""

    title: str
    url: str
    quote: str


class PeerAnswer(msgspec.Struct, frozen=True):
    """A partner's answer, as the action returns it: data, whose owner is named.

    Parameters:
        by, url: the partner's name and address.
        offer: id of what can be bought at the price that it names; empty for nothing.
    """

    by: str
    url: str
    kind: str
    text: str
    options: tuple[str, ...] = ()
    sources: tuple[PeerSource, ...] = ()
    offer: str = ""


class PeerConversation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A conversation with a partner, on one thread.

    Parameters:
        call_id: the call that sent the last question.
        answer: what the partner answered to it; None if nothing yet.
        resumes: what the partner's protocol needs to go on.
        choices: the readings that the partner offered in its last answer.
        is_priced: whether that answer asks for agreement to a price, which no words may give.
        is_trusted: whether it was held with the desk's own token.
        offered: that answer, while its price can be agreed to here.
    """

    call_id: str = ""
    answer: PeerAnswer | None = None
    resumes: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    choices: tuple[Choice, ...] = ()
    is_priced: bool = False
    is_trusted: bool = False
    offered: Answer | None = None


class PeerMemory(msgspec.Struct, frozen=True):
    """Stores the conversations with one partner.

    Parameters:
        read_bytes: returns what is stored under a key; None for nothing.
        keep_bytes: stores bytes under a key, for some days after the last use.
        replace_bytes: does so only if the key still has bytes.
        exchange_bytes: does so only if these bytes are still there, and returns whether.
    """

    read_bytes: Callable[[str], Awaitable[bytes | None]]
    keep_bytes: Callable[[str, bytes], Awaitable[None]]
    replace_bytes: Callable[[str, bytes], Awaitable[None]]
    exchange_bytes: Callable[[str, bytes, bytes], Awaitable[bool]]

    async def read(self, conversation: str) -> PeerConversation:
        """Return the conversation on a thread; a new one if there is none."""
        raw = await self.read_bytes(conversation) if conversation else None
        if raw is None:
            return PeerConversation()
        return msgspec.json.decode(raw, type=PeerConversation)

    async def keep(self, conversation: str, state: PeerConversation) -> None:
        """Store the conversation on a thread."""
        if conversation:
            await self.keep_bytes(conversation, msgspec.json.encode(state))

    async def replace(self, conversation: str, state: PeerConversation) -> None:
        """Store a kept conversation again, unless it was deleted with its thread."""
        if conversation:
            await self.replace_bytes(conversation, msgspec.json.encode(state))

    async def take_offer(self, conversation: str, call_id: str) -> PeerConversation | None:
        """Take what a call was offered, and return the conversation as it was.

        It is stored before anything is bought: an offer is taken once, by one of several callers,
        also after a crash.

        Returns:
            None if the offer is not open any more.
        """
        raw = await self.read_bytes(conversation) if conversation else None
        known = None if raw is None else msgspec.json.decode(raw, type=PeerConversation)
        if raw is None or known is None or known.offered is None or known.call_id != call_id:
            return None
        taken = msgspec.json.encode(msgspec.structs.replace(known, offered=None))
        return known if await self.exchange_bytes(conversation, raw, taken) else None
