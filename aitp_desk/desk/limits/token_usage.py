"""The tokens that models have used today (UTC), kept in the store: a restart forgets none."""

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
    """Counts what models use, for each caller and for all together.

    Parameters:
        digest: makes of a caller what may be kept: who it is, or where, cannot be read from it.
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
        """How many were used for a caller today, at the desk that it calls."""
        return await reads.tokens_used(self._store, self.today, self._used_by(principal))

    async def used_by_all(self) -> int:
        """How many were used today, whatever for."""
        return await reads.tokens_used(self._store, self.today, ALL_CALLERS)

    async def add(self, principal: Principal, tokens: int) -> None:
        """Count tokens for a caller. What cannot be kept is logged: the answer stands."""
        try:
            await self._store.run(
                add_tokens_used, day=self.today, used_by=self._used_by(principal), tokens=tokens
            )
        except (StoreBusy, StoreError) as error:
            _log.warning("tokens_not_kept", tokens=tokens, reason=str(error))

    def keep(self, day: int, tokens: int) -> None:
        """Count tokens for all together, without waiting: on disk within 100 ms.

        What the store cannot take now it is given with what comes next.
        """
        tokens += self._unkept.pop(day, 0)
        try:
            self._store.record(add_tokens_used, day=day, used_by=ALL_CALLERS, tokens=tokens)
        except StoreBusy:
            self._unkept = {day: tokens}

    def _used_by(self, principal: Principal) -> bytes:
        return self._digest(f"{principal.desk}\n{principal.limited_as}".encode())
