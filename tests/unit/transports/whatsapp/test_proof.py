"""Deliveries are of Meta, or refused."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.errors import NotAuthenticated
from aitp_desk.transports.whatsapp.proof import answer_challenge, check_signature

SECRET = b"7a1c5f0e9b3d4c2a8e6f1b0d3c5a7e9f"
QUERY = {"hub.mode": "subscribe", "hub.verify_token": "word", "hub.challenge": "1158201444"}


def sign(body: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, body, sha256).hexdigest()


@given(st.binary(max_size=60), st.binary(max_size=60), st.text(max_size=80))
def test_only_a_signature_of_these_bytes_counts(body: bytes, other: bytes, shown: str) -> None:
    check_signature(SECRET, body, {"x-hub-signature-256": sign(body)})
    wrong = [sign(body, b"other"), sign(body).upper(), sign(body)[7:], shown]
    if other != body:
        wrong.append(sign(other))
    for signature in wrong:
        with pytest.raises(NotAuthenticated):
            check_signature(SECRET, body, {"x-hub-signature-256": signature})
    with pytest.raises(NotAuthenticated):
        check_signature(SECRET, body, {})


def test_a_challenge_is_repeated_to_who_knows_the_word() -> None:
    assert answer_challenge("word", QUERY) == b"1158201444"


WRONG = [
    {"hub.verify_token": "other"},
    {"hub.verify_token": ""},
    {"hub.verify_token": "wörd"},
    {"hub.mode": "unsubscribe"},
    {"hub.challenge": "<script>"},
    {"hub.challenge": ""},
    {"hub.challenge": "1" * 300},
]


@pytest.mark.parametrize("change", WRONG)
def test_any_other_verification_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(NotAuthenticated):
        answer_challenge("word", {**QUERY, **change})
    with pytest.raises(NotAuthenticated):
        answer_challenge("word", {})
