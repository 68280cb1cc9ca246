"""Canonical JSON as RFC 8785 has it, and signatures that hold for what was signed alone."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import assume, given
from hypothesis import strategies as st

from aitp_payments.messages.signatures import (
    canonical,
    is_signed,
    jwk_of,
    read_key,
    sign,
    verifies,
    write_key,
    write_signature,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = write_key(KEY.public_key())
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=5)


@given(JSON)
def test_it_is_the_spelling_of_the_standard(value: Any) -> None:
    # the reference writes integers of at most 53 bits, as JSON's readers have them
    assume(not _is_beyond(value))
    assert canonical(value) == rfc8785.dumps(value)


def _is_beyond(value: Any) -> bool:
    match value:
        case bool():
            return False
        case int():
            return abs(value) > 2**53 - 1
        case list():
            return any(map(_is_beyond, value))
        case dict():
            return any(map(_is_beyond, value.values()))
        case _:
            return False


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (0.000000000000000000000000001, "1e-27"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (5e-324, "5e-324"),
        ('€$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        ({"€": 1, "\r": 2, "1": 3, "😀": 4, "ö": 5}, '{"\\r":2,"1":3,"ö":5,"€":1,"😀":4}'),
    ],
)
def test_the_examples_of_the_standard(value: Any, written: str) -> None:
    assert canonical(value) == written.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, "\ud800", b"", {1}])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        canonical([value])
    assert not verifies(PUBLIC, {"a": value, "s": "ed25519:AAAA"}, "s")


@given(OBJECTS)
def test_what_was_signed_verifies_in_any_order_of_its_members(message: dict[str, Any]) -> None:
    signed = sign(KEY, message, "s")
    assert verifies(PUBLIC, dict(reversed(signed.items())), "s")


@given(OBJECTS, st.text(), JSON)
def test_what_was_changed_does_not(message: dict[str, Any], name: str, value: Any) -> None:
    assume(name != "s")
    signed = sign(KEY, message, "s")
    changed = signed | {name: value}
    is_same = canonical(changed) == canonical(signed)
    assert verifies(PUBLIC, changed, "s") == is_same


def test_keys_and_signatures_are_read_in_each_of_their_spellings() -> None:
    data = b"what is signed"
    signature = write_signature(KEY, data)
    raw = base64.b64decode(signature.removeprefix("ed25519:"))
    spelled = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    key = base64.urlsafe_b64encode(KEY.public_key().public_bytes_raw()).rstrip(b"=").decode()
    for one in (signature, spelled, f"ed25519:{spelled}"):
        for public in (PUBLIC, key, f"ed25519:{key}"):
            assert is_signed(public, data, one)
    assert not is_signed(PUBLIC, data + b".", signature)


@given(st.text())
def test_whatever_is_no_key_and_no_signature_has_signed_nothing(text: str) -> None:
    assume(read_key(text) is None)
    assert not is_signed(text, b"", write_signature(KEY, b""))
    assert not is_signed(PUBLIC, b"", text)


def test_the_name_of_a_key_is_its_thumbprint() -> None:
    # RFC 8037, appendix A.3
    raw = base64.urlsafe_b64decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    public = read_key(base64.b64encode(raw).decode())
    assert public is not None
    assert jwk_of(public)["kid"] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.parametrize("raw", [bytes(32), bytes([1]) + bytes(31), b"\xff" * 32])
def test_a_key_by_which_one_signature_is_of_anything_is_none(raw: bytes) -> None:
    key = base64.b64encode(raw).decode()
    assert read_key(key) is None
    assert not is_signed(key, b"any order", base64.b64encode(raw + bytes(32)).decode())
