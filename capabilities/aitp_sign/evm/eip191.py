"""Hashes texts that Ethereum wallets sign with ``personal_sign``.

Source: EIP-191, version 0x45.
"""

from __future__ import annotations

from aitp_sign.evm.keccak import keccak256
from aitp_sign.keys.encodings import from_hex


def digest_of(message: bytes) -> bytes:
    """Return the 32-byte digest of a message."""
    return keccak256(b"\x19Ethereum Signed Message:\n%d" % len(message) + message)


def bytes_of(message: str) -> bytes:
    """Return a message of ``personal_sign`` as bytes: hex digits after ``0x`` are decoded."""
    try:
        return from_hex(message)
    except ValueError:
        return message.encode()
