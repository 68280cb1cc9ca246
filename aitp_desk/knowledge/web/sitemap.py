"""Parses sitemaps and lists of sitemaps (sitemaps.org, protocol 0.9), plain or gzipped.

They are of foreign origin: the parser takes no document type, hence no entities, and a gzipped one
is unpacked only up to its bound.
"""

from __future__ import annotations

import zlib
from xml.parsers import expat

import msgspec

MAX_SITEMAP_BYTES = 16 * 1024 * 1024
"""A larger sitemap is not read; unpacked, if it is gzipped."""
MAX_ADDRESSES = 50_000
"""The most addresses of a sitemap (sitemaps.org, protocol 0.9)."""
_MAX_DEPTH = 20
"""An address is on the third level; much deeper nesting is an attack."""

_GZIP = b"\x1f\x8b"
_LISTS = {"urlset": "url", "sitemapindex": "sitemap"}


class SitemapError(Exception):
    """The text is no readable sitemap; the message says why."""


class Sitemap(msgspec.Struct, frozen=True):
    """The entries of a sitemap, in order; one of the two is empty.

    Parameters:
        pages: addresses of pages.
        sitemaps: addresses of further sitemaps.
    """

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(payload: bytes) -> Sitemap:
    """Parse a sitemap.

    Raises:
        SitemapError: it is no XML, declares a document type, is cut off, lists too much, or is no
            sitemap.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(_unpacked(payload), True)
    except expat.ExpatError as error:
        raise SitemapError(f"It is not XML (line {error.lineno}).") from None
    except (zlib.error, LookupError, ValueError):
        raise SitemapError("It cannot be unpacked or decoded.") from None
    found = tuple(dict.fromkeys(reader.found))
    return Sitemap(pages=found) if reader.root == "urlset" else Sitemap(sitemaps=found)


def _unpacked(payload: bytes) -> bytes:
    if not payload.startswith(_GZIP):
        return payload
    unpacker = zlib.decompressobj(31)
    text = unpacker.decompress(payload, MAX_SITEMAP_BYTES)
    if unpacker.unconsumed_tail:
        raise SitemapError(f"Unpacked it is larger than {MAX_SITEMAP_BYTES} bytes.")
    if not unpacker.eof:
        raise SitemapError("It is truncated.")
    return text


class _Reader:
    """Follows the elements down to each ``loc``; ignores extensions of other namespaces."""

    def __init__(self) -> None:
        self.root = ""
        self.found: list[str] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append

    def _refuse(self, *_: object) -> None:
        raise SitemapError("It declares a document type, which a sitemap does not need.")

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        if not self._path:
            if local not in _LISTS:
                raise SitemapError(
                    "It is not a sitemap: it is neither a urlset nor a sitemapindex."
                )
            self.root = local
            self._namespace = namespace
        if len(self._path) == _MAX_DEPTH:
            raise SitemapError("It is nested too deeply.")
        self._path.append(local if namespace == self._namespace else name)
        self._text.clear()

    def _end(self, _: str) -> None:
        if self._path == [self.root, _LISTS[self.root], "loc"]:
            address = "".join(self._text).strip()
            if address:
                self.found.append(address)
            if len(self.found) > MAX_ADDRESSES:
                raise SitemapError(f"It lists more than {MAX_ADDRESSES} addresses; split it.")
        self._path.pop()
