"""Encodes files for upload as ``multipart/form-data`` (RFC 7578)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from aitp_desk.transports.messages import OutgoingFile

_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def encode_upload(
    fields: Mapping[str, str], name: str, file: OutgoingFile
) -> tuple[bytes, dict[str, str]]:
    """Return a body with its headers.

    Parameters:
        fields: the other fields of the form.
        name: of the field that holds the file.
    """
    boundary = secrets.token_hex(16)
    lines: list[bytes] = []
    for field, value in fields.items():
        lines.append(_head(boundary, field) + b"\r\n" + value.encode())
    content_type = file.content_type if _is_plain(file.content_type) else "application/octet-stream"
    head = _head(boundary, name, file.name or "file")
    lines.append(head + f"Content-Type: {content_type}\r\n\r\n".encode() + file.data)
    body = b"\r\n".join([*lines, f"--{boundary}--\r\n".encode()])
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def _head(boundary: str, field: str, file_name: str = "") -> bytes:
    named = f'; filename="{file_name.translate(_ESCAPES)}"' if file_name else ""
    disposition = f'form-data; name="{field.translate(_ESCAPES)}"{named}'
    return f"--{boundary}\r\nContent-Disposition: {disposition}\r\n".encode()


def _is_plain(content_type: str) -> bool:
    return content_type.isascii() and content_type.isprintable() and "/" in content_type
