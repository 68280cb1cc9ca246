"""The site's keys for encrypted values, and decryption with them."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache, partial
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from aitp_data.encryption import ecies, jwe
from aitp_data.encryption.errors import Undecipherable
from aitp_data.messages import ECIES, Recipient
from aitp_desk.capability import Own

_MORE_BYTES = 64
"""Twice the length of a scalar, so that its remainder is nearly uniform (FIPS 186-5, A.2.1)."""
KEPT = 250
"""Number of cached decryptions: a message may be judged many times."""


class Keys:
    """The private keys of a site, derived from its secret and stored nowhere."""

    def __init__(self, own: Own) -> None:
        self._x25519 = x25519.X25519PrivateKey.from_private_bytes(own.derive("JWE X25519"))
        self._p256 = _private(ec.SECP256R1(), own.derive("JWE P-256"))
        self._secp256k1 = _private(ec.SECP256K1(), own.derive("ECIES secp256k1"))
        jwks = (_octet_key(self._x25519), _curve_key(self._p256))
        self._by_kid: dict[str, jwe.Private] = {
            jwks[0]["kid"]: self._x25519,
            jwks[1]["kid"]: self._p256,
        }
        self._opened = lru_cache(KEPT)(partial(jwe.decrypt, keys=self._by_kid))
        self._key_for = lru_cache(KEPT)(partial(ecies.agree, private=self._secp256k1))
        self.jwks: dict[str, Any] | None = {"keys": list(jwks)} if jwe.can_open() else None
        """The public keys for JWEs (RFC 7517), the preferred one first; None if the package that
        decrypts them is not installed.
        """
        self.recipient = Recipient(ECIES, ecies.write_point(self._secp256k1.public_key()))
        """The public key for the draft's form."""

    def is_for_us(self, recipient: str) -> bool:
        """Return whether a value in the draft's form is encrypted for this site."""
        try:
            public = ecies.read_point(recipient)
        except Undecipherable:
            return False
        return ecies.write_point(public) == self.recipient.public_key

    def knows(self, kid: str) -> bool:
        """Return whether a ``kid`` names a key of this site."""
        return kid in self._by_kid

    def open_jwe(self, text: str) -> bytes:
        """Decrypt a compact JWE.

        Raises:
            Undecipherable: it is malformed, for another key, changed, or JWEs are not supported
                here.
        """
        if self.jwks is None:
            raise Undecipherable(jwe.NOT_HERE)
        opened = self._opened(text)
        if opened is None:
            raise Undecipherable
        return opened

    def open_ecies(self, encrypted: ecies.Encrypted, field_id: str) -> str:
        """Decrypt a value in the draft's form.

        Raises:
            Undecipherable: see :func:`aitp_data.encryption.ecies.decrypt`.
        """
        return ecies.decrypt(encrypted, field_id, self._key_for)


def _private(curve: ec.EllipticCurve, secret: bytes) -> ec.EllipticCurvePrivateKey:
    order = curve.group_order
    more = HKDFExpand(SHA512(), _MORE_BYTES, curve.name.encode()).derive(secret)
    return ec.derive_private_key(1 + int.from_bytes(more) % (order - 1), curve)


def _octet_key(private: x25519.X25519PrivateKey) -> dict[str, Any]:
    shape = {"crv": "X25519", "kty": "OKP", "x": _text(private.public_key().public_bytes_raw())}
    return _named(shape)


def _curve_key(private: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    numbers = private.public_key().public_numbers()
    x, y = (_text(number.to_bytes(32)) for number in (numbers.x, numbers.y))
    return _named({"crv": "P-256", "kty": "EC", "x": x, "y": y})


def _named(shape: dict[str, str]) -> dict[str, Any]:
    """Return a public key with its thumbprint as ``kid`` (RFC 7638: its members by name only)."""
    kid = _text(hashlib.sha256(msgspec.json.encode(shape, order="sorted")).digest())
    return {**shape, "kid": kid, "use": "enc", "alg": "ECDH-ES+A256KW"}


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
