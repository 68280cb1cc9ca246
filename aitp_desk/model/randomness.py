"""Unpredictable bytes, read from the system in batches.

A read from the system lets other threads run, and resuming takes longer than the read itself. A
request needs about six values, for its ids and salts.
"""

from __future__ import annotations

import os
import secrets
import struct

PIECE_BYTES = 32
_PIECES = struct.Struct(f"{PIECE_BYTES}s" * 1024)

_pieces: list[bytes] = []
# a parent process and its child must not use the same bytes
os.register_at_fork(after_in_child=_pieces.clear)


def random_piece() -> bytes:
    """Return 32 bytes from the system's generator for secrets, none of them twice."""
    while True:
        try:
            return _pieces.pop()  # atomic: only one thread gets a piece
        except IndexError:
            _pieces.extend(_PIECES.unpack(secrets.token_bytes(_PIECES.size)))
