"""Decodes values of header fields: words, ids, dates.

Source: RFC 5322, sections 3.3, 3.6.4; RFC 2047; RFC 6532 for UTF-8 in fields.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from quopri import decodestring

from aitp_desk.transports.email.mail.charset import decode

_ENCODED_WORD = re.compile(
    r"=\?([\w.:+-]{1,40})(?:\*[\w-]{1,20})?\?([bBqQ])\?([^?\s]*(?: [^?\s]+)*)\?="
)
_IDS = re.compile(r"<([^<>\s]{1,250})>")
_NO_ID = re.compile(r"[\s<>]")
_LONGEST_ID = 250
_LONGEST_DATE = 100
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LATEST = 253_402_300_800  # the year 10000


def decode_raw(value: str) -> str:
    """Return a field as text: its bytes that are not ASCII are UTF-8, else Windows-1252."""
    if value.isascii():
        return value
    return decode(value.encode("utf-8", "surrogateescape"))


def decode_words(value: str) -> str:
    """Return an unstructured field with its encoded words decoded, on one line.

    Adjacent words of one character set are decoded together: some programs break characters of
    several bytes between them.
    """
    value = decode_raw(value)
    if "=?" not in value:
        return _flat(value)
    texts: list[str] = []
    charset, held = "", b""
    end = 0
    for word in _ENCODED_WORD.finditer(value):
        between = value[end : word.start()]
        data = _decode_word(word[2], word[3])
        if between.strip() or not end or charset != word[1].lower():
            texts.append(decode(held, charset))
            texts.append(between if between.strip() or not end else "")
            charset, held = word[1].lower(), b""
        held += data
        end = word.end()
    texts.append(decode(held, charset))
    texts.append(value[end:])
    return _flat("".join(texts))


def _decode_word(form: str, text: str) -> bytes:
    raw = text.encode("utf-8", "surrogateescape")
    if form in "qQ":
        return decodestring(raw, header=True)
    try:
        return b64decode(raw + b"=" * (-len(raw) % 4))
    except (binascii.Error, ValueError):
        return raw


def _flat(text: str) -> str:
    text = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return " ".join(_CONTROLS.sub(" ", text).split())


def read_id(value: str) -> str:
    """Return the first Message-ID of a field, without brackets; empty if it has none."""
    found = _IDS.search(value)
    if found:
        return decode_raw(found[1])
    bare = value.strip()
    return bare if 0 < len(bare) <= _LONGEST_ID and not _NO_ID.search(bare) else ""


def read_ids(values: Iterable[str], most: int) -> tuple[str, ...]:
    """Return Message-IDs, each once: the first, which began the thread, and the last ones."""
    found = list(dict.fromkeys(decode_raw(id) for value in values for id in _IDS.findall(value)))
    return tuple(found if len(found) <= most else [found[0], *found[len(found) - most + 1 :]])


def read_date(value: str) -> int | None:
    """Return Unix seconds; None for a date that is none."""
    try:
        seconds = parsedate_to_datetime(value[:_LONGEST_DATE]).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError, OSError):
        return None
    return int(seconds) if 0 <= seconds < _LATEST else None
