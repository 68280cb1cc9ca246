"""Parses the preferences of a ``Prefer`` header (RFC 7240)."""

from __future__ import annotations

import re

_PREFERENCE = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*+")++')
_WAIT = re.compile(r'\s*wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:;.*)?', re.IGNORECASE | re.ASCII)
_RESPOND_ASYNC = re.compile(r'\s*respond-async\s*(?:=\s*(?:"")?\s*)?(?:;.*)?', re.IGNORECASE)
_LONGEST_WAIT = 1_000_000


def decode_wait(prefer: str) -> float | None:
    """Return the seconds of a ``Prefer: wait=N`` header (section 4.3); None without one.

    The first of several counts. A semicolon starts the parameters of a preference.
    """
    for preference in _PREFERENCE.findall(prefer):
        found = _WAIT.fullmatch(preference)
        if found is not None:
            digits = found[1] or found[2]
            return float(digits) if len(digits) < len(str(_LONGEST_WAIT)) else float(_LONGEST_WAIT)
    return None


def prefers_async(prefer: str) -> bool:
    """Return whether a header has ``respond-async`` (section 4.1) without a value."""
    return any(_RESPOND_ASYNC.fullmatch(one) for one in _PREFERENCE.findall(prefer))
