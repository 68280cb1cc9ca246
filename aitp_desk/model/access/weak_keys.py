"""Public keys of Ed25519 by which one signature is of anything. Pure.

Source: Brendel and others, "The Provable Security of Ed25519", 2021; RFC 8032, section 5.1.3.
"""

from __future__ import annotations

from typing import Final

_PRIME: Final = 2**255 - 19
_EIGHTH: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL: Final = frozenset({0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH})
"""The points of small order, without their sign."""


def is_weak(public: bytes) -> bool:
    """Whether a public key is nobody's: of small order, or not written as keys are.

    By a key of small order one signature is of every message, and whoever brought it could say of
    each that it was another.

    Parameters:
        public: its 32 bytes.
    """
    place = int.from_bytes(public, "little") & (2**255 - 1)
    return place in _SMALL or place >= _PRIME
