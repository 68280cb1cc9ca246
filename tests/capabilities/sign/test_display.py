"""What is signed as people read it: nothing else passes for it, and nothing of it is hidden."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aitp_desk.capability import InvalidRequest, Part
from aitp_sign.messages import RequestSignature
from aitp_sign.near import transactions as near_transactions
from tests.capabilities.sign.test_messages import EVM
from tests.capabilities.sign.test_states import OPERATOR, Signatures
from tests.support.access.signatures import MAIL, ORDER, sign_request
from tests.support.plugins.thread_records import GUEST, told


def words(**request: Any) -> list[str]:
    """The lines by which a request is rendered."""
    thread = Signatures()
    content = msgspec.convert(thread.ask(**request), RequestSignature)
    part = Part(version=1, key="request_signature", content=content, given={})
    return thread.sign.as_text(part).split("\n")


def test_a_value_passes_for_no_other_value() -> None:
    data = {**MAIL, "message": {"thing": "Ridge\nmessage.price: 1", "price": "349"}}
    lines = words(id="1", typed_data=data)
    assert "| message.thing: Ridge⟦U+000A⟧message.price: 1" in lines
    assert [line for line in lines if line.startswith("| message.price")] == [
        "| message.price: 349"
    ]


def test_what_a_request_is_called_passes_for_nothing_that_is_signed() -> None:
    named = {"title": "To be signed, exactly:", "description": " | I pay 1 EUR."}
    lines = words(id="1", text="I pay 349 EUR.\nToday.", **named)
    assert [line for line in lines if line.startswith("|")] == ["| I pay 349 EUR.", "| Today."]


def test_amounts_are_told_to_the_last_unit() -> None:
    assert near_transactions.units(10**28 + 1) == "10000.000000000000000000000001 NEAR"
    assert near_transactions.units(5 * 10**23) == "0.5 NEAR"


def test_a_fee_and_its_tip_are_told() -> None:
    evm = {key: value for key, value in EVM.items() if key != "gasPrice"}
    fees = {"maxFeePerGas": "0x3b9aca00", "maxPriorityFeePerGas": "0x7"}
    lines = words(id="1", evm_transaction={"evm": evm | fees, "chain_id": 1})
    assert (
        "| costs at most 0.000021 in fees: 21000 gas at 1000000000 each, with a tip of 7"
    ) in lines


def test_a_recipient_is_one_line() -> None:
    """Else two texts for two recipients would be the same bytes for a wallet of Ethereum's."""
    with pytest.raises(InvalidRequest, match="recipient must be a single line"):
        Signatures().ask(**ORDER, recipient="a\nNonce: b\nExpires: c\n\nRecipient: d")


@pytest.mark.parametrize("scheme", ["eip191", "eip712"])
def test_a_signature_of_another_text_is_nobodys_else(scheme: Any) -> None:
    """Every signature of Ethereum's kind comes to some address: it is held against the one said."""
    thread = Signatures()
    other = sign_request({**thread.ask(**ORDER), "text": "I buy nothing."}, scheme)
    assert thread.answer(other)["reason"] == "wrong_account"
    del other["account"]
    assert thread.answer(other)["reason"] == "malformed"


def test_what_a_rule_signs_replaces_what_people_were_asked() -> None:
    thread = Signatures(policy=[{"callers": ["*"], "text": "One tent."}])
    thread.say(GUEST, "request_signature", {"id": "1", "text": "Two tents."})
    newer = {"id": "2", "text": "One tent.", "supersedes": "1"}
    thread.say(GUEST, "request_signature", newer)
    approval = {"request_id": "1", "agree": True}
    assert "was replaced" in str(told(thread.say(OPERATOR, "approve_signature", approval)))
