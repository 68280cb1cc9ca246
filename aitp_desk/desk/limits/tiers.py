"""Tiers: callers with a credential that have specific limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from aitp_desk.config import Tier
from aitp_desk.model.access.principal import Principal

MAX_REMEMBERED = 4096
"""How many callers' tiers are cached."""


class Tiers:
    """Finds a caller's tier: the first in the list that matches.

    A tier follows from the proven id and scopes, never from unproven claims in the request.
    """

    def __init__(self, tiers: Sequence[Tier] = ()) -> None:
        self._tiers = tuple(tiers)
        self._find = lru_cache(MAX_REMEMBERED)(self._find_anew)

    @property
    def at_once(self) -> tuple[int, ...]:
        """The concurrency limits of the tiers that set one."""
        return tuple(tier.at_once for tier in self._tiers if tier.at_once)

    def find_tier(self, principal: Principal) -> Tier | None:
        """Return the caller's tier; None for callers of no tier, and for anonymous ones."""
        if not self._tiers or principal.counts_by_address:
            return None
        return self._find(principal.id, principal.scopes)

    def _find_anew(self, id_: str, scopes: frozenset[str]) -> Tier | None:
        for tier in self._tiers:
            if not scopes.isdisjoint(tier.scopes) or any(
                _is_named(id_, named) for named in tier.principals
            ):
                return tier
        return None


def _is_named(id_: str, named: str) -> bool:
    return id_.startswith(named[:-1]) if named.endswith("*") else id_ == named
