"""Addresses that people reply to name their conversation, and nobody can make one up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.email.reply_address import ReplyAddresses, digest

SECRET = b"s" * 32
ADDRESSES = ReplyAddresses(SECRET, "Desk@shop.example")
CONVERSATION = digest(SECRET, "one")


def test_an_address_comes_back_as_its_conversation() -> None:
    address = ADDRESSES.make(CONVERSATION)
    assert address.endswith("@shop.example")
    assert ADDRESSES.read(address) == CONVERSATION


def test_the_case_of_an_address_does_not_matter() -> None:
    assert ADDRESSES.read(ADDRESSES.make(CONVERSATION).upper()) == CONVERSATION


def test_a_changed_address_is_refused() -> None:
    address = ADDRESSES.make(CONVERSATION)
    for at, sign in enumerate(address.partition("@")[0]):
        changed = f"{address[:at]}{'b' if sign == 'a' else 'a'}{address[at + 1 :]}"
        assert ADDRESSES.read(changed) is None, at


def test_an_address_of_another_desk_is_refused() -> None:
    other = ReplyAddresses(b"t" * 32, "desk@shop.example")
    assert ADDRESSES.read(other.make(CONVERSATION)) is None


@pytest.mark.parametrize(
    "recipient", ["desk+news@shop.example", "anna@shop.example", "desk@elsewhere.example", "", "@"]
)
def test_mail_for_others_is_not_taken(recipient: str) -> None:
    assert not ADDRESSES.is_own(recipient)


def test_the_desks_own_address_is_taken_in_any_case() -> None:
    assert ADDRESSES.is_own("DESK@Shop.example")


def test_replies_may_have_a_domain_and_a_separator_of_their_own() -> None:
    addresses = ReplyAddresses(SECRET, "desk@shop.example", "reply.shop.example", "-")
    made = addresses.make(CONVERSATION)
    assert made.startswith("desk-")
    assert made.endswith("@reply.shop.example")
    assert addresses.read(made) == CONVERSATION
    assert addresses.is_own("desk@shop.example")


def test_the_longest_address_still_fits_into_a_local_part() -> None:
    made = ReplyAddresses(SECRET, f"{'d' * 31}@shop.example").make(CONVERSATION)
    assert len(made.partition("@")[0]) == 64
    with pytest.raises(ValueError, match="31 characters"):
        ReplyAddresses(SECRET, f"{'d' * 32}@shop.example")


@given(st.text())
def test_no_text_is_an_address_by_chance(text: str) -> None:
    assert ADDRESSES.read(text) is None
    assert ADDRESSES.read(f"desk+{text}@shop.example") is None
