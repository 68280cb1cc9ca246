"""Decrypts compact JWEs: ECDH-ES or ECDH-ES+A256KW on P-256 or X25519, with A256GCM.

The package joserfc, of the extra ``jose``, decrypts them. It receives only JWEs with a header of
the one known form: no compression, no other algorithm, nothing critical.

Source: RFC 7516, sections 3.1, 5.2 and 7.1; RFC 7518, section 4.6; RFC 8037, section 3.2.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Literal

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap

from aitp_data.encryption.errors import Undecipherable
from aitp_data.untrusted_json import Unreadable, read_json

Private = ec.EllipticCurvePrivateKey | x25519.X25519PrivateKey

LIBRARY = "joserfc"
ALGORITHMS = ("ECDH-ES", "ECDH-ES+A256KW", "A256GCM")
"""All accepted values of ``alg`` and ``enc``; ``zip`` is not accepted."""
NOT_HERE = (
    "This desk cannot decrypt JWEs. Send the value unencrypted, or encrypted with"
    " ECIES-secp256k1-AES-256-GCM."
)

_COMPACT = re.compile(r"eyJ[A-Za-z0-9_-]{1,4000}(?:\.[A-Za-z0-9_-]*){4}")


class Epk(msgspec.Struct, frozen=True):
    """The sender's ephemeral public key."""

    kty: Literal["EC", "OKP"]
    crv: Literal["P-256", "X25519"]
    x: str
    y: str = ""


class Header(msgspec.Struct, frozen=True):
    """The header of a JWE.

    Parameters:
        kid: the receiver's key; empty if it names none.
    """

    alg: Literal["ECDH-ES", "ECDH-ES+A256KW"]
    enc: Literal["A256GCM"]
    epk: Epk
    kid: str = ""
    zip: str = ""
    crit: tuple[str, ...] | None = None


class _Kind(msgspec.Struct):
    enc: str


def is_jwe(text: str) -> bool:
    """Return whether a text is a compact JWE: five parts, the first with an ``enc``."""
    if not _COMPACT.fullmatch(text):
        return False
    try:
        read_json(_bytes(text.split(".", 1)[0]), _Kind)
    except (Undecipherable, Unreadable):
        return False
    return True


def read_header(text: str) -> Header:
    """Parse the header of a compact JWE.

    Raises:
        Undecipherable: it is not a compact JWE, or uses unsupported algorithms.
    """
    if not _COMPACT.fullmatch(text):
        raise Undecipherable("The value is not a compact JWE.")
    try:
        header = read_json(_bytes(text.split(".", 1)[0]), Header)
    except Unreadable:
        header = None
    if header is None or header.zip or header.crit is not None:
        raise Undecipherable(
            "The JWE must use alg ECDH-ES or ECDH-ES+A256KW, enc A256GCM and an epk on P-256 or"
            " X25519, without zip and crit."
        )
    return header


def can_open() -> bool:
    """Return whether the package that decrypts JWEs is installed."""
    return find_spec(LIBRARY) is not None


def decrypt(text: str, keys: Mapping[str, Private]) -> bytes | None:
    """Decrypt a compact JWE; None if it is for another key, or was changed.

    Parameters:
        keys: private keys by ``kid``; without a ``kid`` the first of the curve is used.

    Raises:
        Undecipherable: it is not a compact JWE, or uses unsupported algorithms.
    """
    from joserfc.errors import JoseError
    from joserfc.jwe import JWERegistry, decrypt_compact
    from joserfc.jwk import ECKey, OKPKey

    header = read_header(text)
    private = _meant(header, keys)
    if private is None:
        return None
    registry = JWERegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        if isinstance(private, x25519.X25519PrivateKey):
            return decrypt_compact(text, OKPKey.import_key(private), registry=registry).plaintext
        return decrypt_compact(text, ECKey.import_key(private), registry=registry).plaintext
    except (JoseError, InvalidTag, InvalidUnwrap, ValueError, TypeError):
        return None


def _meant(header: Header, keys: Mapping[str, Private]) -> Private | None:
    for name, private in keys.items():
        curve = "X25519" if isinstance(private, x25519.X25519PrivateKey) else "P-256"
        if header.kid in {"", name} and header.epk.crv == curve:
            return private
    return None


def _bytes(text: str) -> bytes:
    """Decode base64url without padding.

    Raises:
        Undecipherable: it is malformed.
    """
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise Undecipherable from None
