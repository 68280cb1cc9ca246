"""The vectors of docs/protocols/signing.md, recomputed from the page's own request and keys."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_sign.errors import Unproven
from aitp_sign.evm import secp256k1
from aitp_sign.evm.eip712 import TypedData, digest_of
from aitp_sign.evm.keccak import keccak256
from aitp_sign.keys.encodings import to_base64, to_base64url
from aitp_sign.messages import Signature
from aitp_sign.proof import Expected, prove
from tests.docs.snippets import ROOT, blocks
from tests.support.access.signatures import statement_of

PAGE = ROOT / "docs/protocols/signing.md"
ASKED, KEYS, *VECTORS = [
    json.loads(one.code) for one in blocks(PAGE, "Test vectors") if one.language == "json"
]
REQUEST: dict[str, Any] = ASKED["request_signature"]
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(KEYS["ed25519_private_key"]))
WALLET = bytes.fromhex(KEYS["ethereum_private_key"])
NONCE = bytes(range(0x64, 0x84))


def payload(**changed: Any) -> bytes:
    members = {
        "expires": REQUEST["valid_until"],
        "nonce": REQUEST["nonce"],
        "recipient": REQUEST["recipient"],
        "text": REQUEST["text"],
        "type": "aitp-sign/v1",
    }
    return json.dumps(members | changed, sort_keys=True, separators=(",", ":")).encode()


def borsh(text: str) -> bytes:
    return len(text.encode()).to_bytes(4, "little") + text.encode()


def signed_bytes(vector: dict[str, Any]) -> bytes:
    """What a scheme signs, made as the page tells; it is held against what the page shows."""
    expires = f"Expires: {REQUEST['valid_until']}"
    match vector["scheme"]:
        case "ed25519":
            signed = payload()
            assert vector["signed_text"].encode() == signed
        case "jws":
            header, _, _ = vector["message"]["signature"]["signature"].split(".")
            signed = header.encode() + b"." + payload()
            assert vector["signed_text"].encode() == signed
        case "nep413":
            assert vector["text"] == f"{REQUEST['text']}\n\n{expires}"
            tag = (2**31 + 413).to_bytes(4, "little")
            whole = tag + borsh(vector["text"]) + NONCE + borsh(REQUEST["recipient"]) + b"\0"
            assert vector["payload_hex"] == whole.hex()
            signed = hashlib.sha256(whole).digest()
        case "eip191":
            bound = f"Recipient: {REQUEST['recipient']}\nNonce: {REQUEST['nonce']}\n{expires}"
            assert vector["text"] == f"{REQUEST['text']}\n\n{bound}"
            text = vector["text"].encode()
            signed = keccak256(b"\x19Ethereum Signed Message:\n%d" % len(text) + text)
        case _:
            message = vector["typed_data"]["message"]
            assert message["text"] == REQUEST["text"]
            assert message["nonce"] == f"0x{NONCE.hex()}"
            assert int(message["expires"]) == UNTIL
            signed = digest_of(msgspec.convert(vector["typed_data"], TypedData))
    assert vector.get("signed_hex", signed.hex()) == signed.hex()
    return signed


STATEMENT, UNTIL = statement_of(REQUEST)


def signature_by_keys(vector: dict[str, Any], signed: bytes) -> str:
    """The signature that the page's keys make."""
    match vector["scheme"]:
        case "ed25519":
            return to_base64url(PRIVATE.sign(signed))
        case "jws":
            header, _, _ = signed.partition(b".")
            return f"{header.decode()}..{to_base64url(PRIVATE.sign(signed))}"
        case "nep413":
            return to_base64(PRIVATE.sign(signed))
        case _:
            return f"0x{secp256k1.sign(signed, WALLET).hex()}"


def proved(message: dict[str, Any]) -> str:
    given = msgspec.convert(message["signature"], Signature)
    return prove(Expected(STATEMENT, (given.scheme,), UNTIL), given).scheme


def test_every_scheme_of_a_text_has_a_vector() -> None:
    assert [one["scheme"] for one in VECTORS] == REQUEST["schemes"]
    assert to_base64url(NONCE) == REQUEST["nonce"]
    assert int(datetime.fromisoformat(REQUEST["valid_until"]).timestamp()) == UNTIL


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: one["scheme"])
def test_a_vector_is_recomputed_from_the_request_and_proved(vector: dict[str, Any]) -> None:
    message = vector["message"]
    assert message["signature"]["signature"] == signature_by_keys(vector, signed_bytes(vector))
    assert proved(message) == vector["scheme"]


def test_expires_as_a_number_is_no_signature_of_it() -> None:
    (vector, *_) = VECTORS
    wrong = to_base64url(PRIVATE.sign(payload(expires=UNTIL)))
    message = {"signature": {**vector["message"]["signature"], "signature": wrong}}
    with pytest.raises(Unproven) as refused:
        proved(message)
    assert refused.value.reason == "bad_signature"
