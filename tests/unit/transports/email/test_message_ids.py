"""Message-IDs are the same for each attempt, and signed with their conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.email.message_ids import MOST_REFERENCES, MessageIds, chain, is_usable
from aitp_desk.transports.email.reply_address import digest

SECRET = b"s" * 32
IDS = MessageIds(SECRET, "shop.example")
CONVERSATION = digest(SECRET, "one")


def test_the_same_message_has_the_same_id() -> None:
    assert IDS.make(CONVERSATION, "m1") == IDS.make(CONVERSATION, "m1")
    assert IDS.make(CONVERSATION, "m1") != IDS.make(CONVERSATION, "m2")


def test_an_id_comes_back_as_its_conversation() -> None:
    made = IDS.make(CONVERSATION, "m1")
    assert is_usable(made)
    assert IDS.read(made) == CONVERSATION


def test_a_forged_id_is_refused() -> None:
    made = IDS.make(CONVERSATION, "m1")
    conversation, name, signature = made.partition("@")[0].split(".")
    other = digest(SECRET, "two")
    assert IDS.read(f"{other}.{name}.{signature}@shop.example") is None
    assert IDS.read(f"{conversation}.{other}.{signature}@shop.example") is None
    assert IDS.read(f"{conversation}.{name}.{signature}@elsewhere.example") is None
    assert IDS.read("abc@mail.elsewhere.example") is None


def test_the_answered_mail_is_the_last_reference() -> None:
    assert chain(("a@x", "b@x", "a@x"), "a@x") == ("b@x", "a@x")
    assert chain((), "") == ()
    assert chain(("a@x",), "") == ("a@x",)


def test_what_cannot_stand_in_a_header_is_left_out() -> None:
    assert chain(("a@x\r\nBcc: b@y", "c d@x", "<e@x>", "f@x"), "ä@x") == ("f@x",)


def test_a_long_chain_keeps_its_first_and_its_last_mails() -> None:
    ids = tuple(f"{'m' * 60}{number}@mail.example" for number in range(40))
    kept = chain(ids, "answered@x")
    assert kept[0] == ids[0]
    assert kept[-2:] == (ids[-1], "answered@x")
    assert sum(len(one) + 3 for one in kept) <= MOST_REFERENCES


@given(st.text())
def test_no_text_is_an_id_by_chance(text: str) -> None:
    assert IDS.read(text) is None
    assert IDS.read(f"{text}@shop.example") is None
