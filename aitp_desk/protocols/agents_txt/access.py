"""Decides which paths of a site agents may read.

Source: agents.txt 1.0, section 3.5, with the matching of RFC 9309.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

from aitp_desk.protocols.agents_txt.document import Document

_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")


def may_read(document: Document, path: str) -> bool:
    """Return whether a file allows agents to read a path of its site.

    The longest matching pattern decides; between two of equal length the one that allows. Without a
    match the path is allowed. The endpoint of a capability is always allowed.

    Parameters:
        path: with its query, percent-encoded, as it is requested.
    """
    path = _escaped(path)
    if any(path == _escaped(_path_of(one.endpoint)) for one in document.capabilities):
        return True
    access = document.access
    return _longest(access.allow, path) >= _longest(access.disallow, path)


def _longest(patterns: Iterable[str], path: str) -> int:
    """Return the length of the longest matching pattern; -1 without a match."""
    return max((len(one) for one in map(_escaped, patterns) if matches_path(one, path)), default=-1)


def matches_path(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path from its beginning (RFC 9309, section 2.2.3).

    ``*`` matches anything, ``$`` at the end of a pattern matches the end of the path. The time
    grows at most with the length of the path times that of the pattern, whatever they contain.
    """
    ends = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    for part in others[:-1]:
        place = path.find(part, place)
        if place < 0:
            return False
        place += len(part)
    if not others:
        return not ends or place == len(path)
    last = others[-1]
    if ends:
        return len(path) - place >= len(last) and path.endswith(last)
    return path.find(last, place) >= 0


def _escaped(text: str) -> str:
    """Return a path or pattern with the fewest escapes (RFC 9309, section 2.2.2)."""

    def escape(found: re.Match[str]) -> str:
        octet = chr(int(found[1], 16))
        return octet if octet in _UNRESERVED else found[0].upper()

    return _ESCAPED.sub(escape, quote(text, safe=string.punctuation))


def _path_of(url: str) -> str:
    try:
        address = urlsplit(url)
    except ValueError:
        return ""
    path = address.path or "/"
    return f"{path}?{address.query}" if address.query else path
