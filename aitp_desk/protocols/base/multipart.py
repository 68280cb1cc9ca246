"""Parses ``multipart/form-data`` bodies (RFC 7578), strictly and within bounds.

The body is already read completely, within its route's bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from aitp_desk.model.errors import InvalidRequest, RequestTooLarge, UnsupportedMedia

MAX_PARTS = 10
MAX_HEADERS = 8
MAX_HEADER_BYTES = 4096
MAX_FIELD_BYTES = 4096
"""The longest value of a field that is not a file."""
OVERHEAD = 64 * 1024
"""The bytes of a form beyond its file: other parts, boundaries, headers."""

_PLAIN_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


class FormPart(msgspec.Struct, frozen=True):
    """One part of a form.

    Parameters:
        filename: as it was sent; None for a field that is not a file.
    """

    filename: str | None
    data: bytes

    def text(self, name: str) -> str:
        """Return the value of a field.

        Raises:
            InvalidRequest: the part is a file, or not UTF-8.
        """
        if self.filename is not None:
            raise InvalidRequest(f"{name} must be a file, not a field.", param=name)
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            raise InvalidRequest(f"{name} is not UTF-8 text.", param=name) from None


def decode_form(content_type: str | None, body: bytes) -> Mapping[str, FormPart]:
    """Parse a form.

    Raises:
        UnsupportedMedia: the body is not a form, or names a transfer encoding.
        InvalidRequest: the form is malformed, or a part is repeated or has no name.
        RequestTooLarge: a part, its headers or their number exceeds its bound.
    """
    readable = content_type if content_type is not None and content_type.isascii() else None
    kind, options = parse_options_header(readable)
    if kind != b"multipart/form-data":
        raise UnsupportedMedia(
            "The body must be a form. Send it with Content-Type: multipart/form-data.",
            param="Content-Type",
        )
    boundary = options.get(b"boundary", b"")
    if not boundary or len(boundary) > 70 or boundary != boundary.strip():  # RFC 2046, 5.1.1
        raise InvalidRequest("The form has no usable boundary.", param="Content-Type")
    # no file contains a delimiter; a body full of them would keep the parser busy for seconds
    if body.count(b"\r\n--" + boundary) > MAX_PARTS + 1:
        raise _too_many_parts()
    reader = _Reader()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reader.begin,
                "on_header_begin": reader.begin_header,
                "on_header_field": reader.add_name,
                "on_header_value": reader.add_value,
                "on_header_end": reader.end_header,
                "on_headers_finished": reader.end_headers,
                "on_part_data": reader.add_data,
                "on_part_end": reader.end,
                "on_end": reader.finish,
            },
            max_header_count=MAX_HEADERS,
            max_header_size=MAX_HEADER_BYTES,
        )
        parser.write(body)
        parser.finalize()
    except FormParserError:
        raise InvalidRequest("The form is malformed (RFC 7578).") from None
    if not reader.is_finished:
        raise InvalidRequest("The form is incomplete: its last boundary is missing.")
    return reader.parts


class _Reader:
    """Collects the parts from the parser's callbacks."""

    def __init__(self) -> None:
        self.parts: dict[str, FormPart] = {}
        self.is_finished = False
        self._count = 0
        self._header = b""
        self._value = b""
        self._headers: dict[bytes, str] = {}
        self._name = ""
        self._filename: str | None = None
        self._size = 0
        self._data: list[bytes] = []

    def begin(self) -> None:
        self._count += 1
        if self._count > MAX_PARTS:
            raise _too_many_parts()
        self._headers, self._data, self._size = {}, [], 0

    def begin_header(self) -> None:
        self._header = self._value = b""

    def add_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        name = self._header.strip().lower()
        if name in self._headers:
            raise InvalidRequest("A header of a part occurs twice.")
        self._headers[name] = self._value.strip().decode("latin-1")

    def end_headers(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition"))
        if kind != b"form-data" or not options.get(b"name"):
            raise InvalidRequest("A part of the form has no name.")
        self._name = _text(options[b"name"])
        filename = options.get(b"filename")
        self._filename = None if filename is None else _text(filename)
        if self._name in self.parts:
            raise InvalidRequest(f"{self._name[:64]!r} occurs twice in the form.")
        if self._headers.get(b"content-type", "").lower().startswith("multipart/"):
            raise InvalidRequest("A form within a form is not supported.")
        if self._headers.get(b"content-transfer-encoding", "").lower() not in _PLAIN_ENCODINGS:
            raise InvalidRequest("A part of the form must be sent without an encoding.")

    def add_data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        if self._filename is None and self._size > MAX_FIELD_BYTES:
            raise RequestTooLarge(
                f"A field of the form may have at most {MAX_FIELD_BYTES} bytes.",
                param=self._name[:64],
            )
        self._data.append(data[start:end])

    def end(self) -> None:
        self.parts[self._name] = FormPart(self._filename, b"".join(self._data))

    def finish(self) -> None:
        self.is_finished = True


def _too_many_parts() -> RequestTooLarge:
    return RequestTooLarge(f"A form may have at most {MAX_PARTS} parts.")


def _text(raw: bytes) -> str:
    """Decode a name as browsers write it: UTF-8, escaped (HTML, 4.10.21.8)."""
    text = raw.decode(errors="replace")
    return text.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
