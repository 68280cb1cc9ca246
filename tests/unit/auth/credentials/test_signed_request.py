"""What signs a request: its form, its text, and the vectors of the documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.credentials.signed_request import (
    MAX_CREDENTIAL,
    SignedHeader,
    make_secret,
    make_signed_text,
    read_signed,
)
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.model.errors import NotAuthenticated
from tests.docs.snippets import ROOT, blocks
from tests.support.access.keys import signing_client

KEY_ID = "0123456789abcdef.1"
SECRET = "00112233445566778899aabbccddeeff" * 2
GIVEN = {
    "keyid": KEY_ID,
    "timestamp": "1800000000",
    "nonce": "n-0123456789.ABC",
    "body": "ab" * 32,
    "signature": "cd" * 32,
}


def written(given: dict[str, str], between: str = ", ") -> str:
    return between.join(f'{name}="{value}"' for name, value in given.items())


def vectors() -> list[dict[str, Any]]:
    [block] = (
        block
        for block in blocks(ROOT / "docs/build/oauth.md", "Test vectors")
        if block.language == "json"
    )
    found: list[dict[str, Any]] = json.loads(block.code)
    return found


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["target"])
def test_the_documented_vectors_hold_for_the_client_and_for_the_desk(
    vector: dict[str, Any],
) -> None:
    import hmac

    header = signing_client()(
        vector["method"],
        vector["target"],
        vector["body"].encode(),
        key_id=KEY_ID,
        secret=SECRET,
        timestamp=1_800_000_000,
        nonce="n-0123456789.ABC",
    )
    scheme, _, credential = header.partition(" ")
    signed = read_signed(credential)
    assert (scheme, signed.body, signed.signature) == (
        "AITP-HMAC-SHA256",
        vector["digest"],
        vector["signature"],
    )
    text = make_signed_text(vector["method"], vector["target"], signed)
    assert hmac.digest(SECRET.encode(), text, "sha256").hex() == vector["signature"]


@given(st.permutations(list(GIVEN.items())), st.sampled_from([",", ", ", "\t ,\t", " , "]))
def test_parameters_are_read_in_any_order(order: list[tuple[str, str]], between: str) -> None:
    assert read_signed(written(dict(order), between)) == SignedHeader(*GIVEN.values())


def test_values_without_quotation_marks_are_read_too() -> None:
    assert read_signed(written(GIVEN).replace('"', "")) == SignedHeader(*GIVEN.values())


def test_what_has_another_form_is_refused_with_the_right_one(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "",
        ",",
        written(GIVEN) + ",",
        written(GIVEN) + ', keyid="0123456789abcdef.1"',
        written(GIVEN) + ', more="1"',
        written(GIVEN).replace("keyid", "KeyId"),
        written(GIVEN).replace(", ", " "),
        written(GIVEN) + " " * MAX_CREDENTIAL,
        *(written({n: v for n, v in GIVEN.items() if n != name}) for name in GIVEN),
        *(written({**GIVEN, name: ""}) for name in GIVEN),
        *(written({**GIVEN, name: f"{value}\n"}) for name, value in GIVEN.items()),
        *(
            written({**GIVEN, name: value})
            for name, value in [
                ("keyid", "0123456789abcdef"),
                ("keyid", "0123456789abcdef.0"),
                ("keyid", "0123456789abcdef.01"),
                ("keyid", "0123456789ABCDEF.1"),
                ("timestamp", "-5"),
                ("timestamp", "1.5"),
                ("timestamp", "1_000"),
                ("timestamp", "٣"),
                ("timestamp", "1" * 13),
                ("nonce", "short"),
                ("nonce", "n" * 129),
                ("nonce", 'n"0123456789abcdef'),
                ("nonce", "n\\0123456789abcdef"),
                ("body", "AB" * 32),
                ("body", "ab" * 31),
                ("signature", "cd" * 33),
                ("signature", "zz" * 32),
            ]
        ),
    ]
    for credential in cases:
        with subtests.test(credential=credential):
            with pytest.raises(NotAuthenticated, match="keyid") as refused:
                read_signed(credential)
            assert "abab" not in str(refused.value)


@given(st.text(max_size=600))
def test_whatever_is_sent_is_read_or_refused(credential: str) -> None:
    with pytest.raises(NotAuthenticated):
        read_signed(credential)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("/v1/threads?a=%2f&a=1", "/v1/threads?a=%2f&a=1"),
        ("http://desk.example:80/v1?x", "/v1?x"),
        ("HTTPS://desk.example", "/"),
        ("https://desk.example?x=/y", "/?x=/y"),
        ("//not.a.host/v1", "//not.a.host/v1"),
        ("/http://desk.example/", "/http://desk.example/"),
        ("*", "*"),
        ("/\udcff", "/\udcff"),
    ],
)
def test_the_target_is_signed_as_it_was_sent_but_for_a_host(target: str, line: str) -> None:
    lines = make_signed_text("GET", target, SignedHeader(*GIVEN.values())).split(b"\n")
    assert lines == [
        b"AITP-HMAC-SHA256",
        b"GET",
        line.encode(errors="surrogateescape"),
        b"1800000000",
        b"n-0123456789.ABC",
        b"ab" * 32,
    ]


def test_no_two_keys_versions_or_desks_share_a_secret() -> None:
    made = {
        make_secret(DataKeys({1: bytes([desk] * 32)}), id_, version, 1)
        for desk in (1, 2)
        for id_ in ("0123456789abcdef", "0123456789abcde0")
        for version in (1, 2, 11)
    }
    assert len(made) == 12
    assert all(len(secret) == 64 and secret == secret.lower() for secret in made)
