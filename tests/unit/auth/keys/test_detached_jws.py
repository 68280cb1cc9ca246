"""Signatures next to what they sign: another implementation verifies them; reading is strict."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.jwt.base64url import encode_base64url
from aitp_desk.auth.keys.detached_jws import SignatureInvalid, read_detached, sign_detached

KIND = "example+jws"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PAYLOAD = b'{"link":"AA","seq":1}'


def with_header(header: Any) -> str:
    """A signature under another header, which its signer has signed as well."""
    protected = encode_base64url(json.dumps(header).encode())
    signed = f"{protected}.{encode_base64url(PAYLOAD)}".encode()
    return f"{protected}..{encode_base64url(KEY.sign(signed))}"


@given(st.binary(max_size=200))
def test_another_implementation_verifies_what_was_signed(payload: bytes) -> None:
    jws = sign_detached(KEY, KIND, {"kid": "k"}, payload)
    read = jwt.PyJWS().decode_complete(
        jws.replace("..", f".{encode_base64url(payload)}."),
        KEY.public_key(),
        algorithms=["EdDSA"],
    )
    assert read["payload"] == payload
    assert read["header"] == {"alg": "EdDSA", "typ": KIND, "kid": "k"}
    read_detached(jws, KIND, "kid").check(KEY.public_key(), payload)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_a_signature_is_of_one_payload_and_by_one_key(one: bytes, other: bytes) -> None:
    read = read_detached(sign_detached(KEY, KIND, {"kid": "k"}, one), KIND, "kid")
    with pytest.raises(SignatureInvalid):
        read.check(Ed25519PrivateKey.generate().public_key(), one)
    if one != other:
        with pytest.raises(SignatureInvalid):
            read.check(KEY.public_key(), other)


@given(
    st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_-]{0,20}\.[A-Za-z0-9]{0,2}\.[A-Za-z0-9_-]*")
)
def test_what_is_no_signature_is_refused_in_words(text: str) -> None:
    with pytest.raises(SignatureInvalid) as refused:
        read_detached(text, KIND, "kid")
    assert str(refused.value)


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "EdDSA", "typ": "other+jws", "kid": "k"},
        {"alg": "EdDSA", "typ": "at+jwt", "kid": "k"},
        {"alg": "EdDSA", "kid": "k"},
        {"alg": "none", "typ": KIND, "kid": "k"},
        {"alg": "HS256", "typ": KIND, "kid": "k"},
        {"typ": KIND, "kid": "k"},
        {"alg": "EdDSA", "typ": KIND},
        {"alg": "EdDSA", "typ": KIND, "jwk": {}},
        {"alg": "EdDSA", "typ": KIND, "kid": "k", "b64": False, "crit": ["b64"]},
        {"alg": "EdDSA", "typ": KIND, "kid": "k", "jku": "https://keys.example"},
        ["EdDSA", KIND, "k"],
        "EdDSA",
    ],
)
def test_a_header_says_what_is_asked_for_and_no_more(header: Any) -> None:
    with pytest.raises(SignatureInvalid):
        read_detached(with_header(header), KIND, "kid")
    good = {"alg": "EdDSA", "typ": KIND, "kid": "k"}
    read_detached(with_header(good), KIND, "kid").check(KEY.public_key(), PAYLOAD)


def test_a_header_with_a_member_twice_is_refused() -> None:
    text = b'{"alg":"EdDSA","typ":"example+jws","kid":"k","kid":"j"}'
    jws = f"{encode_base64url(text)}..{encode_base64url(bytes(64))}"
    with pytest.raises(SignatureInvalid, match="is not JSON"):
        read_detached(jws, KIND, "kid")
