"""Shares answers to first questions among processes, where they share a Valkey server.

Answers stand in one table, which is dropped whole when an answer's time is over, and whenever a
process evicts its own: what was erased must not come back from another process. They are written
later, a few at a time, so that no visitor waits for it. While the server is away each process has
its own answers only.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.agent.base import Answer
from aitp_desk.store.valkey import ValkeyAway, ValkeyServer

MOST_WAITING = 100
"""How many answers may wait to be written; further ones are not shared."""
MOST_BYTES = 64 * 1024
"""Maximum size of a shared answer."""


class SharedAnswer(msgspec.Struct, frozen=True):
    """An answer and when it was made, in Unix seconds."""

    answer: Answer
    made_at: float


class SharedAnswers:
    """The answers that the processes of a desk share.

    Parameters:
        server: where they are kept.
        table: its name depends on all settings that an answer depends on.
        digest: hashes what an answer depends on, so that the server holds no question as a key.
        ttl: seconds that an answer is reused.
    """

    def __init__(
        self, server: ValkeyServer, *, table: str, digest: Callable[[bytes], bytes], ttl: int
    ) -> None:
        self._server = server
        self._table = table
        self._digest = digest
        self._ttl = ttl
        self._waiting: dict[str, str] = {}
        self._must_clear = False
        self._clearings = 0
        self._decode = msgspec.json.Decoder(SharedAnswer).decode

    async def find(self, revision: str, key: object) -> SharedAnswer | None:
        """Return the answer of another process; None if there is none, or it cannot be had."""
        clearings = self._clearings
        if self._must_clear:
            return None
        try:
            found = await self._server.read_field(self._table, self._field(revision, key))
            is_cleared = self._clearings != clearings
            return None if found is None or is_cleared else self._decode(found)
        except (ValkeyAway, msgspec.MsgspecError):
            return None

    def put(self, revision: str, key: object, answer: Answer, made_at: float) -> None:
        """Share an answer with the other processes, within a second."""
        encoded = msgspec.json.encode(SharedAnswer(answer, made_at))
        if len(encoded) <= MOST_BYTES and len(self._waiting) < MOST_WAITING:
            self._waiting[self._field(revision, key)] = encoded.decode()

    def clear(self) -> None:
        """Drop the answers of all processes; until that is done none is read here."""
        self._waiting.clear()
        self._must_clear = True
        self._clearings += 1

    async def write(self) -> None:
        """Drop what is to be dropped, and write the answers that wait."""
        try:
            if self._must_clear:
                clearings = self._clearings
                await self._server.drop_table(self._table)
                self._must_clear = self._clearings != clearings
            if self._waiting:
                waiting, self._waiting = self._waiting, {}
                await self._server.write_fields(self._table, waiting, seconds=self._ttl)
        except ValkeyAway:
            self._waiting.clear()

    def _field(self, revision: str, key: object) -> str:
        return self._digest(f"{revision}\n{key!r}".encode()).hex()
