"""Locates declared media: at an external address, or in a served file.

A file's extension determines its type; files are only opened for a picture's size and a digest, and
only after a change.
"""

from __future__ import annotations

import mimetypes
import re
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from urllib.parse import quote, unquote, urlsplit

import msgspec

from aitp_desk.knowledge.media.fields import FieldError
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import LocalFile
from aitp_desk.knowledge.sources.admission import FileRefused, admit_declared
from aitp_desk.knowledge.sources.file_state import FileState, make_state, read_state
from aitp_desk.model.text import clean_name

UNKNOWN_TYPE = "application/octet-stream"
_MORE_TYPES = {
    "application/dash+xml": ".mpd",
    "application/epub+zip": ".epub",
    "application/gpx+xml": ".gpx",
    "application/gzip": ".gz .tgz",
    "application/toml": ".toml",
    "application/vnd.apple.mpegurl": ".m3u8",
    "application/x-7z-compressed": ".7z",
    "application/x-subrip": ".srt",
    "application/yaml": ".yaml .yml",
    "audio/flac": ".flac",
    "audio/mp4": ".m4a",
    "audio/ogg": ".oga .ogg .opus",
    "audio/wav": ".wav",
    "image/avif": ".avif",
    "image/webp": ".webp",
    "text/markdown": ".md .markdown",
    "text/vtt": ".vtt",
    "video/mp2t": ".ts",
    "video/mp4": ".m4v .mp4",
    "video/ogg": ".ogv",
    "video/webm": ".webm",
    "video/x-matroska": ".mkv",
}
_FORMATS = {"m3u8": "hls", "mpd": "dash", "jpg": "jpeg", "oga": "ogg", "m4v": "mp4", "tif": "tiff"}
_ADDRESS = re.compile(r"""https?://[^\s"<>\\^`{|}]+""")
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_AVIF = re.compile(rb"avi[fs]")
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?"
    rb"(?:<!--.*?-->\s*|<!DOCTYPE\s+svg\b[^>\[]*(?:\[[^\]]*\]\s*)?>\s*)*<svg[\s>]",
    re.DOTALL | re.IGNORECASE,
)
_BEGINNING = 4096
"""How many bytes of a picture identify its type."""
_MOST_SVG = 4 * 1024 * 1024


def _media_types() -> dict[str, str]:
    """Return media types by extension: IANA's, the same on every machine."""
    types = dict(mimetypes.MimeTypes(filenames=()).types_map[True])
    for media_type, endings in _MORE_TYPES.items():
        types |= dict.fromkeys(endings.split(), media_type)
    return types


_MEDIA_TYPES = _media_types()


class MediaPlace(msgspec.Struct, frozen=True):
    """The location of a medium.

    Parameters:
        url: an absolute address, or one on the site that begins with ``/``.
        local: the file, if the desk serves it.
    """

    url: str
    local: LocalFile | None = None

    @property
    def name(self) -> str:
        """The name of its file; empty if the address ends in a slash."""
        return clean_name(unquote(PurePosixPath(urlsplit(self.url).path).name))

    @property
    def media_type(self) -> str:
        """The media type by its extension."""
        return _MEDIA_TYPES.get(PurePosixPath(self.name).suffix.lower(), UNKNOWN_TYPE)

    @property
    def format(self) -> str:
        """The format by its extension: ``mp4``, ``hls``; empty if there is none."""
        ending = PurePosixPath(self.name).suffix.lower().lstrip(".")
        return _FORMATS.get(ending, ending)


def resolve_link(said: str, source: str) -> str | None:
    """Resolve a page's link to a file, relative to the content folder.

    Parameters:
        said: an address as the page writes it, percent-encoded.
        source: the page's file.

    Returns:
        None for an external or invalid address.
    """
    try:
        parts = urlsplit(said)
    except ValueError:
        return None
    if parts.scheme or parts.netloc or not parts.path:
        return None
    return normpath(join("/", dirname(source), unquote(parts.path))).lstrip("/")


def read_picture_size(local: LocalFile) -> tuple[int, int] | None:
    """Return width and height of a picture in pixels, from its header; None if it has none."""
    if local.file.suffix.lower() == ".svg" and local.size > _MOST_SVG:
        return None
    import imagesize  # type: ignore[import-untyped]

    try:
        width, height = imagesize.get(str(local.file))
    except Exception:  # noqa: BLE001 -- whatever a broken picture does to the reader of its header
        return None
    return (int(width), int(height)) if width > 0 and height > 0 else None


def detect_picture_type(beginning: bytes) -> str | None:
    """Detect a picture's media type from its first bytes.

    The patterns are those of WHATWG MIME Sniffing, section 6.1. None for anything that browsers do
    not show as a picture.
    """
    if beginning[4:8] == b"ftyp" and _AVIF.search(beginning[8:64]):
        return "image/avif"
    if beginning[:4] == b"RIFF" and beginning[8:14] == b"WEBPVP":
        return "image/webp"
    for mark, media_type in _SIGNATURES.items():
        if beginning.startswith(mark):
            return media_type
    return "image/svg+xml" if _SVG.match(beginning) else None


class PlaceFinder:
    """Locates declared media, and records every examined file.

    Parameters:
        folder: the site's content.
        data: the desk's data folder.
        below: the path prefix of the pages.

    Attributes:
        files: the served ones, by their addresses.
        looked_at: every examined file with its state; None if it does not exist.
    """

    def __init__(self, folder: Path, data: Path | None, below: str) -> None:
        self._folder = folder
        self._data = data
        self._below = below
        self.files: dict[str, LocalFile] = {}
        self.looked_at: dict[str, FileState | None] = {}

    def find(self, said: str, way: Way, source: str) -> MediaPlace:
        """Locate a medium that a page names.

        Parameters:
            said: an address beginning with ``https://`` or ``http://``; or a file, relative to the
                page's folder or, with a leading ``/``, to the content folder.
            way: the path of the member.
            source: the page's file.

        Raises:
            FieldError: it is neither, or never served.
        """
        if "://" in said or said.startswith(("data:", "javascript:", "mailto:")):
            if _is_address(said):
                return MediaPlace(said)
            raise FieldError(way, f"'{said[:80]}' is not an address; write it with https://.")
        folder = "" if said.startswith("/") else source.rpartition("/")[0]
        name = "/".join(
            part for part in (*folder.split("/"), *said.split("/")) if part not in {"", "."}
        )
        try:
            local = self._admit(name)
        except FileRefused as refusal:
            raise FieldError(way, str(refusal)) from None
        local = msgspec.structs.replace(local, media_type=MediaPlace(local.url).media_type)
        self.files[local.url] = local
        return MediaPlace(local.url, local)

    def find_picture(self, said: str, source: str) -> str | None:
        """Register a picture of the content folder for serving, because a page shows it.

        Parameters:
            said: its address, as the page writes it.
            source: the page's file.

        Returns:
            The problem; None if it is served, or external.
        """
        name = resolve_link(said, source)
        if name is None:
            return None
        try:
            local = self._admit(name)
            with local.file.open("rb") as opened:
                media_type = detect_picture_type(opened.read(_BEGINNING))
        except FileRefused as refusal:
            return str(refusal)
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})."
        if media_type is None:
            return f"{name} is not a PNG, JPEG, GIF, WebP, AVIF or SVG picture."
        self.files.setdefault(local.url, msgspec.structs.replace(local, media_type=media_type))
        return None

    def _admit(self, name: str) -> LocalFile:
        """Admit a file of the content folder, of unknown type.

        Raises:
            FileRefused: it does not exist, or is never served.
        """
        self.looked_at[name] = read_state(self._folder / name)
        file, status = admit_declared(self._folder, name, data=self._data)
        path = f"{self._below}/{name}" if self._below else name
        url = "/" + "/".join(quote(part, safe="") for part in path.split("/"))
        return LocalFile(url, file, make_state(status), UNKNOWN_TYPE)


def _is_address(said: str) -> bool:
    """Return whether this is a valid web address with a host."""
    if not _ADDRESS.fullmatch(said):
        return False
    try:
        return bool(urlsplit(said).hostname)
    except ValueError:
        return False
