"""Spaces messages in time, as a platform's rate limits demand."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

MOST_CONVERSATIONS = 10_000


class Pace:
    """The next free moments of a transport, all conversations together and each alone.

    Every process has its own. Where several send, the platform's refusals slow them down.

    Parameters:
        per_second: messages to all conversations.
        per_conversation: messages to one.
    """

    def __init__(self, per_second: float, per_conversation: float) -> None:
        self._gap = 1 / per_second
        self._gap_of_one = 1 / per_conversation
        self._free_at = 0.0
        self._free_at_of: OrderedDict[str, float] = OrderedDict()

    async def wait(self, conversation: str = "") -> None:
        """Wait until the next message to a conversation may be sent.

        Parameters:
            conversation: empty for a request that is no message to one.
        """
        now = asyncio.get_running_loop().time()
        at = max(now, self._free_at, self._free_at_of.pop(conversation, 0.0))
        self._free_at = max(now, self._free_at) + self._gap
        if conversation:
            self._free_at_of[conversation] = at + self._gap_of_one
        while len(self._free_at_of) > MOST_CONVERSATIONS:
            self._free_at_of.popitem(last=False)
        if at > now:
            await asyncio.sleep(at - now)
