"""Reads uploads, writes file objects, and serves contents safely.

The form is that of the OpenAI API. Pure: no I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote

import msgspec

from aitp_desk.model.conversation.file import TEXT, UNKNOWN, File
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp import objects
from aitp_desk.protocols.aitp.wire import decode_page, encode, encode_list
from aitp_desk.protocols.base.multipart import decode_form
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.store.records.pages import Page, PageRequest

PURPOSES = ("assistants", "user_data", "vision")
"""The OpenAI API's purposes that apply here: the files are attached to messages."""
MIN_SECONDS = 60 * 60
MAX_SECONDS = 30 * 24 * 60 * 60
"""The bounds of ``expires_after`` (OpenAI API, Upload file)."""
MAX_LISTED = 1000
"""The longest page of files; a larger ``limit`` is lowered to it."""

_SHOWN_AS_THEY_ARE = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""Types that no browser executes. Everything else is served as bytes."""
_FILE_ID = re.compile(r"file_[0-9a-v]{36}")
_SECONDS = re.compile(r"\d{1,10}", re.ASCII)


class Upload(msgspec.Struct, frozen=True):
    """An uploaded file.

    Parameters:
        seconds: how long it is kept; None until it is deleted.
    """

    name: str
    purpose: str
    data: bytes
    seconds: int | None


def decode_upload(content_type: str | None, body: bytes) -> Upload:
    """Decode the form of an upload: ``file``, ``purpose`` and optionally ``expires_after``.

    Raises:
        UnsupportedMedia, InvalidRequest, RequestTooLarge: as
            ``protocols.base.multipart.decode_form``.
        MissingField: a part is missing.
    """
    parts = dict(decode_form(content_type, body))
    if (file := parts.get("file")) is None or file.filename is None:
        raise MissingField("An upload needs a part named file, a file with its name.", param="file")
    if "purpose" not in parts:
        raise MissingField(f"An upload needs a purpose: {' or '.join(PURPOSES)}.", param="purpose")
    fields = {name: part.text(name) for name, part in parts.items() if name != "file"}
    if fields["purpose"] not in PURPOSES:
        raise InvalidRequest(f"`purpose` must be {' or '.join(PURPOSES)}.", param="purpose")
    return Upload(file.filename, fields["purpose"], file.data, _seconds(fields))


def _seconds(fields: Mapping[str, str]) -> int | None:
    anchor, seconds = fields.get("expires_after[anchor]"), fields.get("expires_after[seconds]")
    if anchor is None and seconds is None:
        return None
    if anchor != "created_at":
        raise InvalidRequest(
            "`expires_after` must count from created_at.", param="expires_after[anchor]"
        )
    given = int(seconds) if seconds is not None and _SECONDS.fullmatch(seconds) else 0
    if not MIN_SECONDS <= given <= MAX_SECONDS:
        raise InvalidRequest(
            f"`expires_after` must be {MIN_SECONDS} to {MAX_SECONDS} seconds.",
            param="expires_after[seconds]",
        )
    return given


def decode_list(query: Mapping[str, str]) -> PageRequest:
    """Decode ``limit, order, after`` from a query string.

    Raises:
        InvalidRequest: a value is out of range.
    """
    part = decode_page(query, usual=10_000, most=10_000)
    if part.after is not None and not _FILE_ID.fullmatch(part.after):
        raise InvalidRequest("`after` must be the id of a file.", param="after")
    return msgspec.structs.replace(part, limit=min(part.limit, MAX_LISTED))


def write_file(file: File) -> objects.File:
    """Write a file as the OpenAI API has it."""
    return objects.File(
        id=file.id,
        bytes=file.size,
        created_at=file.created_at,
        expires_at=file.expires_at,
        filename=file.name,
        purpose=file.purpose,
        status="processed",
        status_details=None,
    )


def encode_file(file: File) -> Reply:
    """Encode the response that describes one file."""
    return Reply(200, encode(write_file(file)))


def encode_files(page: Page[File]) -> Reply:
    """Encode one page of a caller's files."""
    return encode_list([write_file(file) for file in page.items], page.has_more)


def encode_content(file: File, pieces: AsyncIterator[bytes]) -> Reply:
    """Encode a file's bytes so that browsers only download them.

    Text is served as plain text, pictures with their own type, and everything else as bytes.
    """
    kind = UNKNOWN
    if file.media_type == TEXT:
        kind = "text/plain; charset=utf-8"
    elif file.media_type in _SHOWN_AS_THEY_ARE:
        kind = file.media_type
    return Reply(
        200,
        b"",
        kind,
        (
            ("Content-Length", str(file.size)),
            ("Content-Disposition", write_disposition(file.name)),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
        ),
        pieces=pieces,
    )


def write_disposition(name: str) -> str:
    """Return the ``Content-Disposition`` of a download (RFC 6266), for old and new readers."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\%' else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
