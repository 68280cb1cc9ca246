"""The wrapped data keys, on every engine, and how they are opened."""

from __future__ import annotations

import asyncio
import hmac
from pathlib import Path

import pytest

from aitp_desk.auth.keys.data_keys import DataKeys, open_data_keys
from aitp_desk.auth.keys.master_key import (
    KEY_FILE,
    MASTER_KEY,
    KeyFileError,
    derive,
    find_master_key,
    make_master_key,
)
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials import keys as key_reads
from aitp_desk.store.records.keys import Key, WrappedKey
from aitp_desk.store.units.keys.data_keys import (
    add_data_key,
    add_wrappings,
    keep_first_data_key,
    keep_wrappings_of,
)
from aitp_desk.store.units.keys.tokens import create_token
from tests.support.store.messages import NOW

FIRST = WrappedKey(1, "m1", b"wrapped 1", NOW)
SECOND = WrappedKey(2, "m1", b"wrapped 2", NOW)
OTHERS = (WrappedKey(1, "m2", b"other 1", NOW), WrappedKey(2, "m2", b"other 2", NOW))


def same(keys: DataKeys, other: DataKeys) -> bool:
    return keys.versions == other.versions and all(
        keys.derive("x", data_key=version) == other.derive("x", data_key=version)
        for version in keys.versions
    )


# --- what is kept ---------------------------------------------------------------------------


async def test_the_first_data_key_is_that_of_the_first_process(store: Store) -> None:
    assert await store.run(keep_first_data_key, key=FIRST) == (FIRST,)
    late = WrappedKey(1, "m2", b"late", NOW + 1)
    assert await store.run(keep_first_data_key, key=late) == (FIRST,)
    assert await key_reads.data_keys(store) == (FIRST,)


async def test_data_keys_are_counted_without_a_gap(store: Store) -> None:
    await store.run(keep_first_data_key, key=FIRST)
    await store.run(add_data_key, key=SECOND)
    for version in (1, 2, 4):
        with pytest.raises(PreconditionFailed):
            await store.run(add_data_key, key=WrappedKey(version, "m1", b"", NOW))
    assert await key_reads.data_keys(store) == (FIRST, SECOND)


async def test_a_master_key_is_exchanged_whole_or_not_at_all(store: Store) -> None:
    await store.run(keep_first_data_key, key=FIRST)
    await store.run(add_data_key, key=SECOND)
    with pytest.raises(PreconditionFailed):
        await store.run(add_wrappings, keys=OTHERS[:1])
    with pytest.raises(PreconditionFailed):
        await store.run(keep_wrappings_of, master="m2")
    await store.run(add_wrappings, keys=OTHERS)
    assert len(await key_reads.data_keys(store)) == 4
    await store.run(keep_wrappings_of, master="m2")
    assert await key_reads.data_keys(store) == OTHERS


# --- how they are opened --------------------------------------------------------------------


async def test_the_first_start_makes_both_keys_and_the_next_finds_them(
    store: Store, tmp_path: Path
) -> None:
    made = await open_data_keys(store, tmp_path, {})
    assert same(made, await open_data_keys(store, tmp_path, {}))
    master = find_master_key(tmp_path, {})
    assert master is not None
    (kept,) = await key_reads.data_keys(store)
    assert kept.master == master.fingerprint
    assert made.derive("x") != derive(master.as_data_key(), "x")


async def test_starts_at_the_same_time_agree_on_one_data_key(store: Store, tmp_path: Path) -> None:
    opened = await asyncio.gather(*(open_data_keys(store, tmp_path, {}) for _ in range(5)))
    assert all(same(keys, opened[0]) for keys in opened)


async def test_a_database_from_before_data_keys_goes_on_with_what_its_keys_were_made_with(
    store: Store, tmp_path: Path
) -> None:
    secret = make_master_key(tmp_path).as_data_key()
    hash_ = hmac.digest(derive(secret, "tokens"), b"desk_1_2", "sha256")
    await store.run(create_token, token=Key("a1", "old", hash_, ("threads",), NOW))
    opened = await open_data_keys(store, tmp_path, {})
    assert opened.hash_token("desk_1_2", 1) == hash_
    assert opened.derive("idempotency") == derive(secret, "idempotency")


async def test_another_master_key_is_refused_and_changes_nothing(
    store: Store, tmp_path: Path
) -> None:
    await open_data_keys(store, tmp_path, {})
    kept = await key_reads.data_keys(store)
    other = tmp_path / "other"
    make_master_key(other)
    for data, environment in ((other, {}), (tmp_path, {MASTER_KEY: "ab" * 32})):
        with pytest.raises(KeyFileError, match="does not belong to this database"):
            await open_data_keys(store, data, environment)
    assert await key_reads.data_keys(store) == kept


async def test_a_missing_key_file_is_reported_and_no_other_is_created(
    store: Store, tmp_path: Path
) -> None:
    await open_data_keys(store, tmp_path, {})
    text = (tmp_path / KEY_FILE).read_text()
    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(KeyFileError, match="is missing"):
        await open_data_keys(store, tmp_path, {})
    assert not (tmp_path / KEY_FILE).exists()
    await open_data_keys(store, tmp_path, {MASTER_KEY: text})


async def test_a_changed_data_key_is_reported(store: Store, tmp_path: Path) -> None:
    master = make_master_key(tmp_path)
    changed = WrappedKey(1, master.fingerprint, master.wrap(2, bytes(32)), NOW)
    await store.run(keep_first_data_key, key=changed)
    with pytest.raises(KeyFileError, match="Data key 1 in the database was changed"):
        await open_data_keys(store, tmp_path, {})


def test_the_text_form_of_data_keys_does_not_show_them() -> None:
    secret = bytes(range(32))
    keys = DataKeys({1: secret})
    for text in (repr(keys), str(keys)):
        assert secret.hex() not in text
        assert repr(secret) not in text
