"""The data keys, as they are kept."""

from __future__ import annotations

import msgspec


class WrappedKey(msgspec.Struct, frozen=True):
    """A data key, wrapped by a master key.

    Parameters:
        version: of the data key, from 1.
        master: fingerprint of the master key.
        wrapped: of no use without it.
        made_at: Unix seconds.
    """

    version: int
    master: str
    wrapped: bytes
    made_at: int
