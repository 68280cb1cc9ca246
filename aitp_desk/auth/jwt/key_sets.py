"""Keys that others publish: how long a set of them is taken as it is, and how one is read.

Issuers publish theirs as JWK Sets (``jwks.py``), agents as directories (``directories.py``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from aitp_desk.egress import Fetched

REFETCH_SECONDS = 60
"""So much lies between two fetches at least, whatever keys tokens name."""
MIN_FRESH_SECONDS, FRESH_SECONDS, MAX_FRESH_SECONDS = 300, 3600, 86_400
"""How long a set is taken as it is: at least, where its issuer does not say, and at most."""
OLD_SECONDS = 86_400
"""How much longer it is used while its issuer does not answer: a withdrawn key must end some day,
also where somebody keeps the desk from hearing of it."""

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})\b", re.IGNORECASE | re.ASCII)


class KeySetError(Exception):
    """An issuer's answer is not what it should be; the message says what is wrong with it."""


def read_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        Unreadable: it is none.
    """
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise KeySetError("its answer is no JSON object")
    return value


def read_freshness(answer: Fetched) -> int:
    """How long a set may be taken as it is (RFC 9111, section 5.2.2.1), within bounds."""
    said = answer.headers.get("Cache-Control", "")
    if "no-store" in said.lower() or "no-cache" in said.lower():
        return MIN_FRESH_SECONDS
    found = _MAX_AGE.search(said)
    seconds = int(found[1]) if found else FRESH_SECONDS
    return min(max(seconds, MIN_FRESH_SECONDS), MAX_FRESH_SECONDS)
