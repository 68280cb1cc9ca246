"""Counts the tokens that models used today (UTC).

The store keeps them, so they survive a restart.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.runs.token_usage import add_tokens_used

ALL_CALLERS = b""

_log = structlog.get_logger()


class TokenUsage:
    """Counts models' tokens, per caller and in total.

    Parameters:
        digest: hashes a caller's key for storage; neither identity nor address can be read from it.
        clock: Unix seconds.
    """

    def __init__(
        self, store: Store, digest: Callable[[bytes], bytes], clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._digest = digest
        self._clock = clock
        self._unkept: dict[int, int] = {}

    @property
    def today(self) -> int:
        """The day, since 1970-01-01 (UTC)."""
        return int(self._clock() // DAY_SECONDS)

    @property
    def tomorrow(self) -> int:
        """When the day ends, in Unix seconds."""
        return (self.today + 1) * DAY_SECONDS

    async def used_by(self, principal: Principal) -> int:
        """Return the tokens used for a caller today, at its desk."""
        return await reads.tokens_used(self._store, self.today, self._used_by(principal))

    async def used_by_all(self) -> int:
        """Return all tokens used today, for any purpose."""
        return await reads.tokens_used(self._store, self.today, ALL_CALLERS)

    async def used_by_all_processes(self) -> int | None:
        """Return all tokens used today, including all that was counted here until now.

        None if the store does not answer; it is logged, and the answer continues.
        """
        try:
            await self._store.settled()
            return await self.used_by_all()
        except (StoreBusy, StoreError) as error:
            _log.warning("tokens_not_read", reason=str(error))
            return None

    async def add(self, principal: Principal, tokens: int) -> None:
        """Count tokens for a caller.

        If they cannot be stored, that is logged; the answer remains valid.
        """
        try:
            await self._store.run(
                add_tokens_used, day=self.today, used_by=self._used_by(principal), tokens=tokens
            )
        except (StoreBusy, StoreError) as error:
            _log.warning("tokens_not_kept", tokens=tokens, reason=str(error))

    def keep(self, day: int, tokens: int) -> None:
        """Count tokens for the total, without waiting: on disk within 100 ms.

        Tokens that the store refuses now are added to the next count.
        """
        tokens += self._unkept.pop(day, 0)
        try:
            self._store.record(add_tokens_used, day=day, used_by=ALL_CALLERS, tokens=tokens)
        except StoreBusy:
            self._unkept = {day: tokens}

    def _used_by(self, principal: Principal) -> bytes:
        return self._digest(f"{principal.desk}\n{principal.limited_as}".encode())
