"""The data keys, from which all of the desk's other keys are derived.

Each is 32 random bytes with a version, and is in the database, wrapped by the master key. HKDF (RFC
5869) derives an independent key for each purpose; derived keys are never stored. Losing the master
key loses every API key and every sealed value, but no conversation.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aitp_desk.auth.keys.master_key import (
    KEY_BYTES,
    KEY_FILE,
    MASTER_KEY,
    KeyFileError,
    MasterKey,
    derive,
    find_master_key,
    make_master_key,
)
from aitp_desk.store.base import Reader, Store
from aitp_desk.store.reads.credentials import keys as key_reads
from aitp_desk.store.records.keys import WrappedKey
from aitp_desk.store.units.keys.data_keys import keep_first_data_key

FIRST = 1
"""The version of the first data key: keys that must never change are derived from it."""


class DataKeys:
    """The unwrapped data keys of a desk. Their text form never shows them.

    Parameters:
        secrets: 32 random bytes by version.
    """

    __slots__ = ("_hash_keys", "_links", "_secrets", "newest")

    def __init__(self, secrets: Mapping[int, bytes]) -> None:
        self._secrets = dict(secrets)
        self._hash_keys = {version: derive(key, "tokens") for version, key in secrets.items()}
        self._links = derive(secrets[FIRST], "links")
        self.newest = max(secrets)
        """The version used for new values."""

    @property
    def versions(self) -> frozenset[int]:
        """All known versions."""
        return frozenset(self._secrets)

    def derive(self, purpose: str, version: int = 1, *, data_key: int = FIRST) -> bytes:
        """Return the 32-byte key for one purpose.

        Parameters:
            version: of the derived key; raising it rotates that key alone.
            data_key: the version of the data key that it is derived from.

        Raises:
            KeyError: there is no such data key.
        """
        return derive(self._secrets[data_key], purpose, version)

    def wrapped_by(self, master: MasterKey, version: int) -> bytes:
        """Return a data key wrapped by a master key, for the database."""
        return master.wrap(version, self._secrets[version])

    def hash_token(self, token: str, data_key: int) -> bytes:
        """Return the keyed hash of an API key: 32 bytes, useless without these keys.

        Parameters:
            data_key: the version of the data key.
        """
        return hmac.digest(self._hash_keys[data_key], token.encode(), "sha256")

    def hash_link(self, link: str) -> bytes:
        """Return the keyed hash of a link's secret, like :meth:`hash_token`."""
        return hmac.digest(self._links, link.encode(), "sha256")


async def open_data_keys(store: Store, data: Path, environment: Mapping[str, str]) -> DataKeys:
    """Load the master key and the data keys; create both at first.

    Parameters:
        data: the data folder with the key file.
        environment: may hold the master key instead.

    Raises:
        KeyFileError: the master key is missing, malformed, or not this database's.
    """
    master = find_master_key(data, environment)
    kept = await key_reads.data_keys(store)
    is_keyed = bool(kept) or await key_reads.is_keyed(store)
    if master is None:
        if is_keyed:
            raise _missing(data)
        master = make_master_key(data)
    if not kept:
        first = master.as_data_key() if is_keyed else secrets.token_bytes(KEY_BYTES)
        kept = await store.run(
            keep_first_data_key,
            key=WrappedKey(FIRST, master.fingerprint, master.wrap(FIRST, first), int(time.time())),
        )
    return unwrap_all(master, kept)


async def known_data_keys(
    reader: Reader, data: Path, environment: Mapping[str, str]
) -> DataKeys | None:
    """Load the master key and the data keys of a read-only database.

    Returns:
        None if nothing was made with a master key yet, or the database has no data keys yet.

    Raises:
        KeyFileError: as for :func:`open_data_keys`.
    """
    master = find_master_key(data, environment)
    kept = await key_reads.data_keys(reader)
    if master is None and (kept or await key_reads.is_keyed(reader)):
        raise _missing(data)
    return unwrap_all(master, kept) if master is not None and kept else None


def unwrap_all(master: MasterKey, kept: Sequence[WrappedKey]) -> DataKeys:
    """Unwrap the data keys of a database.

    Parameters:
        kept: all of them, wrapped by any master key.

    Raises:
        KeyFileError: the master key is not this database's, or a data key was changed.
    """
    own = [key for key in kept if key.master == master.fingerprint]
    if {key.version for key in own} != {key.version for key in kept}:
        raise KeyFileError(
            f"The master key of {master.origin} ({master.fingerprint}) does not belong to"
            " this database, which needs"
            f" {', '.join(sorted({key.master for key in kept}))}. Restore that key, or the"
            " database of this key."
        )
    return DataKeys({key.version: master.unwrap(key.version, key.wrapped) for key in own})


def _missing(data: Path) -> KeyFileError:
    return KeyFileError(
        f"{data / KEY_FILE} is missing and {MASTER_KEY} is not set, but this database"
        " needs its master key. Restore the key from your backup."
    )
