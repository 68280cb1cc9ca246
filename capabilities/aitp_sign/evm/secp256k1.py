"""Ethereum's signatures on secp256k1: signing, and recovery of the signer's address.

The package coincurve, of the extra ``evm``, implements the curve.

Source: EIP-2 (``s`` is in the lower half), EIP-55 (addresses with a checksum), EIP-191.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec

from aitp_sign.errors import Unproven
from aitp_sign.evm.keccak import keccak256
from aitp_sign.keys.encodings import from_hex

LIBRARY = "coincurve"
NOT_HERE = "This desk cannot verify Ethereum signatures: its extra evm is not installed."
_HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half of the curve's order: ``s`` is not above it, so that a signature has one form."""
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


@cache
def is_here() -> bool:
    """Return whether the package for the curve is installed."""
    return find_spec(LIBRARY) is not None


def check_address(text: str) -> str:
    """Validate an address: in one case, or with its checksum.

    Returns:
        The address with its checksum.

    Raises:
        ValueError: it is malformed, or its checksum is wrong.
    """
    if not _ADDRESS.fullmatch(text):
        raise ValueError(f"{text[:64]!r} is not an address. An address has 0x and 40 hex digits.")
    written = _with_checksum(bytes.fromhex(text[2:]))
    digits = text[2:]
    if digits not in {digits.lower(), digits.upper()} and text != written:
        raise ValueError(f"{text} has a wrong checksum. Correct the address.")
    return written


def private_key(seed: bytes) -> bytes:
    """Make a private key of 32 secret bytes: a number from 1 to below the curve's order."""
    return (int.from_bytes(seed) % (_ORDER - 1) + 1).to_bytes(32)


def address_of(private: bytes) -> str:
    """Return the address of a private key, with its checksum."""
    from coincurve import PrivateKey

    return _address(PrivateKey(private).public_key.format(compressed=False))


def sign(digest: bytes, private: bytes) -> bytes:
    """Sign 32 bytes: ``r``, ``s`` and ``v``, 65 bytes, deterministic."""
    from coincurve import PrivateKey

    signed = PrivateKey(private).sign_recoverable(digest, hasher=None)
    return signed[:64] + bytes([signed[64] + 27])


def signer_of(digest: bytes, signature: str) -> str:
    """Return the address that signed 32 bytes, with its checksum.

    Nearly every signature yields some address: it proves something only if the address is the
    expected one.

    Raises:
        Unproven: it is malformed, or the package is not installed.
    """
    if not is_here():
        raise Unproven("unsupported", NOT_HERE)
    from coincurve import PublicKey

    try:
        signed = from_hex(signature)
    except ValueError as error:
        raise Unproven("malformed", f"signature is {error}.") from None
    if len(signed) != 65 or signed[64] not in {0, 1, 27, 28}:
        raise Unproven(
            "malformed", "signature must be r, s and v: 65 bytes in hex; the last must be 27 or 28."
        )
    if int.from_bytes(signed[32:64]) > _HALF:
        raise Unproven(
            "bad_signature", "The signature's s is in the upper half, which EIP-2 forbids."
        )
    recoverable = signed[:64] + bytes([signed[64] % 27])
    try:
        public = PublicKey.from_signature_and_message(recoverable, digest, hasher=None)
    except Exception:  # noqa: BLE001 -- the library raises plain Exception for an invalid point
        raise Unproven(
            "bad_signature", "The signature is not valid: no key can have made it."
        ) from None
    return _address(public.format(compressed=False))


def _address(public: bytes) -> str:
    return _with_checksum(keccak256(public[1:])[12:])


def _with_checksum(address: bytes) -> str:
    digits = address.hex()
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(
        digit.upper() if int(mark, 16) > 7 else digit
        for digit, mark in zip(digits, marks, strict=False)
    )
