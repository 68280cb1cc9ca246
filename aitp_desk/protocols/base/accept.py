"""Negotiates the form of a resource by the Accept headers (RFC 9110, section 12.5).

The value of Accept arrives as one text: the lines of a repeated header are one list, joined by
commas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

from aitp_desk.protocols.base.discovery_links import MANIFEST_TYPE

HTML_TYPE = "text/html"
MARKDOWN_TYPE = "text/markdown"
MAX_READ = 2048
"""How many characters of the header are read. No client needs them, and any may send 64 KiB."""
MAX_RANGES = 64
"""How many of its entries are read."""

_ENTRY = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_PARAMETER = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*"?)+')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

Form = TypeVar("Form")
_BY_CODING = ("Vary", "Accept-Encoding")
_GZIP = re.compile(r"(?<![\w-])(?:x-)?gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
"""What takes gzip (RFC 9110, section 12.5.3)."""


class MediaRange(NamedTuple):
    """One entry of an Accept header.

    Parameters:
        name: the media type or wildcard, in lower case.
        weight: from 0 to 1; a value that is not a number counts as 0.
        parameters: all except the weight, without quotes; names in lower case.
    """

    name: str
    weight: float
    parameters: tuple[tuple[str, str], ...]


def choose_coding(
    plain: Form, zipped: Form, headers: Mapping[str, str]
) -> tuple[Form, tuple[tuple[str, str], ...]]:
    """Return the form that a caller takes, plain or gzip, and its headers.

    Only for a body that is equal for all callers: the length of a zipped one tells parts of a
    secret next to a text that an attacker chooses (BREACH).

    Parameters:
        headers: the request's.
    """
    if _GZIP.search(headers.get("Accept-Encoding", "")) is None:
        return plain, (_BY_CODING,)
    return zipped, (_BY_CODING, ("Content-Encoding", "gzip"))


def wants_manifest(accept: str, over: tuple[str, ...] = (HTML_TYPE,)) -> bool:
    """Return whether a caller prefers the manifest's type over the types that are available.

    A wildcard does not name a type. Between two named types of equal weight, the available one
    wins.

    Parameters:
        accept: the value of the Accept header; empty without one.
        over: the media types that are available.
    """
    wanted, named = find_quality(accept, MANIFEST_TYPE)
    if not named or not wanted:
        return False
    return all(
        wanted > weight or (wanted == weight and not other_named)
        for weight, other_named in (find_quality(accept, other) for other in over)
    )


def wants_markdown(accept: str) -> bool:
    """Return whether a caller names Markdown and does not prefer HTML.

    With equal weights Markdown wins, because no browser names it.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    wanted, named = find_quality(accept, MARKDOWN_TYPE)
    return named and wanted > 0 and wanted >= find_quality(accept, HTML_TYPE)[0]


def is_page_load(accept: str) -> bool:
    """Return whether a browser loads a page, or a picture or medium of one.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    if accept.startswith(("image/", "video/", "audio/")):
        return True
    return find_quality(accept, HTML_TYPE)[1] and not wants_markdown(accept)


def find_quality(accept: str, media_type: str) -> tuple[float, bool]:
    """Return the weight of a media type, and whether the header names that type.

    The most specific matching range counts. A weight that is not a number counts as 0.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    ranges = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
    best = (-1, 0.0)
    for name, weight, _ in parse_ranges(accept):
        if name in ranges:
            best = max(best, (ranges.index(name), weight))
    return best[1], best[0] == ranges.index(media_type)


def parse_ranges(accept: str) -> tuple[MediaRange, ...]:
    """Parse the first entries of the header; every text is accepted.

    A quoted parameter may contain a comma.

    Parameters:
        accept: as for :func:`wants_manifest`.
    """
    return _parse_ranges(accept[:MAX_READ])


@lru_cache(maxsize=256)
def _parse_ranges(accept: str) -> tuple[MediaRange, ...]:
    found = []
    for entry in _ENTRY.findall(accept)[:MAX_RANGES]:
        name, *given = [part.strip() for part in _PARAMETER.findall(entry)] or [""]
        named = [_named(parameter) for parameter in given]
        found.append(
            MediaRange(
                name.lower(),
                next((_weight(value) for key, value in named if key == "q"), 1.0),
                tuple(one for one in named if one[0] and one[0] != "q"),
            )
        )
    return tuple(found)


def _named(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    value = value.strip()
    if value.startswith('"'):
        value = _ESCAPED.sub(r"\1", value[1:].removesuffix('"'))
    return name.strip().lower(), value


def _weight(value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
