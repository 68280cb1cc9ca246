"""Defines the payloads of media: videos, recordings, pictures, files, data.

The Structs have the members of AHP 0.1, appendix C.2, by their names there. An address that begins
with ``/`` is on the site; :func:`with_absolute_urls` makes it absolute.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from aitp_desk.knowledge.sources.file_state import FileState

Number = int | float


class Subtitle(msgspec.Struct, frozen=True):
    """Subtitles in one language, a BCP 47 tag."""

    lang: str
    url: str


class Chapter(msgspec.Struct, frozen=True):
    """Where a part of a recording begins, in seconds from its beginning."""

    title: str
    start_seconds: Number


class AlternateFormat(msgspec.Struct, frozen=True):
    """The same video in another form."""

    format: str
    url: str
    quality: str


class Video(msgspec.Struct, frozen=True, kw_only=True):
    """A video (``media/video``). Width and height are in pixels."""

    stream_url: str
    format: str
    duration_seconds: Number
    width: int
    height: int
    thumbnail_url: str | None = None
    title: str
    description: str | None = None
    published_at: str | None = None
    subtitles: tuple[Subtitle, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    alternate_formats: tuple[AlternateFormat, ...] = ()


class Audio(msgspec.Struct, frozen=True, kw_only=True):
    """A recording (``media/audio``)."""

    stream_url: str
    format: str
    duration_seconds: Number
    title: str
    description: str | None = None
    published_at: str | None = None
    thumbnail_url: str | None = None
    transcript_url: str | None = None
    chapters: tuple[Chapter, ...] = ()


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """A picture; ``alt`` says what it shows. Width and height are in pixels."""

    url: str
    alt: str
    width: int
    height: int
    format: str
    title: str | None = None


class Images(msgspec.Struct, frozen=True, kw_only=True):
    """The pictures of a page (``media/image``)."""

    images: tuple[Image, ...]
    layout: Literal["single", "gallery"]


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A file to download (``file/download``); ``checksum`` is its SHA-256 in hexadecimal digits."""

    url: str
    filename: str
    mime_type: str
    size_bytes: int
    checksum: str | None = None
    description: str | None = None
    expires_at: str | None = None


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """Records for machines (``application/data``); ``schema`` names their shape."""

    schema: str | None
    data: dict[str, Any]


class Resource(msgspec.Struct, frozen=True):
    """Something that a page offers.

    Parameters:
        content_type: of its payload.
        page: path of the document that declares it.
        title: by which people ask for it.
        payload: in JSON's types, as the content type has it.
        description: what it is, in a sentence or two; empty where the page does not say.
        name: the file's name, by which it may be asked for too; empty where it has none.
        told: more words that it may be found by, such as what pictures show.
    """

    content_type: str
    page: str
    title: str
    payload: dict[str, Any]
    description: str = ""
    name: str = ""
    told: str = ""


class ContentTypeText(msgspec.Struct, frozen=True):
    """A documented content type that the site defines (AHP 0.1, appendix C.3).

    Parameters:
        url: of the page that says what its payloads hold.
        markdown_url: the same page as Markdown.
        about: what the type is, in a line.
    """

    url: str
    markdown_url: str
    about: str


class LocalFile(msgspec.Struct, frozen=True):
    """A file of the content folder that is served because a page declares it.

    Parameters:
        url: its address on the site, beginning with ``/``.
        file: where to read it: links are resolved.
        state: by which a change of it is seen.
        media_type: as it is sent.
    """

    url: str
    file: Path
    state: FileState
    media_type: str

    @property
    def size(self) -> int:
        """In bytes."""
        return self.state.size


def with_absolute_urls(payload: Any, site_url: str) -> Any:
    """A payload of a core type with all its addresses absolute.

    Parameters:
        site_url: of the desk, without a slash at its end.
    """
    if isinstance(payload, (list, tuple)):
        return [with_absolute_urls(item, site_url) for item in payload]
    if not isinstance(payload, dict):
        return payload
    return {
        name: site_url + value
        if (name == "url" or name.endswith("_url"))
        and isinstance(value, str)
        and value.startswith("/")
        and not value.startswith("//")
        else with_absolute_urls(value, site_url)
        for name, value in payload.items()
    }
