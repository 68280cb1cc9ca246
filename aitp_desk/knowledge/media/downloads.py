"""Reads the downloads that a page declares (AHP 0.1, appendix C.2: ``file/download``)."""

from __future__ import annotations

import re

from aitp_desk.knowledge.media.fields import FieldError, FieldReader
from aitp_desk.knowledge.media.fields import Path as Way
from aitp_desk.knowledge.media.payloads import Download
from aitp_desk.knowledge.media.recordings import WHERE, Find, find_place
from aitp_desk.knowledge.sources.file_digests import FileDigests

_DOWNLOAD = (
    *(*WHERE, "title", "description", "filename", "mime_type"),
    *("size_bytes", "checksum", "expires_at"),
)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MEDIA_TYPE = re.compile(r"[a-z]+/[\w.+-]+")


def read_download(
    item: object, way: Way, find: Find, measures: FileDigests
) -> tuple[str | None, Download]:
    """Read a declared download, and its title if it has one.

    Parameters:
        way: the path of the declaration.

    Raises:
        FieldError: a required member is missing, or cannot be used.
    """
    fields = FieldReader({"file": item} if isinstance(item, str) else item, way, _DOWNLOAD)
    place = find_place(fields, find)
    size, checksum = fields.get_integer("size_bytes"), fields.get_text("checksum")
    if checksum is not None and not _SHA256.fullmatch(checksum):
        message = (
            f"{fields.name}.checksum must be a SHA-256: 64 digits 0 to 9 and a to f, in quotes."
        )
        raise FieldError(fields.at("checksum"), message)
    if place.local is not None:
        try:
            measured = measures.sha256(place.local.file)
        except OSError as error:
            raise FieldError(way, f"{place.name} cannot be read ({error.strerror}).") from None
        if (size or place.local.size) != place.local.size or (checksum or measured) != measured:
            message = (
                f"{place.name} has another size or checksum. Leave both out: the desk "
                "measures them."
            )
            raise FieldError(way, message)
        size, checksum = place.local.size, measured
    elif size is None:
        message = f"{fields.name} needs 'size_bytes': the desk cannot measure a file elsewhere."
        raise FieldError(way, message)
    media_type = fields.get_text("mime_type") or place.media_type
    if not _MEDIA_TYPE.fullmatch(media_type):
        message = f"{fields.name}.mime_type must be a media type such as application/pdf."
        raise FieldError(fields.at("mime_type"), message)
    filename = fields.get_text("filename") or place.name
    if not set(filename).isdisjoint("/\\"):
        message = f"{fields.name}.filename must be a file name, without a folder."
        raise FieldError(fields.at("filename"), message)
    return fields.get_text("title"), Download(
        url=place.url,
        filename=filename or fields.get_required_text("filename", "the name of the file."),
        mime_type=media_type,
        size_bytes=size,
        checksum=checksum,
        description=fields.get_text("description"),
        expires_at=fields.get_timestamp("expires_at"),
    )
