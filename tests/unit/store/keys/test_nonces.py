"""What may be used once, on every engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.auth.credentials.nonces import NonceCache
from aitp_desk.model.errors import NotAuthenticated, StoreBusy
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.units.keys.nonces import forget_nonces
from tests.support.store.messages import HOUR, NOW


async def forget(store: Store, before: int, limit: int = 10) -> int:
    return await store.run(forget_nonces, before=before, limit=limit)


async def test_a_nonce_is_used_once_whenever_it_ends(store: Store) -> None:
    nonces = NonceCache(store)
    await nonces.use("key:a", "one", until=NOW)
    for until in (NOW, NOW + HOUR, NOW - HOUR):
        with pytest.raises(NotAuthenticated):
            await nonces.use("key:a", "one", until=until)


async def test_it_is_on_disk_before_whatever_is_written_after_it(store: Store) -> None:
    await NonceCache(store).use("key:a", "one", until=NOW)
    await store.run(forget_nonces, before=0, limit=1)
    with pytest.raises(NotAuthenticated):
        await NonceCache(store).use("key:a", "one", until=NOW)


async def test_it_is_used_whether_it_is_still_known_in_memory_or_not(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.auth.credentials.nonces.MAX_RECENT", 2)
    nonces = NonceCache(store)
    for number in range(7):
        await nonces.use("a", str(number), until=NOW)
    await store.settled()
    for number in range(7):
        with pytest.raises(NotAuthenticated):
            await nonces.use("a", str(number), until=NOW)


async def test_what_cannot_be_written_down_was_not_used(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path / "desk.db", queue=1) as store:
        nonces = NonceCache(store)
        written = asyncio.ensure_future(store.run(forget_nonces, before=NOW, limit=1))
        await asyncio.sleep(0)  # it waits in the queue now, which is full with it
        with pytest.raises(StoreBusy):
            await nonces.use("a", "one", until=NOW)
        await written
        await nonces.use("a", "one", until=NOW)


async def test_other_nonces_and_other_scopes_are_free(store: Store) -> None:
    nonces = NonceCache(store)
    for scope, nonce in [("a", "b c"), ("a b", "c"), ("a", "bc"), ("", "1 a b c"), ("b", "b c")]:
        await nonces.use(scope, nonce, until=NOW)
    with pytest.raises(NotAuthenticated):
        await nonces.use("a b", "c", until=NOW)


async def test_of_many_at_once_with_one_nonce_one_succeeds(store: Store) -> None:
    nonces = NonceCache(store)
    attempts = [nonces.use("a", str(number % 5), until=NOW) for number in range(50)]
    ended = await asyncio.gather(*attempts, return_exceptions=True)
    assert ended.count(None) == 5
    assert sum(isinstance(end, NotAuthenticated) for end in ended) == 45


async def test_a_nonce_of_any_length_and_spelling_is_used_once(store: Store) -> None:
    nonces = NonceCache(store)
    for nonce in ("", "\0", "é", "\udce9", "x" * 100_000, "x" * 100_001):
        await nonces.use("a", nonce, until=NOW + 0.5)
        with pytest.raises(NotAuthenticated):
            await nonces.use("a", nonce, until=NOW + 0.5)


async def test_what_has_ended_is_forgotten_in_pieces_and_nothing_else(store: Store) -> None:
    nonces = NonceCache(store)
    for number in range(5):
        await nonces.use("a", str(number), until=NOW + number)
    assert [await forget(store, NOW + 3, 2) for _ in range(3)] == [2, 1, 0]
    nonces = NonceCache(store)  # which remembers nothing by itself
    await nonces.use("a", "0", until=NOW)
    with pytest.raises(NotAuthenticated):
        await nonces.use("a", "3", until=NOW + 3)


async def test_a_part_of_a_second_counts_as_a_whole_one(store: Store) -> None:
    await NonceCache(store).use("a", "one", until=NOW + 0.1)
    assert await forget(store, NOW + 1) == 0
    assert await forget(store, NOW + 2) == 1


async def test_of_several_processes_one_can_use_it(store: Store) -> None:
    processes = [NonceCache(store, is_shared=True) for _ in range(3)]
    attempts = [one.use("a", "one", until=NOW) for one in (*processes, *processes)]
    ended = await asyncio.gather(*attempts, return_exceptions=True)
    assert ended.count(None) == 1
    assert sum(isinstance(end, NotAuthenticated) for end in ended) == 5
    await processes[0].use("b", "one", until=NOW)
    with pytest.raises(NotAuthenticated):
        await processes[1].use("b", "one", until=NOW)
