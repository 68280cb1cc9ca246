"""Reads declared videos and recordings (``media/video``, ``media/audio`` of AHP 0.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.dates import find_publication_date
from aitp_desk.knowledge.media.fields import FieldError, FieldReader
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import (
    AlternateFormat,
    Audio,
    Chapter,
    Number,
    Subtitle,
    Video,
)
from aitp_desk.knowledge.media.places import MediaPlace

Find = Callable[[str, Way], MediaPlace]
"""Locates what a page names, given the path of the member."""

WHERE = ("file", "url", "stream_url")
"""The members for a location: all take a file or an address."""
_WHERE_IT_IS = "a file next to the page, or an address that begins with https://."
_SHARED = (*WHERE, "format", "duration", "title", "description", "published_at", "thumbnail")
_VIDEO = (*_SHARED, "chapters", "width", "height", "subtitles", "alternate_formats")
_AUDIO = (*_SHARED, "chapters", "transcript")


def read_video(item: object, way: Way, find: Find, page: Document) -> Video:
    """Read a declared video.

    Parameters:
        way: the path of the declaration.
        page: provides title, description and date if the video has none.

    Raises:
        FieldError: a required member is missing, or cannot be used.
    """
    fields = FieldReader(item, way, _VIDEO)
    return Video(
        **_read_shared(fields, find, page),
        width=_pixels(fields, "width"),
        height=_pixels(fields, "height"),
        subtitles=tuple(
            Subtitle(subtitle.get_language("lang"), find_place(subtitle, find).url)
            for where, said in fields.list_items("subtitles")
            for subtitle in [FieldReader(said, where, ("lang", *WHERE))]
        ),
        alternate_formats=tuple(
            _alternate(FieldReader(said, where, ("format", "quality", *WHERE)), find)
            for where, said in fields.list_items("alternate_formats")
        ),
    )


def read_audio(item: object, way: Way, find: Find, page: Document) -> Audio:
    """Read a declared recording; as :func:`read_video`."""
    fields = FieldReader(item, way, _AUDIO)
    transcript = _found(fields, "transcript", find)
    return Audio(**_read_shared(fields, find, page), transcript_url=transcript)


def _read_shared(fields: FieldReader, find: Find, page: Document) -> dict[str, Any]:
    """Return the members that videos and recordings have."""
    place = find_place(fields, find)
    duration = fields.get_required_seconds("duration")
    return {
        "stream_url": place.url,
        "format": _format(fields, place),
        "duration_seconds": duration,
        "thumbnail_url": _found(fields, "thumbnail", find),
        "title": fields.get_text("title") or page.title,
        "description": fields.get_text("description") or page.description or None,
        "published_at": fields.get_timestamp("published_at") or find_publication_date(page),
        "chapters": _chapters(fields, duration),
    }


def find_place(fields: FieldReader, find: Find) -> MediaPlace:
    """Return the location of a declared medium.

    Raises:
        FieldError: it has none, or no file there may be served.
    """
    name, said = fields.get_required_place(WHERE, _WHERE_IT_IS)
    return find(said, fields.at(name))


def _found(fields: FieldReader, name: str, find: Find) -> str | None:
    said = fields.get_place(name)
    return None if said is None else find(said, fields.at(name)).url


def _format(fields: FieldReader, place: MediaPlace) -> str:
    return (
        fields.get_text("format")
        or place.format
        or fields.get_required_text("format", "such as hls or mp4.")
    )


def _pixels(fields: FieldReader, name: str) -> int:
    pixels = fields.get_integer(name)
    if not pixels:
        raise FieldError(fields.path, f"{fields.name} needs '{name}': in pixels, such as 1280.")
    return pixels


def _alternate(fields: FieldReader, find: Find) -> AlternateFormat:
    place = find_place(fields, find)
    quality = fields.get_required_text("quality", "in words, such as 480p.")
    return AlternateFormat(_format(fields, place), place.url, quality)


def _chapters(fields: FieldReader, duration: Number) -> tuple[Chapter, ...]:
    chapters: list[Chapter] = []
    for where, said in fields.list_items("chapters"):
        chapter = FieldReader(said, where, ("title", "start"))
        start = chapter.get_required_seconds("start")
        if start > duration or (chapters and start < chapters[-1].start_seconds):
            message = "Chapters must be in order and begin before the end of the recording."
            raise FieldError(chapter.at("start"), message)
        chapters.append(
            Chapter(chapter.get_required_text("title", "the name of the chapter."), start)
        )
    return tuple(chapters)
