"""Things to sign and those who sign them, as the tests of AITP-05 have them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_sign.evm import secp256k1
from aitp_sign.keys import ed25519, jws
from aitp_sign.keys.encodings import to_base64, to_base64url, to_hex
from aitp_sign.messages import RequestSignature
from aitp_sign.subjects import EVM_SCHEMES, Scheme, Signed, Statement, signed_of

ALICE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
BOB = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
WALLET = bytes(range(2, 34))
ADDRESS = secp256k1.address_of(WALLET)
ORDER: dict[str, Any] = {
    "id": "order-7",
    "text": "I buy the tent Ridge for 349.00 EUR.",
    "title": "Your order",
}
MAIL: dict[str, Any] = {
    "types": {"Order": [{"name": "thing", "type": "string"}, {"name": "price", "type": "uint256"}]},
    "primaryType": "Order",
    "domain": {"name": "Tent House", "chainId": 1},
    "message": {"thing": "Ridge", "price": "349"},
}


def key_of(private: Ed25519PrivateKey) -> str:
    """A public key as it is written."""
    return ed25519.write_key(private.public_key())


def jwk_of(private: Ed25519PrivateKey) -> dict[str, str]:
    """The same as a JWK."""
    x = to_base64url(private.public_key().public_bytes_raw())
    return {"kty": "OKP", "crv": "Ed25519", "x": x}


def statement_of(request: Mapping[str, Any]) -> tuple[Statement, int]:
    """What a request on a thread asks to be signed, and until when."""
    asked = msgspec.convert(request, RequestSignature)
    until = msgspec.convert(request["valid_until"], datetime)
    return Statement(asked.text, asked.nonce, asked.recipient), int(until.timestamp())


def sign(
    subject: Signed,
    scheme: Scheme,
    until: int,
    private: Ed25519PrivateKey = ALICE,
    **more: Any,
) -> dict[str, Any]:
    """A ``signature`` of something."""
    signed = signed_of(subject, scheme, until, more.get("callback_url"))
    if scheme in EVM_SCHEMES:
        signature = to_hex(secp256k1.sign(signed, WALLET))
        return {"scheme": scheme, "signature": signature, "account": ADDRESS, **more}
    if scheme == "jws":
        compact = jws.sign(signed, private, "alice")
        return {"scheme": scheme, "signature": compact, "jwk": jwk_of(private), **more}
    raw = private.sign(signed)
    signature = to_base64url(raw) if scheme == "ed25519" else to_base64(raw)
    return {"scheme": scheme, "signature": signature, "public_key": key_of(private), **more}


def sign_request(
    request: Mapping[str, Any],
    scheme: Scheme = "ed25519",
    private: Ed25519PrivateKey = ALICE,
    **more: Any,
) -> dict[str, Any]:
    """A ``signature`` of a text that was asked to be signed."""
    subject, until = statement_of(request)
    return sign(subject, scheme, until, private, **{"request_id": request["id"], **more})
