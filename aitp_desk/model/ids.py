"""Identifiers that grow with time.

An id is a prefix and 36 characters: 48 bits of Unix milliseconds, then 128 random bits, in base32
with digits before letters, so that text order is time order. The randomness is what protects an
anonymous visitor's thread, which is reached by its id alone.
"""

from __future__ import annotations

import base64
import secrets

_RANDOM_BYTES = 16


def new_id(prefix: str, now: float) -> str:
    """Make an id such as ``thread_0681…``.

    Parameters:
        prefix: what the id names, without the underscore.
        now: Unix time in seconds; ids made later sort later (to the millisecond).
    """
    grown = int(now * 1000).to_bytes(6, "big") + secrets.token_bytes(_RANDOM_BYTES)
    return f"{prefix}_{base64.b32hexencode(grown).decode('ascii').rstrip('=').lower()}"
