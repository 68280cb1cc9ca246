"""Reads the pictures that a page declares (AHP 0.1, appendix C.2: ``media/image``)."""

from __future__ import annotations

from aitp_desk.knowledge.media.fields import FieldError, FieldReader, list_items
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import Image, Images
from aitp_desk.knowledge.media.places import read_picture_size
from aitp_desk.knowledge.media.recordings import WHERE, Find, find_place

_IMAGE = (*WHERE, "alt", "title", "width", "height", "format")


def read_images(value: object, way: Way, find: Find, wrong: list[FieldError]) -> Images | None:
    """Read the pictures of a page; errors in single ones are added to ``wrong``."""
    images: list[Image] = []
    for where, item in list_items(value, way):
        try:
            images.append(_read(item, where, find))
        except FieldError as error:
            wrong.append(error)
    if not images:
        return None
    return Images(images=tuple(images), layout="single" if len(images) == 1 else "gallery")


def _read(item: object, way: Way, find: Find) -> Image:
    fields = FieldReader({"file": item} if isinstance(item, str) else item, way, _IMAGE)
    alt = fields.get_required_text("alt", "what the picture shows, for those who cannot see it.")
    place = find_place(fields, find)
    width, height = fields.get_integer("width"), fields.get_integer("height")
    if not width or not height:
        size = read_picture_size(place.local) if place.local is not None else None
        if size is None:
            message = f"{fields.name} needs 'width' and 'height' in pixels: they cannot be read."
            raise FieldError(way, message)
        width, height = size
    return Image(
        url=place.url,
        alt=alt,
        width=width,
        height=height,
        format=fields.get_text("format")
        or place.format
        or fields.get_required_text("format", "such as png."),
        title=fields.get_text("title"),
    )
