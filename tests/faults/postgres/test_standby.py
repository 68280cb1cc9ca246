"""A desk whose address names a standby, which takes no writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.units.keys.nonces import use_nonce
from tests.support.store.postgres import PostgresCluster, standby_pair

pytestmark = pytest.mark.servers
KIND = "&target_session_attrs=read-write"
UNTIL = 2_000_000_000
Pair = tuple[PostgresCluster, PostgresCluster]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with standby_pair("-c autovacuum=off") as servers:
        yield servers


async def use(store: PostgresStore, number: int) -> bool:
    return await store.run(use_nonce, nonce=bytes([number]) * 32, until=UNTIL)


async def test_the_one_that_takes_writes_is_used(pair: Pair) -> None:
    first, standby = pair
    url = standby.url_with(first)
    assert KIND in url
    async with PostgresStore.open(url.replace(KIND, ""), {}) as store:
        assert await use(store, 1)


async def test_a_standby_alone_is_refused(pair: Pair) -> None:
    first, standby = pair
    async with PostgresStore.open(first.url, {}):
        pass
    with pytest.raises(StoreError, match="standby, which takes no writes"):
        async with PostgresStore.open(standby.url, {}):
            pass


async def test_callers_are_turned_away_until_it_is_promoted(pair: Pair) -> None:
    first, standby = pair
    url = first.url_with(standby).replace(KIND, "&target_session_attrs=any")
    async with PostgresStore.open(url, {}) as store:
        assert await use(store, 1)
        first.stop()
        with pytest.raises(StoreBusy):
            await use(store, 2)
        standby.promote()
        assert await use(store, 2)
        assert not await use(store, 1)
