"""Keeps responses as long as HTTP allows (RFC 9111), in memory or a folder."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

import msgspec
from multidict import CIMultiDict

from aitp_desk.egress import Fetched

MAX_ENTRIES = 256
"""The most responses that are kept; the oldest is dropped."""
MAX_BYTES = 16 * 2**20
"""The most bytes of responses in memory."""
MAX_SECONDS = 24 * 3600.0
"""The longest that a response is used without asking the site, whatever it allows."""
_SUFFIX = ".response"


class StoredResponse(msgspec.Struct, frozen=True):
    """A response, and how long it may be used.

    Parameters:
        headers: those that matter later: type, validators, links.
        fresh_until: Unix seconds; afterwards the site is asked whether it changed.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str
    fresh_until: float

    @property
    def fetched(self) -> Fetched:
        """The response as it was received."""
        return Fetched(self.status, CIMultiDict(self.headers), self.body, self.url)

    @property
    def size(self) -> int:
        """How many bytes it takes, nearly."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers)

    @property
    def validators(self) -> dict[str, str]:
        """The headers of a request that asks whether it changed."""
        own = CIMultiDict(self.headers)
        asked = {"If-None-Match": own.get("ETag"), "If-Modified-Since": own.get("Last-Modified")}
        return {name: value for name, value in asked.items() if value is not None}


class ResponseCache:
    """Responses of earlier requests; several visits may share one.

    Parameters:
        folder: keeps them there as well, each in a file that only its owner can read. One that
            cannot be written is done without.
        clock: Unix seconds.
    """

    def __init__(
        self, folder: Path | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._entries: dict[str, StoredResponse] = {}
        self._size = 0
        self._seen: dict[str, float] = {}
        with self._using_folder():
            if folder is not None:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def now(self) -> float:
        """Unix seconds."""
        return self._clock()

    def first_seen(self, name: str) -> float:
        """Return when something was first asked for here, in Unix seconds: a site, a key."""
        key = hashlib.sha256(name.encode()).hexdigest()
        if key not in self._seen:
            self._seen[key] = self._read_seen(key)
        return self._seen[key]

    def find(self, key: str) -> StoredResponse | None:
        """Return what is kept, fresh or not."""
        if key not in self._entries and self._folder is not None:
            with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
                read = (self._folder / f"{key}{_SUFFIX}").read_bytes()
                stored = msgspec.msgpack.decode(read, type=StoredResponse)
                self._remember(key, stored)
                return stored
        return self._entries.get(key)

    def is_fresh(self, stored: StoredResponse) -> bool:
        """Return whether a response may be used without asking the site."""
        return self._clock() < stored.fresh_until

    def keep(self, key: str, found: Fetched, *, default_seconds: float) -> None:
        """Keep a response if HTTP allows it; else forget what was kept.

        Parameters:
            default_seconds: how long it is fresh if its headers do not say.
        """
        seconds = find_lifetime(found.headers, default_seconds, self._clock())
        if found.status != 200 or seconds is None:
            self.forget(key)
            return
        stored = StoredResponse(
            found.status,
            tuple((str(name), value) for name, value in found.headers.items()),
            found.body,
            found.url,
            self._clock() + min(seconds, MAX_SECONDS),
        )
        self._remember(key, stored)
        with self._using_folder():
            if self._folder is not None:
                _write(self._folder, key, stored)

    def forget(self, key: str) -> None:
        """Drop a response."""
        self._drop(key)
        with self._using_folder():
            if self._folder is not None:
                (self._folder / f"{key}{_SUFFIX}").unlink(missing_ok=True)

    @contextmanager
    def _using_folder(self) -> Iterator[None]:
        """Do without the folder once it cannot be written: what it has may be outdated then."""
        try:
            yield
        except OSError:
            self._folder = None

    def _remember(self, key: str, stored: StoredResponse) -> None:
        """Keep a response in memory, within the bounds."""
        self._drop(key)
        self._entries[key] = stored
        self._size += stored.size
        while len(self._entries) > MAX_ENTRIES or self._size > MAX_BYTES:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        dropped = self._entries.pop(key, None)
        self._size -= 0 if dropped is None else dropped.size

    def _read_seen(self, key: str) -> float:
        """Read the time of a file that is written once."""
        now = self._clock()
        if self._folder is None:
            return now
        file = self._folder / f"{key}.seen"
        with suppress(OSError, ValueError):
            return float(file.read_text("ascii"))
        with (
            self._using_folder(),
            open(file, "w", encoding="ascii", opener=_open_private) as written,
        ):
            written.write(str(now))
        return now


def make_key(url: str, accept: str, shown: str | None) -> str:
    """Return the key of a request; another caller or Accept has another response.

    Parameters:
        shown: what the request proves its caller with; None for nothing.
    """
    return hashlib.sha256("\0".join((url, accept, shown or "")).encode()).hexdigest()


def find_lifetime(headers: Mapping[str, str], default: float, now: float) -> float | None:
    """Return how many seconds a response is fresh; None if it must not be kept.

    Parameters:
        now: Unix seconds.
    """
    directives: dict[str, str] = {}
    for part in headers.get("Cache-Control", "").lower().split(","):
        name, _, value = part.strip().partition("=")
        directives[name] = value.strip('"')
    if "no-store" in directives or headers.get("Vary", "").strip() == "*":
        return None
    if "no-cache" in directives:
        return 0.0
    age = _number(headers.get("Age", "")) or 0.0
    seconds = _number(directives.get("max-age", ""))
    if seconds is None and "Expires" in headers:
        seconds = _seconds_until(headers["Expires"], now)
    return max(0.0, (default if seconds is None else seconds) - age)


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _seconds_until(date: str, now: float) -> float:
    """Return the seconds to a date; 0 for one that is invalid (RFC 9111, section 5.3)."""
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _write(folder: Path, key: str, stored: StoredResponse) -> None:
    """Write a file that another process never reads half."""
    written = folder / f"{key}.{os.getpid()}"
    try:
        with open(written, "wb", opener=_open_private) as file:
            file.write(msgspec.msgpack.encode(stored))
        written.replace(folder / f"{key}{_SUFFIX}")
    except OSError:
        with suppress(OSError):  # half a file on a full disk
            written.unlink(missing_ok=True)
        raise
    for path in sorted(folder.glob(f"*{_SUFFIX}"), key=_modified_at)[:-MAX_ENTRIES]:
        path.unlink(missing_ok=True)


def _modified_at(path: Path) -> float:
    """Return when a file was written; 0 for one that another process has just dropped."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
