"""The ways in which an instruction is disguised, and how a model that wants to read it does."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from urllib.parse import quote, unquote

_ZERO_WIDTH = "\u200b"
_LATIN = "aceopxyAEOCPTXHKMB"
_CYRILLIC = "асеорхуАЕОСРТХНКМВ"
_TO_CYRILLIC = str.maketrans(_LATIN, _CYRILLIC)
_TO_LATIN = str.maketrans(_CYRILLIC, _LATIN)
_TAGS = 0xE0000
_RLO, _PDF = "\u202e", "\u202c"
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _entities(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def _escapes(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def _spaced(text: str) -> str:
    return "   ".join(" ".join(word) for word in text.split())


def _tags(text: str) -> str:
    return "".join(chr(_TAGS + ord(char)) for char in text if ord(char) < 128)


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "base64": _base64,
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "percent": lambda text: quote(text, safe=""),
    "entities": _entities,
    "escapes": _escapes,
    "full_width": lambda text: text.translate(_FULL_WIDTH),
    "zero_width": _ZERO_WIDTH.join,
    "homoglyphs": lambda text: text.translate(_TO_CYRILLIC),
    "unicode_tags": _tags,
    "bidi_override": lambda text: f"{_RLO}{text[::-1]}{_PDF}",
    "spaced": _spaced,
    "base64_twice": lambda text: _base64(_base64(text)),
}
"""By name: makes a text unreadable for a filter that looks for words."""

_RUN = re.compile(r"[A-Za-z0-9+/]{24,}={0,6}")
_BASE32_RUN = re.compile(r"[A-Z2-7]{24,}={0,6}")
_HEX_RUN = re.compile(r"(?:[0-9a-fA-F]{2}){12,}")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SPELLED = re.compile(r"(?:(?<=\s)|^)(?:\S {1,3}){6,}\S(?=\s|$)")
_DEEP = 3


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[str, ...]:
    """A text, and whatever else it may say to a caller who tries every usual encoding on it."""
    seen: dict[str, None] = {}
    wave = [text]
    for _ in range(_DEEP):
        found: list[str] = []
        for reading in wave:
            if reading in seen:
                continue
            seen[reading] = None
            found.extend(_decoded(reading))
        wave = found
    return tuple(seen)


def without_marks(text: str) -> str:
    """The text with its compatibility forms resolved and every character gone that nobody sees."""
    if text.isascii():
        return text
    shown = unicodedata.normalize("NFKC", text)
    return "".join(char for char in shown if unicodedata.category(char) != "Cf")


def _decoded(text: str) -> Iterator[str]:
    yield without_marks(text)
    yield text.translate(_TO_LATIN)
    yield html.unescape(text)
    yield unquote(text)
    yield _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace('\\"', '"')
    yield "".join(chr(ord(char) - _TAGS) for char in text if _TAGS + 32 <= ord(char) < _TAGS + 127)
    yield codecs.encode(text, "rot13")
    yield text[::-1]
    for line in text.splitlines():
        if _SPELLED.search(line):
            yield " ".join("".join(word.split()) for word in re.split(r" {3,}", line))
    for pattern, decode in (
        (_RUN, base64.b64decode),
        (_BASE32_RUN, base64.b32decode),
        (_HEX_RUN, bytes.fromhex),
    ):
        for run in pattern.findall(text):
            try:
                yield decode(run).decode()
            except (ValueError, binascii.Error):
                continue
