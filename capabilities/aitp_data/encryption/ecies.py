"""Encryption of AITP-03's draft: ``ECIES-secp256k1-AES-256-GCM``.

The draft names the primitives and leaves open how the key is derived. This implementation derives
it as follows:

1. The sender makes an ephemeral key pair on secp256k1 for this one value. Its public key is
``ephemeralPublicKey``, a point as SEC 1 writes it, compressed or not, in hexadecimal digits.
2. Its private key and the receiver's public key give a point (ECDH). The x-coordinate, 32 bytes,
big-endian, goes into HKDF-SHA256 (RFC 5869) without a salt; info is the bytes of ``AITP-03
ECIES-secp256k1-AES-256-GCM``, then the ephemeral and the receiver's public key, each compressed, 33
bytes. The output of 32 bytes is the key.
3. AES-256-GCM encrypts the value's UTF-8 bytes. ``iv``, 12 random bytes, is the nonce; the UTF-8
bytes of the field's id are additional data: moved to another field the value does not decrypt.
4. ``value`` is the ciphertext, ``mac`` the tag of 16 bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from aitp_data.encryption.errors import Undecipherable
from aitp_data.messages import ECIES, Encryption

CURVE = ec.SECP256K1()
_INFO = b"AITP-03 " + ECIES.encode()
_IV_BYTES = 12
_TAG_BYTES = 16
_KEY_BYTES = 32


class Encrypted(msgspec.Struct, frozen=True):
    """The members of a field with an encrypted value: ``value`` and ``encryption``."""

    value: str
    encryption: Encryption


def encrypt(plaintext: str, field_id: str, receiver: str) -> Encrypted:
    """Encrypt a value, as a sender does.

    Parameters:
        receiver: the public key of the field's request, in hexadecimal digits.

    Raises:
        Undecipherable: the key is not a point on the curve.
    """
    public = read_point(receiver)
    ephemeral = ec.generate_private_key(CURVE)
    iv = secrets.token_bytes(_IV_BYTES)
    key = _key(ephemeral.exchange(ec.ECDH(), public), ephemeral.public_key(), public)
    sealed = AESGCM(key).encrypt(iv, plaintext.encode(), field_id.encode())
    made = Encryption(
        ECIES,
        write_point(ephemeral.public_key()),
        sealed[-_TAG_BYTES:].hex(),
        iv.hex(),
        write_point(public),
    )
    return Encrypted(sealed[:-_TAG_BYTES].hex(), made)


def decrypt(encrypted: Encrypted, field_id: str, key_for: Callable[[str], bytes]) -> str:
    """Decrypt a value.

    Parameters:
        key_for: returns the key of :func:`agree` for the sender's public key.

    Raises:
        Undecipherable: it is for another key or field, or was changed.
    """
    made = encrypted.encryption
    key = key_for(made.ephemeral_public_key)
    try:
        ciphertext, tag, iv = map(_bytes, (encrypted.value, made.mac, made.iv))
        return AESGCM(key).decrypt(iv, ciphertext + tag, field_id.encode()).decode()
    except (InvalidTag, ValueError):
        raise Undecipherable from None


def agree(ephemeral: str, private: ec.EllipticCurvePrivateKey) -> bytes:
    """Derive the key of a value as its receiver: 32 bytes.

    Raises:
        Undecipherable: the sender's public key is not a point on the curve.
    """
    public = read_point(ephemeral)
    return _key(private.exchange(ec.ECDH(), public), public, private.public_key())


def read_point(digits: str) -> ec.EllipticCurvePublicKey:
    """Parse a public key.

    Raises:
        Undecipherable: it is not a point on the curve.
    """
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, _bytes(digits))
    except ValueError:
        raise Undecipherable("The public key is not a point on secp256k1.") from None


def write_point(public: ec.EllipticCurvePublicKey) -> str:
    """Write a public key, compressed, in hexadecimal digits."""
    return _compressed(public).hex()


def _key(
    shared: bytes, ephemeral: ec.EllipticCurvePublicKey, receiver: ec.EllipticCurvePublicKey
) -> bytes:
    info = _INFO + _compressed(ephemeral) + _compressed(receiver)
    return HKDF(SHA256(), _KEY_BYTES, salt=None, info=info).derive(shared)


def _compressed(public: ec.EllipticCurvePublicKey) -> bytes:
    return public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def _bytes(digits: str) -> bytes:
    return bytes.fromhex(digits.removeprefix("0x"))
