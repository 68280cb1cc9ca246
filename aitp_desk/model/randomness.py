"""Unpredictable bytes, fetched from the system many at a time.

Asking the system lets other threads run meanwhile, and to come back from that takes longer than the
bytes took. A request asks half a dozen times: for its ids and its salts.
"""

from __future__ import annotations

import os
import secrets
import struct

PIECE_BYTES = 32
_PIECES = struct.Struct(f"{PIECE_BYTES}s" * 1024)

_pieces: list[bytes] = []
# of a process and its child only one may use them
os.register_at_fork(after_in_child=_pieces.clear)


def random_piece() -> bytes:
    """Return 32 bytes from the system's generator for secrets, none of them given twice."""
    while True:
        try:
            return _pieces.pop()  # of two threads one gets it
        except IndexError:
            _pieces.extend(_PIECES.unpack(secrets.token_bytes(_PIECES.size)))
