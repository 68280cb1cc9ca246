"""The desk's one master key and the keys derived from it.

The key file holds 32 random bytes in hexadecimal. Nothing that is derived is stored: each use has a
purpose, and HKDF (RFC 5869) gives each purpose a key that says nothing about the others. Who loses
the file loses every API key and idempotency key, but no conversation.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_FILE = "master.key"
_KEY_BYTES = 32


class KeyFileError(Exception):
    """The master key cannot be used; the message names the file and says what to do."""


class MasterKey:
    """The secret that all of the desk's own keys come from. Its text form never shows it.

    Parameters:
        secret: 32 random bytes.
    """

    __slots__ = ("_links", "_secret", "_tokens")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._tokens = self.derive("tokens")
        self._links = self.derive("links")

    def derive(self, purpose: str, version: int = 1) -> bytes:
        """Return the 32-byte key for one purpose; raising the version rotates it."""
        info = f"aitp-desk {purpose} {version}".encode()
        return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(
            self._secret
        )

    def hash_token(self, token: str) -> bytes:
        """Return what is kept of an API key: 32 bytes that are of no use without this key."""
        return hmac.digest(self._tokens, token.encode(), "sha256")

    def hash_link(self, link: str) -> bytes:
        """Return what is kept of the secret of a link, as :meth:`hash_token`."""
        return hmac.digest(self._links, link.encode(), "sha256")


def open_master_key(data: Path) -> MasterKey:
    """Read the master key of a data folder; at the first start make it, folder and all.

    Two processes that start at once get the same key: the file appears whole, by whoever is first.

    Raises:
        KeyFileError: the file holds no key, others may read it, or it cannot be read or made.
    """
    path = data / KEY_FILE
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise KeyFileError(f"{path} may be read by others; make it yours alone: chmod 600.")
        text = path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except OSError as error:
        raise KeyFileError(f"{error.filename or path} cannot be used: {error.strerror}.") from error
    except ValueError as error:
        raise _no_key(path) from error
    if len(secret) != _KEY_BYTES:
        raise _no_key(path)
    return MasterKey(secret)


def _no_key(path: Path) -> KeyFileError:
    return KeyFileError(
        f"{path} holds no key: it must be {2 * _KEY_BYTES} hexadecimal digits. Put it back from a"
        " backup; without it every API key is lost. To begin anew, remove the file."
    )


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(_KEY_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike a rename it never replaces the key of whoever was first
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
