"""A server that acknowledges commits before they are on disk, and crashes."""

from __future__ import annotations

import pytest

from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.units.keys.nonces import use_nonce
from tests.support.store.postgres import postgres_cluster

pytestmark = pytest.mark.servers
HASTY = "-c synchronous_commit=off -c wal_writer_delay=10s -c autovacuum=off"
UNTIL = 2_000_000_000


async def test_what_was_acknowledged_is_there_after_the_crash() -> None:
    with postgres_cluster(HASTY) as cluster:
        nonces = [bytes([number]) * 32 for number in range(20)]
        async with PostgresStore.open(cluster.url, {}) as store:
            for nonce in nonces:
                assert await store.run(use_nonce, nonce=nonce, until=UNTIL)
            cluster.stop()
        cluster.start()
        async with PostgresStore.open(cluster.url, {}) as store:
            kept = [not await store.run(use_nonce, nonce=one, until=UNTIL) for one in nonces]
        assert all(kept)
