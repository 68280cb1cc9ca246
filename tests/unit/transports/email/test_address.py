"""Addresses of people, as they are sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.email.address import sendable


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("ada@people.example", "ada@people.example"),
        ("ada+x@Größe.example", "ada+x@xn--gre-6ka8i.example"),
        ("ädä@people.example", "ädä@people.example"),
        ("o'brien@people.example", "o'brien@people.example"),
        ("ada@people..example", None),
        ("ada@", None),
        ("@people.example", None),
        ("ada people@people.example", None),
        ("ada@people.example\r\nRCPT TO:<b@c>", None),
        ("ada>@people.example", None),
        ('"ada"@people.example', None),
        (f"{'a' * 65}@people.example", None),
        (f"ada@{'a.' * 130}example", None),
        ("unknown", None),
    ],
)
def test_an_address_is_sent_with_its_domain_in_ascii(address: str, sent: str | None) -> None:
    assert sendable(address) == sent


@given(st.text())
def test_what_is_sent_has_no_character_that_means_something_to_a_server(text: str) -> None:
    for address in (text, f"{text}@people.example", f"ada@{text}"):
        found = sendable(address)
        assert found is None or not set(found) & set(' \t\r\n<>,;:\\"()[]')
        assert found is None or found.rpartition("@")[2].isascii()
