"""Checks an exported site before it replaces the old one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import msgspec

from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH, NOTICE_CLASS, RELATIONS
from aitp_desk.web.export.folder import ExportError

_LINK = re.compile(r"^- \[[^\]]*\]\(([^)\s]+)\)", re.MULTILINE)
_LOCATION = re.compile(r"<loc>([^<]+)</loc>")


def check_export(
    folder: Path, url: str, *, pages: Iterable[str], elsewhere: Collection[str] = ()
) -> None:
    """Check that an exported site is consistent.

    The manifest is one of MODE1 and its content document exists; every address of the site in the
    content document and the sitemap exists; every page has the tags and the notice.

    Parameters:
        url: the prefix of the site's addresses; empty where they are paths.
        pages: the HTML files that the export rendered. Files that pages declare are not checked.
        elsewhere: addresses of pages that are read from a server and not exported; this may be
            the server that the export will be on.

    Raises:
        ExportError: it is not; a fault of the program.
    """
    faults = [
        *_of_manifest(folder),
        *_of_lists(folder, url, {unquote(address) for address in elsewhere}),
        *_of_pages(folder, pages),
    ]
    if faults:
        raise ExportError(
            f"The export would be broken, which is a bug of aitp-desk: {'; '.join(faults[:5])}."
        )


def _of_manifest(folder: Path) -> Iterator[str]:
    manifest = msgspec.json.decode((folder / MANIFEST_PATH[1:]).read_bytes())
    if manifest["modes"] != ["MODE1"] or "content_signals" not in manifest:
        yield "the manifest is not one of MODE1"
    content = manifest["endpoints"]["content"]
    if not _exists(folder, content):
        yield f"there is no {content}"


def _of_lists(folder: Path, url: str, elsewhere: Collection[str]) -> Iterator[str]:
    for name, pattern in (("llms.txt", _LINK), ("sitemap.xml", _LOCATION)):
        file = folder / name
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        for found in pattern.findall(text):
            address = unescape(found) if pattern is _LOCATION else found
            path = address.removeprefix(url)
            is_ours = path.startswith("/") and unquote(address) not in elsewhere
            if is_ours and not _exists(folder, path):
                yield f"{name} links to {address}, which does not exist"


def _of_pages(folder: Path, pages: Iterable[str]) -> Iterator[str]:
    marks = [f'rel="{relation}"'.encode() for relation in RELATIONS]
    marks.append(f'class="{NOTICE_CLASS}"'.encode())
    for page in pages:
        text = (folder / page).read_bytes()
        if not all(mark in text for mark in marks):
            yield f"{page} has no link to the manifest"


def _exists(folder: Path, path: str) -> bool:
    """Return whether a static server finds a file for this path."""
    place = folder / unquote(path).strip("/")
    return place.is_file() or (place / "index.html").is_file()
