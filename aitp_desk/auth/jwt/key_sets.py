"""Published key sets of others: their parsing and freshness.

Issuers publish JWK Sets (``jwks.py``), agents publish directories
(``web_bot_auth/directories.py``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from aitp_desk.egress import Fetched

REFETCH_SECONDS = 60
"""Minimum seconds between two fetches, whatever keys tokens name."""
MIN_FRESH_SECONDS, FRESH_SECONDS, MAX_FRESH_SECONDS = 300, 3600, 86_400
"""How long a set is fresh: minimum, default, and maximum."""
OLD_SECONDS = 86_400
"""How much longer a set is used while its issuer does not respond. A withdrawn key must end even
if an attacker blocks the desk's requests."""

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})\b", re.IGNORECASE | re.ASCII)


class KeySetError(Exception):
    """An issuer's response is unusable; the message says why."""


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        KeySetError: it is not a JSON object.
    """
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise KeySetError("its response is not a JSON object")
    return value


def read_freshness(answer: Fetched) -> int:
    """Return how long a set is fresh (RFC 9111, section 5.2.2.1), within bounds."""
    said = answer.headers.get("Cache-Control", "")
    if "no-store" in said.lower() or "no-cache" in said.lower():
        return MIN_FRESH_SECONDS
    found = _MAX_AGE.search(said)
    seconds = int(found[1]) if found else FRESH_SECONDS
    return min(max(seconds, MIN_FRESH_SECONDS), MAX_FRESH_SECONDS)
