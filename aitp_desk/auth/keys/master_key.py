"""The desk's master key, which only wraps the data keys.

It is 32 random bytes in hexadecimal: in an environment variable, in a file that such a variable
names, or in a key file of the data folder, which the first start creates. All other keys are
derived from the data keys (``data_keys.py``), which the database holds wrapped. The master key can
therefore be replaced without affecting anything else.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MASTER_KEY = "AITP_DESK_MASTER_KEY"
"""The environment variable with the key. ``<name>_FILE`` names a file with it, as container
systems mount secrets."""
NEW_MASTER_KEY = "AITP_DESK_NEW_MASTER_KEY"
"""The same for the next master key, at a rotation."""
KEY_FILE = "master.key"
KEY_BYTES = 32
NONCE_BYTES = 12


class KeyFileError(Exception):
    """The desk's keys cannot be used; the message says which and what to do."""


class MasterKey:
    """The secret that wraps the data keys. Its text form never shows it.

    Parameters:
        secret: 32 random bytes.
        origin: where it was read: a file, or an environment variable.
    """

    __slots__ = ("_cipher", "_secret", "fingerprint", "origin")

    def __init__(self, secret: bytes, origin: str) -> None:
        self.origin = origin
        self.fingerprint = derive(secret, "master fingerprint")[:8].hex()
        """Identifies the master key without revealing it."""
        self._secret = secret
        self._cipher = AESGCM(derive(secret, "data key wrapping"))

    def wrap(self, version: int, data_key: bytes) -> bytes:
        """Return a wrapped data key, for the database."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, data_key, _context(version))

    def unwrap(self, version: int, wrapped: bytes) -> bytes:
        """Return an unwrapped data key.

        Raises:
            KeyFileError: it was wrapped by another key, as another version, or was changed.
        """
        nonce, sealed = wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, _context(version))
        except (InvalidTag, ValueError) as error:
            raise KeyFileError(
                f"Data key {version} in the database was changed: the master key of {self.origin}"
                " does not open it. Restore the database from a backup."
            ) from error

    def as_data_key(self) -> bytes:
        """Return the first data key of a database from before there were data keys.

        Everything in it was made with keys derived from the master key itself.
        """
        return self._secret


def derive(secret: bytes, purpose: str, version: int = 1) -> bytes:
    """Return the independent 32-byte key for one purpose (HKDF, RFC 5869)."""
    info = f"aitp-desk {purpose} {version}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)


def find_master_key(data: Path, environment: Mapping[str, str]) -> MasterKey | None:
    """Return the master key of the environment or the data folder, if any.

    Raises:
        KeyFileError: it is malformed, or others may read the key file.
    """
    if key := read_environment(environment, MASTER_KEY):
        return key
    path = data / KEY_FILE
    try:
        if not path.exists():
            return None
        if path.stat().st_mode & 0o077:
            raise KeyFileError(f"{path} is readable by others; restrict it with chmod 600.")
        return MasterKey(_read_secret(path), str(path))
    except OSError as error:
        raise _unusable(path, error) from error


def read_environment(environment: Mapping[str, str], name: str) -> MasterKey | None:
    """Return the key of a variable, or of the file that ``<name>_FILE`` names.

    Raises:
        KeyFileError: both are set, or the key is malformed.
    """
    text, file = environment.get(name), environment.get(f"{name}_FILE")
    if text is not None and file is not None:
        raise KeyFileError(f"{name} and {name}_FILE are both set; set one of them.")
    if text is not None:
        return MasterKey(_parse(text, f"The variable {name}"), name)
    if file is None:
        return None
    try:
        return MasterKey(_read_secret(Path(file)), file)
    except OSError as error:
        raise _unusable(Path(file), error) from error


def make_master_key(data: Path) -> MasterKey:
    """Create a data folder with its key file, and return the key.

    Processes that start at once get the same key: the first one creates the whole file atomically.

    Raises:
        KeyFileError: it cannot be created.
    """
    path = data / KEY_FILE
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = write_draft(path, secrets.token_hex(KEY_BYTES))
        try:
            os.link(draft, path)  # unlike a rename it never replaces an existing key
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        sync_folder(path.parent)
        return MasterKey(_read_secret(path), str(path))
    except OSError as error:
        raise _unusable(path, error) from error


def open_master_key(data: Path) -> MasterKey:
    """Return the master key of a data folder; create it if there is none.

    Raises:
        KeyFileError: as for :func:`find_master_key` and :func:`make_master_key`.
    """
    return find_master_key(data, {}) or make_master_key(data)


def write_draft(path: Path, text: str) -> Path:
    """Write and sync a private file next to a key file."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="ascii") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    return draft


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _read_secret(path: Path) -> bytes:
    try:
        text = path.read_text(encoding="ascii")
    except UnicodeDecodeError:
        text = ""
    return _parse(text, str(path))


def _parse(text: str, where: str) -> bytes:
    try:
        secret = bytes.fromhex(text.strip())
    except ValueError:
        secret = b""
    if len(secret) != KEY_BYTES:
        raise KeyFileError(
            f"{where} must contain the key as {2 * KEY_BYTES} hexadecimal digits. Restore"
            " it from a backup: without it every API key is lost."
        )
    return secret


def _context(version: int) -> bytes:
    return f"aitp-desk data key {version}".encode()


def _unusable(path: Path, error: OSError) -> KeyFileError:
    return KeyFileError(f"{error.filename or path} cannot be used: {error.strerror}.")
