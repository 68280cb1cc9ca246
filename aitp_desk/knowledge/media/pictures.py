"""The pictures that a page declares (AHP 0.1, appendix C.2: ``media/image``)."""

from __future__ import annotations

from aitp_desk.knowledge.media.fields import Fields, Wrong, items_of
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import Image, Images
from aitp_desk.knowledge.media.places import size_of_picture
from aitp_desk.knowledge.media.recordings import WHERE, Find, find_place

_IMAGE = (*WHERE, "alt", "title", "width", "height", "format")


def read_images(value: object, way: Way, find: Find, wrong: list[Wrong]) -> Images | None:
    """The pictures of a page together; what is wrong with single ones is noted in ``wrong``."""
    images: list[Image] = []
    for where, item in items_of(value, way):
        try:
            images.append(_read(item, where, find))
        except Wrong as error:
            wrong.append(error)
    if not images:
        return None
    return Images(images=tuple(images), layout="single" if len(images) == 1 else "gallery")


def _read(item: object, way: Way, find: Find) -> Image:
    fields = Fields({"file": item} if isinstance(item, str) else item, way, _IMAGE)
    alt = fields.needed("alt", "what the picture shows, for those who cannot see it.")
    place = find_place(fields, find)
    width, height = fields.whole("width"), fields.whole("height")
    if not width or not height:
        size = size_of_picture(place.local) if place.local is not None else None
        if size is None:
            message = f"{fields.name} needs 'width' and 'height' in pixels: they cannot be read."
            raise Wrong(way, message)
        width, height = size
    return Image(
        url=place.url,
        alt=alt,
        width=width,
        height=height,
        format=fields.text("format") or place.format or fields.needed("format", "such as png."),
        title=fields.text("title"),
    )
