"""Keys that verify tokens, read from the JWKs that issuers publish.

A key's type determines its one algorithm, never the token: an RSA key cannot be used as an HMAC
secret, nor one curve as another (RFC 8725, sections 3.1 and 3.2).

Sources: RFC 7517 (JWK), RFC 7518, section 6 (RSA, EC), RFC 8037 (Ed25519).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePublicKey,
    EllipticCurvePublicNumbers,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers

from aitp_desk.auth.jwt.base64url import decode_base64url, encode_base64url
from aitp_desk.auth.jwt.compact import CompactToken, is_key_id
from aitp_desk.model.errors import TokenRefused

if TYPE_CHECKING:
    from jwt import PyJWS

Algorithm = Literal["EdDSA", "ES256", "RS256", "HS256"]

MIN_SECRET_BYTES = 32
"""Minimum length of a secret for HS256 (RFC 7518, section 3.2)."""
MIN_RSA_BITS, MAX_RSA_BITS = 2048, 8192
"""RFC 7518, section 3.3; verification with a larger key is slow."""
_MIN_EXPONENT, _MAX_EXPONENT = 65537, 2**32
_COORDINATE_BYTES = 32


class VerifyingKey(msgspec.Struct, frozen=True):
    """A key that verifies tokens, with its one algorithm.

    Parameters:
        id: its ``kid``; None if it has none.
        algorithm: the name in tokens (RFC 7518, section 3.1; RFC 8037, section 3.1).
        material: the public key, or the bytes of a secret for HS256.
    """

    id: str | None
    algorithm: Algorithm
    material: Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey | bytes

    def check(self, token: CompactToken) -> None:
        """Verify the signature of a token.

        Raises:
            TokenRefused: this key has not signed it.
        """
        import jwt

        try:
            _verifier().decode(token.text, self.material, algorithms=[self.algorithm])
        except jwt.PyJWTError:
            raise TokenRefused("The token's signature is not valid.") from None


@cache
def _verifier() -> PyJWS:
    """Return the verifier of signatures; its import is slow, and most desks never see a JWT."""
    from jwt import PyJWS

    return PyJWS(options={"enforce_minimum_key_length": True})


def read_key(jwk: Any) -> VerifyingKey | None:
    """Read one JWK of a published set.

    Returns:
        None if it cannot verify tokens here: a key of another type or use, a weak, malformed or
            private one. Other keys of its set may still be used.
    """
    if not isinstance(jwk, dict) or not _is_for_verifying(jwk):
        return None
    try:
        key = _read_material(jwk)
    except (ValueError, UnsupportedAlgorithm):
        return None
    if key is None or jwk.get("alg", key.algorithm) != key.algorithm:
        return None
    return key


def make_thumbprint(jwk: Mapping[str, Any]) -> str:
    """Return the thumbprint of a public key, in base64url (RFC 7638, section 3).

    Parameters:
        jwk: one that :func:`read_key` accepts.
    """
    names = {"OKP": ("crv", "kty", "x"), "EC": ("crv", "kty", "x", "y"), "RSA": ("e", "kty", "n")}
    members = {name: jwk[name] for name in names[jwk["kty"]]}
    text = json.dumps(members, separators=(",", ":"))
    return encode_base64url(hashlib.sha256(text.encode()).digest())


def find_key(
    keys: Iterable[VerifyingKey], key_id: str | None, algorithm: str
) -> VerifyingKey | None:
    """Find the named key; without a name, the only one of its algorithm."""
    fit = [key for key in keys if key.algorithm == algorithm]
    if key_id is not None:
        return next((key for key in fit if key.id == key_id), None)
    return fit[0] if len(fit) == 1 else None


def _is_for_verifying(jwk: Mapping[str, Any]) -> bool:
    key_id, operations = jwk.get("kid"), jwk.get("key_ops", ["verify"])
    return (
        (key_id is None or (isinstance(key_id, str) and is_key_id(key_id)))
        and jwk.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and "d" not in jwk  # a published private key is compromised
    )


def _read_material(jwk: Mapping[str, Any]) -> VerifyingKey | None:
    key_id = jwk.get("kid")
    match jwk.get("kty"), jwk.get("crv"):
        case "OKP", "Ed25519":
            public = Ed25519PublicKey.from_public_bytes(_read_bytes(jwk, "x"))
            return VerifyingKey(key_id, "EdDSA", public)
        case "EC", "P-256":
            x, y = _read_bytes(jwk, "x"), _read_bytes(jwk, "y")
            if len(x) != _COORDINATE_BYTES or len(y) != _COORDINATE_BYTES:
                return None
            point = EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), SECP256R1())
            return VerifyingKey(key_id, "ES256", point.public_key())  # raises off the curve
        case "RSA", None:
            exponent = int.from_bytes(_read_bytes(jwk, "e"))
            modulus = int.from_bytes(_read_bytes(jwk, "n"))
            if not _MIN_EXPONENT <= exponent < _MAX_EXPONENT:
                return None
            if not MIN_RSA_BITS <= modulus.bit_length() <= MAX_RSA_BITS:
                return None
            return VerifyingKey(key_id, "RS256", RSAPublicNumbers(exponent, modulus).public_key())
        case _:
            return None


def _read_bytes(jwk: Mapping[str, Any], name: str) -> bytes:
    """Decode a member of bytes.

    Raises:
        ValueError: it is not base64url.
    """
    value = jwk.get(name)
    decoded = decode_base64url(value) if isinstance(value, str) else None
    if decoded is None:
        raise ValueError(f"{name} is not base64url")
    return decoded
