"""Reads the names of callers, for people who see their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from aitp_desk.store.base import Store

AT_ONCE = 25
"""How many ids a query takes: as many as the statement has parameters."""
_NAMED = ("key:", "client:")


async def names(store: Store, principals: Iterable[str | None]) -> Mapping[str, str]:
    """Return the names of those principals that the owner has named, by their ids.

    A client that registered itself has chosen its name, which proves nothing: it is left out.
    """
    wanted = sorted({one for one in principals if one is not None and one.startswith(_NAMED)})
    found: dict[str, str] = {}
    for start in range(0, len(wanted), AT_ONCE):
        some = wanted[start : start + AT_ONCE]
        ids = [one.partition(":")[2] for one in some] + [""] * (AT_ONCE - len(some))
        parameters = {f"id_{letter}": id for letter, id in zip(ascii_lowercase, ids, strict=False)}
        found |= {row[0]: row[1] for row in await store.read("names_of_callers", parameters)}
    return {one: found[one] for one in wanted if one in found}
