"""Codes of store credit in words: nothing of one is kept, and nothing else is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_payments.ledger.accounts import CODE_LENGTH, CODE_SIGNS, printed_code
from aitp_payments.ledger.codes import HIDDEN, hide_codes


@pytest.mark.parametrize(
    "said",
    [
        "pay SC-7K2QX-00000-11111-22222",
        "pay with sc-7k2qx-00000-11111-22222.",
        "My code is SC 7K2QX 00000 11111 22222!",
        "SC7K2QX000001111122222",
        "SC-7K2QX-OOOOO-IIIII-22222",
        "here: 7K2QX-00000-11111-22222",
        "pay 7K2QX000001111122222",
        "The code: 7k2qx000001111122222, thanks",
    ],
)
def test_a_code_is_hidden_however_it_is_written(said: str) -> None:
    hidden = hide_codes(said)
    assert HIDDEN in hidden
    assert "7k2qx" not in hidden.lower()
    assert "22222" not in hidden


@given(st.text(), st.text(CODE_SIGNS, min_size=CODE_LENGTH, max_size=CODE_LENGTH), st.text())
def test_a_code_as_it_is_printed_is_hidden_among_any_words(
    before: str, code: str, after: str
) -> None:
    code = f"{code[:-1]}7"
    assert printed_code(code) not in hide_codes(f"{before} {printed_code(code)} {after}")


@pytest.mark.parametrize(
    "said",
    [
        "What is your return policy?",
        "SC has many great boots for all",
        "Scandinavian boots are nice",
        "The order TH20260101000000000042 is late.",
        '{"payer_signature": "ed25519:AbCdE/7K2QX000001111122222+x=="}',
        "pay later",
        "SC-7K2QX",
    ],
)
def test_other_words_stay_as_they_are(said: str) -> None:
    assert hide_codes(said) == said
