"""Keeps which calls were sent, so that no wish is sent twice.

It is written before a call is sent: what is in it without an outcome may have been done.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from aitp_desk.visitor.base import Outcome
from aitp_desk.visitor.errors import PolicyRefused, SiteFailed

ENDED = frozenset({"done", "waiting"})
"""The outcomes after which a call was made; the others have done nothing."""
_SUFFIX = ".call"


class SentCalls:
    """The outcomes of a site's calls by their keys; None while an outcome is unknown.

    Parameters:
        origin: of the site.
        folder: keeps them for later processes, each in a file that only its owner can read; None:
            they are kept for this visit alone.
    """

    def __init__(self, origin: str, folder: Path | None) -> None:
        self._origin = origin
        self._folder = folder
        self._known: dict[str, Outcome | None] = {}

    def __contains__(self, key: str) -> bool:
        self._load(key)
        return key in self._known

    def get(self, key: str) -> Outcome | None:
        """Return an outcome; None if it is unknown, or nothing was sent."""
        self._load(key)
        return self._known.get(key)

    def note_sent(self, key: str) -> None:
        """Note that a call, or agreement to its price, will be sent.

        Raises:
            PolicyRefused: that cannot be written, so nothing may be sent.
            SiteFailed: another process has just noted the same.
        """
        if self._folder is not None:
            mode = os.O_TRUNC if key in self._known else os.O_EXCL
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(self._file(self._folder, key), b"", mode)
            except FileExistsError:
                raise SiteFailed("Whether it was done is unknown: it is under way.") from None
            except OSError as error:
                raise PolicyRefused(
                    f"{self._folder} cannot be written: {error.strerror}. Nothing was sent."
                ) from None
        self._known.setdefault(key, None)

    def keep(self, key: str, outcome: Outcome) -> None:
        """Keep an outcome; for later processes only one after which the call was made."""
        self._known[key] = outcome
        if outcome.kind not in ENDED:
            self.withdraw(key)
        elif self._folder is not None:
            with suppress(OSError):  # then its outcome stays unknown to later processes
                _write(self._file(self._folder, key), msgspec.json.encode(outcome), os.O_TRUNC)

    def withdraw(self, key: str) -> None:
        """Let later processes know nothing of a call: it was not made."""
        if self._folder is not None:
            with suppress(OSError):
                self._file(self._folder, key).unlink()

    def forget(self, key: str) -> None:
        """Drop a call that was not made."""
        del self._known[key]
        self.withdraw(key)

    def _load(self, key: str) -> None:
        """Read what an earlier process has kept; half a file is an unknown outcome."""
        if key in self._known or self._folder is None:
            return
        try:
            raw = self._file(self._folder, key).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise PolicyRefused(
                f"{self._folder} cannot be read: {error.strerror}. Nothing was sent."
            ) from None
        self._known[key] = None
        with suppress(msgspec.DecodeError):
            self._known[key] = msgspec.json.decode(raw, type=Outcome)

    def _file(self, folder: Path, key: str) -> Path:
        name = hashlib.sha256(f"{self._origin}\0{key}".encode()).hexdigest()
        return folder / f"{name}{_SUFFIX}"


def _write(path: Path, raw: bytes, mode: int) -> None:
    """Write a file to the disk, before what it speaks of may happen."""
    written = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    with os.fdopen(written, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
