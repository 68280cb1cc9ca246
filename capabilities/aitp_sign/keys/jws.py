"""Detached JWSs: the header and signature of a known payload.

Ed25519 and ES256 are accepted, with an encoded or an unencoded payload (``b64`` false). The header
must have no other critical parameter.

Source: RFC 7515, appendix F; RFC 7797; RFC 8037, section 3.1; RFC 9864 for the name ``Ed25519``.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from msgspec import UNSET, UnsetType

from aitp_sign.errors import Unproven
from aitp_sign.keys import ed25519
from aitp_sign.keys.encodings import from_base64url, to_base64url

_DETACHED = re.compile(
    r"(?P<header>eyJ[A-Za-z0-9_-]{1,4000})\.\.(?P<signature>[A-Za-z0-9_-]{1,200})"
)
_COORDINATE = 32
B64 = "b64"


class Jwk(msgspec.Struct, frozen=True, omit_defaults=True):
    """A public key (RFC 7517, RFC 8037); a private one is refused."""

    kty: Literal["OKP", "EC"]
    crv: Literal["Ed25519", "P-256"]
    x: str
    y: str = ""
    kid: str = ""
    d: str = ""


class Header(msgspec.Struct, frozen=True):
    """The header of a JWS."""

    alg: Literal["EdDSA", "Ed25519", "ES256"]
    b64: bool | UnsetType = UNSET
    crit: tuple[str, ...] | None = None


def sign(payload: bytes, key: Ed25519PrivateKey, kid: str) -> str:
    """Sign a payload by Ed25519, detached and unencoded."""
    written = msgspec.json.encode({"alg": "EdDSA", "b64": False, "crit": [B64], "kid": kid})
    header = to_base64url(written)
    return f"{header}..{to_base64url(key.sign(signed_bytes(header, payload, is_encoded=False)))}"


def signed_bytes(header: str, payload: bytes, *, is_encoded: bool) -> bytes:
    """Return the signed bytes of a payload: its header, and the payload encoded or not."""
    body = to_base64url(payload).encode() if is_encoded else payload
    return header.encode() + b"." + body


def check(compact: str, payload: bytes, key: Jwk) -> None:
    """Verify a detached compact JWS of a payload.

    Raises:
        Unproven: this key has not signed this payload, or the algorithm is not accepted.
    """
    found = _DETACHED.fullmatch(compact)
    if found is None:
        raise Unproven(
            "malformed",
            "signature must be a detached compact JWS: a header, two dots, a signature.",
        )
    header, signature = _header(found["header"]), _bytes(found["signature"], "signature")
    signed = signed_bytes(found["header"], payload, is_encoded=header.b64 is not False)
    public = read_jwk(key)
    if isinstance(public, Ed25519PublicKey) != (header.alg != "ES256"):
        raise Unproven("wrong_key", f"The key cannot verify the JWS's alg, {header.alg}.")
    if isinstance(public, Ed25519PublicKey):
        ed25519.check(public, signature, signed)
    else:
        _check_es256(public, signature, signed)


def read_jwk(key: Jwk) -> Ed25519PublicKey | ec.EllipticCurvePublicKey:
    """Parse a public key.

    Raises:
        Unproven: it is malformed, or private.
    """
    if key.d:
        raise Unproven(
            "malformed",
            "jwk contains a private key. Its readers can sign with it: do not use it again.",
        )
    x, y = _bytes(key.x, "jwk.x"), _bytes(key.y, "jwk.y")
    # a key has one form: its thumbprint tells whether it has signed before
    if len(x) != _COORDINATE or len(y) != (_COORDINATE if key.kty == "EC" else 0):
        raise Unproven(
            "malformed",
            "jwk.x must have 32 bytes; jwk.y must have 32 bytes for P-256 and be"
            " missing otherwise.",
        )
    try:
        if (key.kty, key.crv) == ("OKP", "Ed25519"):
            return ed25519.public_key(x)
        if (key.kty, key.crv) == ("EC", "P-256"):
            point = b"\4" + x + y
            return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        raise Unproven("malformed", "jwk is not a key on its curve.") from None
    raise Unproven("malformed", "jwk must be an OKP key of Ed25519, or an EC key of P-256.")


def _check_es256(key: ec.EllipticCurvePublicKey, signature: bytes, signed: bytes) -> None:
    if len(signature) != 2 * _COORDINATE:
        raise Unproven("malformed", "An ES256 signature must have 64 bytes.")
    r, s = int.from_bytes(signature[:_COORDINATE]), int.from_bytes(signature[_COORDINATE:])
    try:
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise Unproven(
            "bad_signature", "The signature is not valid for this content and this key."
        ) from None


def _header(text: str) -> Header:
    try:
        header = msgspec.json.decode(from_base64url(text), type=Header)
    except (ValueError, msgspec.MsgspecError):
        raise Unproven(
            "malformed", "The JWS header must be JSON with alg EdDSA, Ed25519 or ES256."
        ) from None
    critical = () if header.crit is None else header.crit
    if set(critical) - {B64} or header.crit == () or len(set(critical)) < len(critical):
        raise Unproven("malformed", "The JWS's crit must contain b64 once, and nothing else.")
    if header.b64 is False and B64 not in critical:
        raise Unproven("malformed", "A JWS with b64 false must name b64 in crit.")
    if B64 in critical and header.b64 is UNSET:
        raise Unproven("malformed", "A JWS that names b64 in crit must have the member b64.")
    return header


def _bytes(text: str, what: str) -> bytes:
    try:
        return from_base64url(text)
    except ValueError as error:
        raise Unproven("malformed", f"{what} is {error}.") from None
