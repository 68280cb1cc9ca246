"""API keys and HMAC keys, on every engine."""

from __future__ import annotations

import msgspec
import pytest

from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.keys import FormerSecret, Key
from aitp_desk.store.units.keys.tokens import (
    TOKENS_EPOCH,
    create_token,
    note_token_use,
    revoke_token,
    rotate_token,
)
from tests.support.store.messages import HOUR, NOW

TOKEN = Key("a1", "shopper", b"hash", ("threads", "actions:order_lookup"), NOW)


async def test_a_token_is_kept_and_found_by_its_id(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    assert await reads.token_by_id(store, "a1") == TOKEN
    assert await reads.token_by_id(store, "a2") is None


@pytest.mark.parametrize("id_or_name", ["a1", "shopper"])
async def test_a_token_is_revoked_by_id_or_name_and_the_epoch_rises(
    store: Store, id_or_name: str
) -> None:
    await store.run(create_token, token=TOKEN)
    before = await reads.epoch(store, TOKENS_EPOCH)
    revoked = await store.run(revoke_token, id_or_name=id_or_name, now=NOW + 5)
    assert revoked is not None
    assert revoked.revoked_at == NOW + 5
    assert await reads.token_by_id(store, "a1") == revoked
    assert await reads.epoch(store, TOKENS_EPOCH) == before + 1


async def test_an_id_goes_before_a_name(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    await store.run(create_token, token=Key("shopper", "other", b"", (), NOW))
    revoked = await store.run(revoke_token, id_or_name="shopper", now=NOW)
    assert revoked is not None
    assert revoked.name == "other"


async def test_revoking_what_is_not_there_changes_nothing(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    await store.run(revoke_token, id_or_name="a1", now=NOW)
    epoch = await reads.epoch(store, TOKENS_EPOCH)
    for id_or_name in ("a1", "shopper", "nobody"):
        assert await store.run(revoke_token, id_or_name=id_or_name, now=NOW + 1) is None
    assert await reads.epoch(store, TOKENS_EPOCH) == epoch
    kept = await reads.token_by_id(store, "a1")
    assert kept is not None
    assert kept.revoked_at == NOW


async def test_two_live_tokens_never_share_a_name(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    twin = Key("a2", "shopper", b"hash2", (), NOW)
    with pytest.raises(PreconditionFailed):
        await store.run(create_token, token=twin)
    await store.run(revoke_token, id_or_name="a1", now=NOW)
    await store.run(create_token, token=twin)
    assert [token.id for token in await reads.list_tokens(store)] == ["a1", "a2"]


async def test_an_epoch_that_never_rose_is_zero(store: Store) -> None:
    assert await reads.epoch(store, TOKENS_EPOCH) == 0


async def test_all_of_a_token_is_kept(store: Store) -> None:
    signs = Key(
        "b1",
        "signer",
        b"",
        ("threads",),
        NOW,
        kind="hmac",
        version=1,
        data_key=3,
        expires_at=NOW + HOUR,
    )
    await store.run(create_token, token=signs)
    assert await reads.token_by_id(store, "b1") == signs


async def test_a_new_token_raises_the_epoch(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    assert await reads.epoch(store, TOKENS_EPOCH) == 1


async def test_a_rotated_token_has_both_secrets_for_a_while_and_the_epoch_rises(
    store: Store,
) -> None:
    await store.run(create_token, token=TOKEN)
    for version in (1, 2):
        rotated = await store.run(
            rotate_token,
            id="a1",
            version=version,
            hash=b"hash of %d" % (version + 1),
            data_key=version + 1,
            previous_until=NOW + version * HOUR,
            now=NOW,
        )
        former = b"hash" if version == 1 else b"hash of 2"
        assert rotated == msgspec.structs.replace(
            TOKEN,
            hash=b"hash of %d" % (version + 1),
            version=version + 1,
            data_key=version + 1,
            former=FormerSecret(former, version, NOW + version * HOUR),
        )
        assert await reads.token_by_id(store, "a1") == rotated
        assert rotated.former_at(NOW + version * HOUR - 1) == rotated.former
        assert rotated.former_at(NOW + version * HOUR) is None
        assert await reads.epoch(store, TOKENS_EPOCH) == 1 + version


@pytest.mark.parametrize(
    ("token", "version", "told"),
    [
        (TOKEN, 2, "another command"),
        (msgspec.structs.replace(TOKEN, expires_at=NOW), 1, "has expired"),
        (msgspec.structs.replace(TOKEN, id="a2"), 1, "is revoked"),
    ],
)
async def test_a_token_that_cannot_be_rotated_is_left_as_it_is(
    store: Store, token: Key, version: int, told: str
) -> None:
    await store.run(create_token, token=token)
    with pytest.raises(PreconditionFailed, match=told):
        await store.run(
            rotate_token,
            id="a1",
            version=version,
            hash=b"other",
            data_key=1,
            previous_until=NOW,
            now=NOW,
        )
    assert await reads.list_tokens(store) == (token,)


async def test_the_last_use_is_noted_and_never_goes_back(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    epoch = await reads.epoch(store, TOKENS_EPOCH)
    for used_at in (NOW + 60, NOW + 5):
        await store.run(note_token_use, id="a1", used_at=used_at)
        kept = await reads.token_by_id(store, "a1")
        assert kept == msgspec.structs.replace(TOKEN, used_at=NOW + 60)
    assert await reads.epoch(store, TOKENS_EPOCH) == epoch


def test_a_token_is_live_until_it_ends_or_is_revoked() -> None:
    ends = msgspec.structs.replace(TOKEN, expires_at=NOW)
    revoked = msgspec.structs.replace(TOKEN, revoked_at=NOW)
    assert TOKEN.is_live(NOW)
    assert (ends.is_live(NOW - 0.5), ends.is_live(NOW)) == (True, False)
    assert not revoked.is_live(NOW)


async def test_a_token_that_was_not_revoked_is_found_by_id_or_name(store: Store) -> None:
    await store.run(create_token, token=TOKEN)
    assert await reads.unrevoked_token(store, "a1") == TOKEN
    assert await reads.unrevoked_token(store, "shopper") == TOKEN
    await store.run(revoke_token, id_or_name="a1", now=NOW)
    assert await reads.unrevoked_token(store, "a1") is None
