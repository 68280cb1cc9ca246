"""Uploaded files: their metadata, safe names and detected types.

Neither a file's declared type nor its name is trusted: the type is detected from the bytes, and the
name is reduced to what every system, terminal and browser treats as a plain name.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

import msgspec

from aitp_desk.model.access.principal import Principal

TEXT = "text/plain"
MARKUP = "text/html"
"""Text that a browser might execute: HTML, SVG and XML."""
UNKNOWN = "application/octet-stream"

PART_BYTES = 1024 * 1024
"""Size of the pieces in which a file's bytes are stored."""
NAME_BYTES = 200
"""The longest name, in bytes of UTF-8; file systems allow 255."""
SUFFIX_CHARACTERS = 16
"""Maximum length of an extension that survives when a name is cut."""

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
)
KNOWN_TYPES = (*sorted({kind for _, kind in _SIGNATURES} | {"image/webp"}), MARKUP, TEXT, UNKNOWN)
"""Every type that :func:`sniff` can return."""

_NOT_TEXT = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b") + b"\x7f"
_MARK = b"\xef\xbb\xbf"
_MARKUP_BEGINS = re.compile(rb"<(?:!--|!doctype|\?xml|/?[a-z][a-z0-9:-]*[\s/>])", re.IGNORECASE)
_BEGINNING = 1024
"""How many bytes are searched for markup, after leading space."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


class File(msgspec.Struct, frozen=True):
    """An uploaded file, without its bytes.

    Parameters:
        id: ``file_…``.
        owner: id of the principal that uploaded it; None: anonymous, the id alone opens it.
        created_at: Unix seconds.
        expires_at: Unix seconds of its expiry; None: it stays until it is deleted.
        name: as :func:`clean_name` left it.
        purpose: as stated by its owner.
        media_type: as :func:`sniff` detected it.
        size: bytes.
        desk: name of the further site agent that it was uploaded to; empty for the site's own.
        sha256: of its bytes; None if an older version has stored it.
        object_key: of the object that holds its bytes; None: the database does.
    """

    id: str
    owner: str | None
    created_at: int
    expires_at: int | None
    name: str
    purpose: str
    media_type: str
    size: int
    desk: str = ""
    sha256: bytes | None = None
    object_key: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether all of it is UTF-8 text."""
        return self.media_type in {TEXT, MARKUP}

    def is_open_to(self, principal: Principal) -> bool:
        """Return whether a caller with its id may read it."""
        return self.owner in (None, principal.owner)


def sniff(data: bytes) -> str:
    """Detect a file's type from its bytes, one of :data:`KNOWN_TYPES`.

    A file counts as text if all of it is UTF-8, without control characters except those of layout.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if not _is_text(data):
        return UNKNOWN
    beginning = data.removeprefix(_MARK).lstrip()[:_BEGINNING]
    return MARKUP if _MARKUP_BEGINS.match(beginning) else TEXT


def _is_text(data: bytes) -> bool:
    """Decode a file in pieces, so that other threads can run in between."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), PART_BYTES):
            piece = data[at : at + PART_BYTES]
            if len(piece.translate(None, delete=_NOT_TEXT)) != len(piece):
                return False
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def clean_name(given: str) -> str:
    """Return a safe file name.

    Only the part after the last slash or backslash is kept, without control, formatting and
    bidirectional characters, in Unicode's composed form; no name is hidden, reserved or empty.
    """
    name = " ".join(re.split(r"[/\\]", given)[-1].split())
    name = "".join(c for c in name if unicodedata.category(c) not in _DROPPED_CATEGORIES)
    name = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip(". ")
    if _RESERVED.fullmatch(name.partition(".")[0].strip()):
        name = f"_{name}"
    return _cut(name) or "file"


def _cut(name: str) -> str:
    """Cut a name to its maximum length; a short extension is kept."""
    if len(name.encode()) <= NAME_BYTES:
        return name
    stem, dot, ending = name.rpartition(".")
    suffix = dot + ending if stem and len(ending) <= SUFFIX_CHARACTERS else ""
    room = NAME_BYTES - len(suffix.encode())
    stem = name[: len(name) - len(suffix)].encode()[:room].decode(errors="ignore")
    return f"{stem.rstrip('. ')}{suffix}"
