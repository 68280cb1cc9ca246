"""Ed25519 signatures apart from their payload (JWS with detached content).

    BASE64URL(header) .. BASE64URL(signature)

The signature covers ``BASE64URL(header) . BASE64URL(payload)``. The header names the payload's type
(``typ``), and is refused with any unexpected member. So a signature of one type never passes for
another, and no header changes how it is verified.

Sources: RFC 7515 (JWS), sections 4.1, 5.2 and appendix F; RFC 8037 (Ed25519); RFC 8725, section
3.11 (types).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from aitp_desk.auth.jwt.base64url import decode_base64url, encode_base64url
from aitp_desk.model.conversation.chain import canonical_json
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json

MAX_CHARACTERS = 1024
"""A header with a key and a signature have about 350."""
_ALGORITHM: Final = "EdDSA"


class SignatureInvalid(Exception):
    """A signature is malformed or wrong; the message says why."""


class DetachedSignature(msgspec.Struct, frozen=True):
    """A parsed signature; nothing of it is verified.

    Parameters:
        header: its members except the checked ``alg`` and ``typ``.
        protected: the encoded header.
    """

    header: Mapping[str, Any]
    protected: str
    signature: bytes

    def check(self, key: Ed25519PublicKey, payload: bytes) -> None:
        """Verify the signature of a payload.

        Raises:
            SignatureInvalid: the key has not signed it.
        """
        try:
            key.verify(self.signature, _signed(self.protected, payload))
        except InvalidSignature:
            raise SignatureInvalid("the signature does not match the signed content") from None


def sign_detached(
    private: Ed25519PrivateKey, kind: str, header: Mapping[str, Any], payload: bytes
) -> str:
    """Sign a payload.

    Parameters:
        kind: the payload's type, for ``typ``.
        header: names the key: ``kid`` or ``jwk``.
    """
    whole = canonical_json({"alg": _ALGORITHM, "typ": kind, **header})
    protected = encode_base64url(whole)
    return f"{protected}..{encode_base64url(private.sign(_signed(protected, payload)))}"


def read_detached(jws: str, kind: str, names: str) -> DetachedSignature:
    """Parse a signature.

    Parameters:
        kind: the expected ``typ``.
        names: the one further member of the header, which names the key: ``kid`` or ``jwk``.

    Raises:
        SignatureInvalid: it does not have this form.
    """
    if len(jws) > MAX_CHARACTERS:
        raise SignatureInvalid(f"it has more than {MAX_CHARACTERS} characters")
    parts = jws.split(".")
    if len(parts) != 3 or parts[1]:
        raise SignatureInvalid(
            "it is not a JWS with detached content: a header, two dots, a signature"
        )
    header_bytes, signature = decode_base64url(parts[0]), decode_base64url(parts[2])
    if header_bytes is None or signature is None:
        raise SignatureInvalid("its parts are not base64url without padding")
    try:
        header = decode_json(header_bytes)
    except InvalidRequest as error:
        raise SignatureInvalid(f"its header is not JSON: {error.message}") from None
    if not isinstance(header, dict) or header.keys() != {"alg", "typ", names}:
        raise SignatureInvalid(f"its header must have exactly the members alg, typ and {names}")
    if header["alg"] != _ALGORITHM:
        raise SignatureInvalid(f"alg in its header must be {_ALGORITHM}")
    if header["typ"] != kind:
        raise SignatureInvalid(f"typ in its header must be {kind}")
    return DetachedSignature({names: header[names]}, parts[0], signature)


def _signed(protected: str, payload: bytes) -> bytes:
    return f"{protected}.{encode_base64url(payload)}".encode()
