"""Which callers with a credential have limits of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from aitp_desk.config import Tier
from aitp_desk.model.access.principal import Principal

MAX_REMEMBERED = 4096
"""Of how many callers it is remembered which tier they belong to."""


class Tiers:
    """Finds a caller's tier: the first of the list that it belongs to.

    What a caller belongs to follows from what was proven, its id and its scopes, and from nothing
    that a request says of itself.
    """

    def __init__(self, tiers: Sequence[Tier] = ()) -> None:
        self._tiers = tuple(tiers)
        self._find = lru_cache(MAX_REMEMBERED)(self._find_anew)

    @property
    def at_once(self) -> tuple[int, ...]:
        """How many requests at once tiers have, of those that say it."""
        return tuple(tier.at_once for tier in self._tiers if tier.at_once)

    def find_tier(self, principal: Principal) -> Tier | None:
        """The caller's tier; None for callers of no tier, and always for anonymous ones."""
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
