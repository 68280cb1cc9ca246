"""Reads the processes that serve a database."""

from __future__ import annotations

from collections.abc import Mapping

from aitp_desk.store.base import Store


async def beats(store: Store) -> Mapping[str, int]:
    """Read the beats of all processes, by their ids."""
    return dict(await store.read("processes", {}))
