"""OAuth clients and signing keys, on every engine."""

from __future__ import annotations

import msgspec
import pytest

from aitp_desk.model.errors import PreconditionFailed, Unavailable
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import clients as client_reads
from aitp_desk.store.records.clients import Client, SigningKey
from aitp_desk.store.units.keys.clients import (
    create_client,
    register_client,
    revoke_client,
    rotate_signing_key,
)
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH

NOW = 1_800_000_000
DAY = 86_400
OWNERS = Client(
    "00000000000000aa", "shop", b"h" * 32, ("threads", "actions"), NOW, is_registered=False
)


def registered(n: int, *, at: int = NOW, lasts: int = DAY) -> Client:
    id_, until = f"{n:016x}", at + lasts
    return Client(id_, "shop", b"h" * 32, ("threads",), at, expires_at=until, is_registered=True)


async def test_a_client_is_kept_as_it_was_made(store: Store) -> None:
    stranger = registered(1)
    await store.run(create_client, client=OWNERS)
    await store.run(register_client, client=stranger, most=1)
    assert await client_reads.client(store, OWNERS.id) == OWNERS
    assert await client_reads.list_clients(store) == (stranger, OWNERS)
    assert await client_reads.client(store, "0" * 16) is None


async def test_no_two_live_clients_of_the_owner_share_a_name(store: Store) -> None:
    other = msgspec.structs.replace(OWNERS, id="00000000000000bb")
    await store.run(create_client, client=OWNERS)
    with pytest.raises(PreconditionFailed, match="'shop'"):
        await store.run(create_client, client=other)
    await store.run(revoke_client, id_or_name="shop", now=NOW + 1)
    await store.run(create_client, client=other)
    assert len(await client_reads.list_clients(store)) == 2


async def test_a_client_is_revoked_by_its_id_and_the_owners_by_its_name(store: Store) -> None:
    await store.run(register_client, client=registered(1), most=9)
    before = await reads.epoch(store, TOKENS_EPOCH)
    # a stranger chose this name
    assert await store.run(revoke_client, id_or_name="shop", now=NOW) is None
    assert await reads.epoch(store, TOKENS_EPOCH) == before
    await store.run(create_client, client=OWNERS)
    revoked = await store.run(revoke_client, id_or_name="shop", now=NOW + 5)
    assert revoked == msgspec.structs.replace(OWNERS, revoked_at=NOW + 5)
    revoked = await store.run(revoke_client, id_or_name=registered(1).id, now=NOW + 6)
    assert revoked is not None
    assert await client_reads.client(store, registered(1).id) == revoked
    assert await reads.epoch(store, TOKENS_EPOCH) == before + 2
    assert await store.run(revoke_client, id_or_name="shop", now=NOW + 7) is None


async def test_so_many_clients_register_and_no_more_until_one_expires(store: Store) -> None:
    await store.run(create_client, client=OWNERS)  # not counted
    for n in (1, 2):
        await store.run(register_client, client=registered(n, lasts=n * DAY), most=2)
    with pytest.raises(Unavailable):
        await store.run(register_client, client=registered(3, at=NOW + DAY - 1), most=2)
    await store.run(register_client, client=registered(4, at=NOW + DAY), most=2)
    # the expired one is forgotten, the refused one was never kept
    left = [client.id for client in await client_reads.list_clients(store)]
    assert left == [registered(2).id, OWNERS.id, registered(4).id]


async def test_a_revoked_client_frees_its_place(store: Store) -> None:
    await store.run(register_client, client=registered(1), most=1)
    with pytest.raises(Unavailable):
        await store.run(register_client, client=registered(2), most=1)
    await store.run(revoke_client, id_or_name=registered(1).id, now=NOW)
    await store.run(register_client, client=registered(2), most=1)
    with pytest.raises(Unavailable):
        await store.run(register_client, client=registered(3), most=1)


async def test_signing_keys_come_one_after_the_other(store: Store) -> None:
    before = await reads.epoch(store, TOKENS_EPOCH)
    assert await client_reads.signing_keys(store) == ()
    second = await store.run(rotate_signing_key, now=NOW, ahead=600, data_key=1)
    assert second == SigningKey(2, NOW, NOW + 600)
    with pytest.raises(PreconditionFailed, match="1 seconds"):
        await store.run(rotate_signing_key, now=NOW + 599, ahead=600, data_key=1)
    third = await store.run(rotate_signing_key, now=NOW + 600, ahead=600, data_key=2)
    assert await client_reads.signing_keys(store) == (second, third)
    assert third.data_key == 2
    assert await reads.epoch(store, TOKENS_EPOCH) == before + 2


async def test_a_signing_key_that_ends_those_before_it_waits_for_nothing(store: Store) -> None:
    second = await store.run(rotate_signing_key, now=NOW, ahead=600, data_key=1)
    third = await store.run(
        rotate_signing_key, now=NOW + 1, ahead=600, data_key=1, voids_earlier=True
    )
    assert third == SigningKey(3, NOW + 1, NOW + 1, 1, voids_earlier=True)
    assert await client_reads.signing_keys(store) == (second, third)


@pytest.mark.parametrize(
    ("revoked_at", "expires_at", "live"),
    [(None, None, True), (None, NOW + 1, True), (None, NOW, False), (NOW - 9, None, False)],
)
def test_a_client_lives_until_it_is_revoked_or_expires(
    revoked_at: int | None, expires_at: int | None, live: bool
) -> None:
    client = msgspec.structs.replace(OWNERS, revoked_at=revoked_at, expires_at=expires_at)
    assert client.is_live(NOW) is live
