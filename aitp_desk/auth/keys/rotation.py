"""Rotates the desk's keys: another master key, or a further data key.

No desk may run meanwhile, because it reads its keys at its start. An interruption at any point
leaves one master key in its place that opens all data keys.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from aitp_desk.auth.keys.data_keys import FIRST, DataKeys, unwrap_all
from aitp_desk.auth.keys.master_key import (
    KEY_BYTES,
    KEY_FILE,
    NEW_MASTER_KEY,
    KeyFileError,
    MasterKey,
    read_environment,
    sync_folder,
    write_draft,
)
from aitp_desk.model.access.audit import Auditor
from aitp_desk.store.base import Store
from aitp_desk.store.reads.credentials import keys as key_reads
from aitp_desk.store.records.keys import KeyReset, WrappedKey
from aitp_desk.store.units.keys import data_keys as data_key_units
from aitp_desk.store.units.keys.data_keys import add_wrappings, keep_wrappings_of, reset_data_keys


async def rotate_master_key(
    store: Store,
    data: Path,
    environment: Mapping[str, str],
    master: MasterKey,
    by: Auditor | None = None,
) -> MasterKey:
    """Wrap the data keys by another master key, and delete the present wrappings.

    Parameters:
        data: the data folder; its key file is replaced unless the environment has the new key.
        environment: may hold the new key.
        master: the present key.
        by: the author of the audit entry.

    Returns:
        The new key.

    Raises:
        KeyFileError: the present key does not open the data keys; or it is in the environment, and
            there is no new one.
    """
    kept = await key_reads.data_keys(store)
    keys = unwrap_all(master, kept)
    given = read_environment(environment, NEW_MASTER_KEY)
    if given is not None:
        if given.fingerprint == master.fingerprint:
            raise KeyFileError(f"The key of {given.origin} is already in use. Choose another.")
        await store.run(add_wrappings, keys=_wrap_all(given, keys))
        await store.run(keep_wrappings_of, master=given.fingerprint, by=by)
        return given
    path = data / KEY_FILE
    if master.origin != str(path):
        raise KeyFileError(
            f"The current key comes from {master.origin}. Set {NEW_MASTER_KEY} to the new"
            f" key of {2 * KEY_BYTES} random hexadecimal digits, or {NEW_MASTER_KEY}_FILE"
            " to the name of its file."
        )
    try:
        return await _exchange_file(store, path, keys, by)
    except OSError as error:
        raise KeyFileError(f"{error.filename or path} cannot be used: {error.strerror}.") from error


async def add_data_key(store: Store, master: MasterKey, by: Auditor | None = None) -> int:
    """Add a data key, which is used for everything new. Returns its version.

    Parameters:
        master: the present master key.
        by: the author of the audit entry.

    Raises:
        KeyFileError: the master key does not open the data keys.
    """
    version = unwrap_all(master, await key_reads.data_keys(store)).newest + 1
    wrapped = master.wrap(version, secrets.token_bytes(KEY_BYTES))
    key = WrappedKey(version, master.fingerprint, wrapped, int(time.time()))
    await store.run(data_key_units.add_data_key, key=key, by=by)
    return version


async def reset_keys(
    store: Store, master: MasterKey, by: Callable[[DataKeys], Auditor]
) -> KeyReset:
    """Replace a lost master key, with new data keys and loss of old secrets.

    Parameters:
        master: the new master key.
        by: makes the author of the audit entry from the new keys of the audit log.
    """
    now, secret = int(time.time()), secrets.token_bytes(KEY_BYTES)
    key = WrappedKey(FIRST, master.fingerprint, master.wrap(FIRST, secret), now)
    return await store.run(reset_data_keys, key=key, now=now, by=by(DataKeys({FIRST: secret})))


async def _exchange_file(store: Store, path: Path, keys: DataKeys, by: Auditor | None) -> MasterKey:
    """Replace the key in the key file.

    Between its two commits both keys open the database, and the file holds one of them.
    """
    secret = secrets.token_bytes(KEY_BYTES)
    master = MasterKey(secret, str(path))
    draft = write_draft(path, secret.hex())
    try:
        await store.run(add_wrappings, keys=_wrap_all(master, keys))
    except BaseException:
        draft.unlink()
        raise
    draft.replace(path)
    sync_folder(path.parent)
    await store.run(keep_wrappings_of, master=master.fingerprint, by=by)
    return master


def _wrap_all(master: MasterKey, keys: DataKeys) -> tuple[WrappedKey, ...]:
    now = int(time.time())
    return tuple(
        WrappedKey(version, master.fingerprint, keys.wrapped_by(master, version), now)
        for version in sorted(keys.versions)
    )
