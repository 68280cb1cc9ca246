"""Reads and writes parts of messages: text, data and files, in each form.

Source: A2A 1.0, section 4.1.6 (Part); A2A 0.3, section 6.5. Pure: no I/O, no clock.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable
from typing import Any

import msgspec

from aitp_desk.model.calls.task import Result
from aitp_desk.model.conversation.thread import MAX_ATTACHMENTS, MAX_CONTENT_BYTES, MAX_PARTS
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    InvalidRequest,
    MissingField,
    RequestTooLarge,
    UnsupportedMedia,
)
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.base.open_requests_wire import write_request, write_terms

REQUESTS = "requests"
"""The member of a data part that lists open requests."""
_KINDS = ("text", "raw", "url", "data")
_MOST_EXACT = 2**53
"""Up to this number a float represents every whole number exactly."""


class PartFile(msgspec.Struct, frozen=True):
    """A file in a message.

    Parameters:
        media_type: as its sender declares it; empty without one.
    """

    name: str
    media_type: str
    data: bytes


class MessageParts(msgspec.Struct, frozen=True):
    """The content of a message's parts, each kind in its order.

    Parameters:
        texts: the text parts, and the data parts as JSON.
        data: the data parts.
    """

    texts: tuple[str, ...]
    data: tuple[Any, ...]
    files: tuple[PartFile, ...]


def read_parts(given: Any, dialect: Dialect, at: str) -> MessageParts:
    """Read the parts of a message.

    Parameters:
        at: their path in the request.

    Raises:
        MissingField: there are none.
        InvalidRequest: one is invalid, or there are too many.
        RequestTooLarge: the texts and data exceed the length of one message.
        UnsupportedMedia: a file is not in the request itself.
    """
    if not isinstance(given, list) or not given:
        raise MissingField(f"{at} must be a list of at least one part.", param=at)
    if len(given) > MAX_PARTS:
        raise InvalidRequest(f"{at} may have at most {MAX_PARTS} parts.", param=at)
    texts: list[str] = []
    data: list[Any] = []
    files: list[PartFile] = []
    room = MAX_CONTENT_BYTES
    for place, one in enumerate(given):
        where = f"{at}[{place}]"
        kind, value, part = _read_part(ObjectReader(one, f"{where}."), dialect)
        if kind == "text":
            texts.append(value)
            room -= len(value)
        elif kind == "data":
            value = with_whole_numbers(value)
            data.append(value)
            texts.append(msgspec.json.encode(value).decode())
            room -= len(texts[-1])
        elif kind == "raw":
            name = part.get_text("filename") or part.get_text("name")
            media_type = part.get_text("mediaType") or part.get_text("mimeType")
            files.append(PartFile(name, media_type, _bytes(value, where)))
        else:
            raise UnsupportedMedia(
                "The desk does not fetch files. Send the bytes in the message (raw, base64).",
                param=where,
            )
        if room < 0:
            raise RequestTooLarge(
                f"The texts and data of one message may have at most {MAX_CONTENT_BYTES} bytes.",
                param=at,
            )
    if len(files) > MAX_ATTACHMENTS:
        raise InvalidRequest(f"{at} may have at most {MAX_ATTACHMENTS} files.", param=at)
    return MessageParts(tuple(texts), tuple(data), tuple(files))


def with_whole_numbers(value: Any) -> Any:
    """Return data with whole floats as integers.

    Clients that are generated from the protocol's Protobuf definitions hold data in a
    ``google.protobuf.Value``, which has no integers: a 2 arrives as 2.0.
    """
    match value:
        case dict():
            return {name: with_whole_numbers(member) for name, member in value.items()}
        case list():
            return [with_whole_numbers(item) for item in value]
        case float() if value.is_integer() and abs(value) <= _MOST_EXACT:
            return int(value)
        case _:
            return value


def write_parts(result: Result, dialect: Dialect) -> list[dict[str, Any]]:
    """Write a task's result or its open question: first texts, then data."""
    parts = [write_text_part(text, dialect) for text in result.texts if text]
    if result.waiting:
        asked = {REQUESTS: [write_request(one) for one in result.waiting]}
        parts.append(write_data_part(asked, dialect))
    elif result.terms is not None:
        told = {"price": result.terms.price, "payment": write_terms(result.terms)}
        parts.append(write_data_part({"code": ErrorKind.PAYMENT_REQUIRED.value, **told}, dialect))
    elif result.data is not None or not parts:
        parts.append(write_data_part({} if result.data is None else result.data, dialect))
    return parts


def write_content(content: Iterable[str], dialect: Dialect) -> list[dict[str, Any]]:
    """Write a message's stored content; a part that is a JSON object is data."""
    return [_stored_part(text, dialect) for text in content]


def write_text_part(text: str, dialect: Dialect) -> dict[str, Any]:
    """Write a text part."""
    return {"kind": "text", "text": text} if dialect is Dialect.V03 else {"text": text}


def write_data_part(value: Any, dialect: Dialect) -> dict[str, Any]:
    """Write a data part; 0.3 has only objects, and gets other values as ``value``."""
    if dialect is Dialect.V1:
        return {"data": value, "mediaType": "application/json"}
    whole = value if isinstance(value, dict | msgspec.Struct) else {"value": value}
    if dialect is Dialect.V03:
        return {"kind": "data", "data": whole}
    return {"data": {"data": whole}}


def write_url_part(url: str, dialect: Dialect) -> dict[str, Any]:
    """Write a file part by its address."""
    if dialect is Dialect.V1:
        return {"url": url}
    if dialect is Dialect.V03:
        return {"kind": "file", "file": {"uri": url}}
    return {"file": {"fileWithUri": url}}


def _stored_part(text: str, dialect: Dialect) -> dict[str, Any]:
    if text.startswith("{"):
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return write_text_part(text, dialect)
        return write_data_part(value, dialect)
    return write_text_part(text, dialect)


def _read_part(part: ObjectReader, dialect: Dialect) -> tuple[str, Any, ObjectReader]:
    """Return a part's kind and value, and the object that has its name."""
    if dialect is Dialect.V1:
        kinds = [kind for kind in _KINDS if kind in part]
        if len(kinds) != 1:
            raise InvalidRequest(
                f"{part.get_path('')[:-1]} must have exactly one of {', '.join(_KINDS)}.",
                param=part.get_path("")[:-1],
            )
        (kind,) = kinds
        return kind, part.get_value(kind) if kind == "data" else part.get_text(kind, None), part
    kind = part.get_text("kind") if dialect is Dialect.V03 else _member_kind(part)
    if kind == "text":
        if not isinstance(part.get_value("text"), str):
            raise MissingField(f"{part.get_path('text')} is required.", param=part.get_path("text"))
        return kind, part.get_text("text", None), part
    if kind == "data":
        data = part.get_object("data")
        whole = data.get_value("data") if dialect is Dialect.V03_HTTP else part.get_value("data")
        if not isinstance(whole, dict):
            raise InvalidRequest(
                f"{part.get_path('data')} must be an object.", param=part.get_path("data")
            )
        return kind, whole, part
    if kind == "file":
        file = part.get_object("file")
        for member in ("bytes", "fileWithBytes"):
            if member in file:
                return "raw", file.get_text(member, None), file
        return "url", None, file
    raise InvalidRequest(
        f"{part.get_path('kind')} must be text, data or file.", param=part.get_path("kind")
    )


def _member_kind(part: ObjectReader) -> str:
    return next((kind for kind in ("text", "data", "file") if kind in part), "")


def _bytes(text: str, where: str) -> bytes:
    try:
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        return b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequest(f"The bytes of {where} must be base64.", param=where) from None
