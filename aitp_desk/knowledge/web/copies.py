"""Stores copies of external pages: a folder in the data folder, with a file per body and a list.

All of it can be fetched again, so durability is limited to the order of its writes: bodies first,
named by their digests, then the list in one move. A damaged or missing body counts as never
fetched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path
from tempfile import mkstemp

import msgspec

from aitp_desk.knowledge.documents.base import Problem, SourceKind
from aitp_desk.knowledge.sources.admission import ContentFile
from aitp_desk.knowledge.sources.loader import RawContent

FOLDER = "web"
_LIST = "pages.json"


class PageCopy(msgspec.Struct, frozen=True):
    """A page as it was last read.

    Parameters:
        url: the address that is listed.
        via: the setting that lists it: the page's own address, or its sitemap's.
        address: the final address after redirects, which sources link to.
        kind: the format of the body.
        body: SHA-256 of the body, in hexadecimal: the name of its file. A text is UTF-8.
        size: of the body, in bytes.
        etag: the server's ETag of this version, or empty.
        modified: the server's ``Last-Modified``, unchanged, or empty.
    """

    url: str
    via: str
    address: str
    kind: SourceKind
    body: str
    size: int
    etag: str = ""
    modified: str = ""


class RoundOutcome(msgspec.Struct, frozen=True):
    """The outcome of a round.

    Parameters:
        copies: in the order in which they are listed.
        problems: pages that could not be read; the source of each is an address.
        wanted: the addresses in the settings at that time, sorted.
    """

    copies: tuple[PageCopy, ...] = ()
    problems: tuple[Problem, ...] = ()
    wanted: tuple[str, ...] = ()


class PageCopies:
    """The copies below one data folder.

    Parameters:
        data: the desk's data folder.
        wanted: the addresses of pages and sitemaps in the settings; copies from others stay
            untouched.
    """

    def __init__(self, data: Path, wanted: Collection[str]) -> None:
        self._folder = data / FOLDER
        self._wanted = tuple(sorted(wanted))

    def read_state(self) -> object:
        """Return a value that changes whenever another outcome is stored."""
        try:
            status = (self._folder / _LIST).stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def read(self) -> RoundOutcome:
        """Return the last outcome; after a change of settings, with the available copies."""
        try:
            text = (self._folder / _LIST).read_bytes()
            kept = msgspec.json.decode(text, type=RoundOutcome)
        except (OSError, msgspec.MsgspecError):
            return RoundOutcome()
        if kept.wanted == self._wanted:
            return kept
        return RoundOutcome(tuple(copy for copy in kept.copies if copy.via in self._wanted))

    def body(self, copy: PageCopy) -> bytes | None:
        """Return the body of a copy; None if it is missing or damaged."""
        try:
            body = (self._folder / copy.body).read_bytes()
        except OSError:
            return None
        return body if hashlib.sha256(body).hexdigest() == copy.body else None

    def write_body(self, body: bytes) -> str:
        """Write a body and return its name; it stays if it is in the next outcome."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = hashlib.sha256(body).hexdigest()
        self._write(name, body)
        return name

    def commit(self, kept: RoundOutcome) -> None:
        """Replace the last outcome, and delete unused bodies.

        An equal outcome changes nothing, so that no reader reloads it.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = msgspec.structs.replace(kept, wanted=self._wanted)
        text = msgspec.json.format(msgspec.json.encode(kept))
        place = self._folder / _LIST
        if not place.exists() or place.read_bytes() != text:
            self._write(_LIST, text)
        names = {copy.body for copy in kept.copies} | {_LIST}
        for file in self._folder.iterdir():
            if file.name not in names:
                file.unlink(missing_ok=True)

    def raw(self) -> RawContent:
        """Return the copies as content, each address once.

        The problems are left out: a server that is down for an hour changes no content.
        """
        files: dict[str, tuple[ContentFile, bytes]] = {}
        digest = hashlib.sha256()
        for copy in self.read().copies:
            body = self.body(copy)
            if body is None or copy.address in files:
                continue
            found = ContentFile(copy.address, self._folder / copy.body, copy.kind)
            files[copy.address] = (found, body)
            digest.update(f"{copy.address}\0{copy.kind}\0{copy.body}\0".encode())
        return RawContent(tuple(files.values()), (), digest.digest())

    def _write(self, name: str, payload: bytes) -> None:
        handle, new = mkstemp(dir=self._folder, suffix=".new")  # readable by its owner only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(payload)
            Path(new).replace(self._folder / name)
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise
