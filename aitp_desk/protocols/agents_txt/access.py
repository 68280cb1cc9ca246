"""Which paths of a site agents may read: agents.txt 1.0, section 3.5, as RFC 9309 compares them."""

from __future__ import annotations

from urllib.parse import urlsplit

from aitp_desk.protocols.agents_txt.document import Document


def may_read(document: Document, path: str) -> bool:
    """Whether a file lets agents read a path of its site.

    The longest pattern that fits decides, of two as long the one that allows; where none fits the
    path is allowed. The endpoint of a capability always is.

    Parameters:
        path: with its query, percent-encoded, as it is requested.
    """
    if any(path == _path_of(one.endpoint) for one in document.capabilities):
        return True
    access = document.access
    allowed = max((len(one) for one in access.allow if fits(one, path)), default=-1)
    disallowed = max((len(one) for one in access.disallow if fits(one, path)), default=-1)
    return allowed >= disallowed


def fits(pattern: str, path: str) -> bool:
    """Whether a pattern fits a path from its beginning (RFC 9309, section 2.2.3).

    ``*`` stands for anything, ``$`` at the end of a pattern for the end of the path. The time it
    takes grows with the length of the path times that of the pattern, whatever stands in them.
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


def _path_of(url: str) -> str:
    try:
        address = urlsplit(url)
    except ValueError:
        return ""
    path = address.path or "/"
    return f"{path}?{address.query}" if address.query else path
