"""Payments of x402 as they are presented, and the prices that they pay."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import InvalidRequest, Money
from aitp_payments.x402.method import requirements
from aitp_payments.x402.networks import NETWORKS, atomic, network_named
from aitp_payments.x402.payload import (
    LEAST_LEFT,
    MOST_LEFT,
    find_requirements,
    for_facilitator,
    read,
    why_not,
)
from aitp_payments.x402.settings import X402Settings
from tests.support.payments.facilitator import before

NOW = 1_800_000_000
PAY_TO = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
CHOSEN = X402Settings(pay_to=PAY_TO, networks=("base-sepolia",))
(ASKED,) = requirements("quote_1", Money(Decimal("0.25"), "USD"), CHOSEN)
TOLD = msgspec.to_builtins(ASKED)
PAYER = "0x857b06519E91e3A54538791bDbb0E22373e36b66"


def pay(**other: object) -> dict[str, Any]:
    """A payment by version 2; the facilitator verifies signatures, and the desk their form alone.

    Parameters:
        other: members of the authorisation that differ.
    """
    authorization = {
        "from": PAYER,
        "to": PAY_TO,
        "value": TOLD["amount"],
        "validAfter": "0",
        "validBefore": str(NOW + TOLD["maxTimeoutSeconds"]),
        "nonce": "0x" + "ab" * 32,
        **other,
    }
    exact = {"signature": "0x" + "1b" * 65, "authorization": authorization}
    return {"x402Version": 2, "accepted": dict(TOLD), "payload": exact}


PAID = pay()


def judged(payload: Mapping[str, Any]) -> str | None:
    presented = read(payload)
    asked = find_requirements(presented, (ASKED,))
    return "other ways" if asked is None else why_not(presented, asked, NOW)


def test_the_networks_are_those_that_payers_know() -> None:
    from x402.mechanisms.evm.default_assets import DEFAULT_ASSETS
    from x402.mechanisms.evm.v1.constants import V1_NETWORK_CHAIN_IDS

    for network in NETWORKS:
        usual = DEFAULT_ASSETS[network.id][0]
        assert (network.asset, network.coin, network.version) == (
            usual["asset"],
            usual["name"],
            usual["version"],
        )
        assert usual["decimals"] == 6
        assert network.id == f"eip155:{V1_NETWORK_CHAIN_IDS[network.name]}"
        assert network_named(network.id) is network_named(network.name) is network


def test_what_is_asked_for_is_read_by_x402_as_it_is_written() -> None:
    from x402.schemas import PaymentRequirements

    read_by_x402 = PaymentRequirements.model_validate(TOLD)
    assert read_by_x402.model_dump(by_alias=True) == TOLD
    assert TOLD["amount"] == "250000"
    assert TOLD["extra"] == {"name": "USDC", "version": "2", "quote_id": "quote_1"}


@given(st.decimals(min_value=0, max_value=10**12, places=6))
def test_a_price_is_counted_exactly(amount: Decimal) -> None:
    assert Decimal(atomic(amount)) == amount * 10**6


@pytest.mark.parametrize("amount", ["0.0000001", "-1", "NaN", "Infinity", "1E+30", "1E-999999"])
def test_a_price_that_no_coin_can_pay_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match="cannot be paid"):
        atomic(Decimal(amount))
    assert requirements("quote_1", Money(Decimal(amount), "USD"), CHOSEN) == ()


def test_other_currencies_and_nothing_are_not_asked_for_in_dollar_coins() -> None:
    assert requirements("quote_1", Money(Decimal(1), "EUR"), CHOSEN) == ()
    assert requirements("quote_1", Money(Decimal(0), "USD"), CHOSEN) == ()


def test_a_payment_of_either_version_pays_what_is_asked_for() -> None:
    assert judged(PAID) is None
    assert judged(before(PAID, "base-sepolia")) is None
    assert read(PAID).quote_id == "quote_1"
    assert read(before(PAID, "base-sepolia")).quote_id is None
    assert read(PAID).reference == read(before(PAID, "base-sepolia")).reference


def test_a_facilitator_is_asked_by_version_2_whatever_was_presented() -> None:
    from x402.schemas import PaymentPayload

    two = for_facilitator(read(PAID), ASKED)
    one = for_facilitator(read(before(PAID, "base-sepolia")), ASKED)
    assert one == two
    assert PaymentPayload.model_validate(two["paymentPayload"]).accepted.amount == "250000"
    given = {**PAID, "resource": {"url": "https://x.example/"}, "extensions": {"of": "theirs"}}
    passed = for_facilitator(read(given), ASKED)["paymentPayload"]
    assert passed["resource"] == given["resource"]
    assert passed["extensions"] == given["extensions"]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"to": PAYER}, "another address"),
        ({"value": "249999"}, "exactly 250000"),
        ({"value": "250001"}, "exactly 250000"),
        ({"validAfter": str(NOW)}, "not valid yet"),
        ({"validBefore": str(NOW + LEAST_LEFT - 1)}, f"at least {LEAST_LEFT} more seconds"),
        ({"validBefore": str(2**256 - 1)}, f"at most {MOST_LEFT} seconds"),
    ],
)
def test_a_payment_for_something_else_is_found_before_the_facilitator_is_asked(
    other: dict[str, str], why: str
) -> None:
    assert why in (judged(pay(**other)) or "")


@pytest.mark.parametrize(
    ("accepted", "why"),
    [
        ({"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"}, "other requirements"),
        ({"amount": "1"}, "other requirements"),
        ({"payTo": PAYER}, "other requirements"),
        ({"network": "eip155:8453"}, "other ways"),
        ({"network": "solana:mainnet"}, "other ways"),
        ({"scheme": "upto"}, "other ways"),
    ],
)
def test_a_payment_by_other_terms_is_seen_too(accepted: dict[str, str], why: str) -> None:
    assert why in (judged({**PAID, "accepted": {**TOLD, **accepted}}) or "")


def test_addresses_and_numbers_may_be_written_otherwise() -> None:
    signed = dict(PAID["payload"]["authorization"], value=hex(250000))
    signed["to"] = signed["to"].lower()
    exact = {**PAID["payload"], "authorization": signed}
    accepted = {**TOLD, "payTo": PAY_TO.upper().replace("0X", "0x")}
    assert judged({**PAID, "accepted": accepted, "payload": exact}) is None


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"x402Version": 3},
        {"x402Version": "2"},
        {"x402Version": True},
        {**PAID, "accepted": None},
        {**PAID, "payload": {"authorization": PAID["payload"]["authorization"]}},
        {**PAID, "payload": {**PAID["payload"], "signature": "0x12"}},
        {
            **PAID,
            "payload": {
                **PAID["payload"],
                "authorization": {**PAID["payload"]["authorization"], "nonce": "0x12"},
            },
        },
        {**PAID, "extensions": {"long": "x" * 20_000}},
    ],
)
def test_what_is_no_payment_is_refused_and_says_so(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=r"^This is not an x402 payment: .+\.$") as refused:
        read(broken)
    assert refused.value.param == "x402_payment.payload"


@given(st.dictionaries(st.text(max_size=12), st.from_type(type(None)) | st.text() | st.integers()))
def test_whatever_is_presented_is_read_or_refused(given: dict[str, Any]) -> None:
    for version in (1, 2):
        with pytest.raises(InvalidRequest):
            read({"x402Version": version, **{k: v for k, v in given.items() if k != "x402Version"}})


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"pay_to": "0x12"}, "regex"),
        ({"pay_to": "0x" + "0" * 40}, "zero address"),
        ({"networks": ["base", "mars"]}, "'mars' is not a known network"),
        ({"networks": []}, "length"),
        ({"networks": ["base", "base-sepolia"]}, "test"),
        ({"facilitator": "ftp://x.example"}, "facilitator must be a URL"),
        ({"facilitator": "https://"}, "facilitator must be a URL"),
        ({"facilitator": "http://x.example"}, "facilitator must use https"),
        ({"facilitator": "http://127.0.0.1.x.example"}, "facilitator must use https"),
        (
            {"facilitator": "https://me:secret@x.example"},
            "facilitator must not contain a user name",
        ),
        ({"facilitator": "http://me@127.0.0.1"}, "facilitator must not contain a user name"),
        ({"facilitator": "https://x.example/?key=secret"}, "facilitator must not have a query"),
        ({"seconds": 5}, "60"),
    ],
)
def test_settings_that_cannot_be_right_are_refused(chosen: dict[str, Any], why: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=why) as refused:
        msgspec.convert({"pay_to": PAY_TO, "networks": ["base"], **chosen}, X402Settings)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1:8402", "[::1]:8402", "localhost:8402"])
def test_a_facilitator_on_this_machine_is_asked_without_encryption(host: str) -> None:
    chosen = {"pay_to": PAY_TO, "networks": ["base"], "facilitator": f"http://{host}/x402"}
    assert msgspec.convert(chosen, X402Settings).facilitator == f"http://{host}/x402"
