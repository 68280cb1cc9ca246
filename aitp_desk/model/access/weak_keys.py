"""Detects weak Ed25519 public keys, for which one signature fits any message. Pure.

Source: Brendel and others, "The Provable Security of Ed25519", 2021; RFC 8032, section 5.1.3.
"""

from __future__ import annotations

from typing import Final

_PRIME: Final = 2**255 - 19
_EIGHTH: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL: Final = frozenset({0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH})
"""The points of small order, without their sign."""


def is_weak(public: bytes) -> bool:
    """Return whether a public key is of small order, or not in canonical form.

    With a key of small order one signature is valid for every message, so its holder could
    attribute it to any of them.

    Parameters:
        public: its 32 bytes.
    """
    place = int.from_bytes(public, "little") & (2**255 - 1)
    return place in _SMALL or place >= _PRIME
