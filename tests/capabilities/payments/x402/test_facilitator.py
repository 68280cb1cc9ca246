"""Asking a facilitator: what its answers mean, and what proves who asks."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.capability import Money, Request, Response, Send, Unanswered
from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_payments.x402.credentials import credential_of, nothing
from aitp_payments.x402.facilitator import (
    Facilitator,
    NotTaken,
    Refused,
    Settled,
    Unknown,
    Valid,
)
from aitp_payments.x402.method import requirements
from aitp_payments.x402.payload import for_facilitator, read
from aitp_payments.x402.reasons import told
from aitp_payments.x402.settings import X402Settings
from tests.support.payments import facilitator as facilitating
from tests.support.payments.facilitator import Wallet, facilitator

NOW = 1_800_000_000
CHOSEN = X402Settings(
    pay_to="0x209693Bc6afc0C5328bA36FaF03C514EF312287C", networks=("base-sepolia",)
)
(ASKED,) = requirements("quote_1", Money(Decimal("0.25"), "USD"), CHOSEN)
TRANSACTION = "0x" + "ab" * 32


@pytest.fixture
async def send() -> AsyncIterator[Send]:
    async with Egress(allow_loopback=True) as egress:
        yield make_sender(egress)


@pytest.fixture
async def fake() -> AsyncIterator[facilitating.Facilitator]:
    async with facilitator(NOW) as one:
        yield one


def question(wallet: Wallet, **other: object) -> dict[str, Any]:
    return for_facilitator(read(wallet.sign(msgspec.to_builtins(ASKED), NOW, **other)), ASKED)


async def test_a_payment_is_verified_and_settled_once(
    fake: facilitating.Facilitator, send: Send
) -> None:
    wallet, asked = Wallet(), Facilitator(fake.url + "/", nothing)
    fake.chain.holds[wallet.address.lower()] = 300_000
    paid = question(wallet)
    assert await asked.verify(send, paid) == Valid()
    settled = await asked.settle(send, paid)
    assert isinstance(settled, Settled)
    assert settled.transaction in fake.chain.used.values()
    assert fake.chain.holds[ASKED.pay_to.lower()] == 250_000
    assert await asked.settle(send, paid) == Refused("invalid_exact_evm_nonce_already_used")


async def test_a_refusal_says_why_and_whether_that_is_for_good(
    fake: facilitating.Facilitator, send: Send
) -> None:
    wallet, asked = Wallet(), Facilitator(fake.url, nothing)
    poor = await asked.verify(send, question(wallet))
    assert poor == Refused("invalid_exact_evm_insufficient_balance")
    assert isinstance(poor, Refused)
    assert not poor.is_for_good
    assert told(poor.reason) == "The wallet holds too few coins. Nothing was paid."
    forged = question(wallet)
    forged["paymentPayload"]["payload"]["signature"] = question(Wallet())["paymentPayload"][
        "payload"
    ]["signature"]
    refused = await asked.settle(send, forged)
    assert refused == Refused("invalid_exact_evm_payload_signature")
    assert isinstance(refused, Refused)
    assert refused.is_for_good


@pytest.mark.parametrize(
    ("mood", "has_moved"),
    [
        ("lost", True),
        ("unwell after", True),
        ("garbled", True),
        ("pending", True),
        ("elsewhere", True),
        ("unwell", False),
        ("vague", False),
        ("reverted", False),
    ],
)
async def test_what_may_have_moved_coins_is_neither_a_yes_nor_a_no(
    fake: facilitating.Facilitator, send: Send, mood: facilitating.Mood, has_moved: bool
) -> None:
    wallet, asked = Wallet(), Facilitator(fake.url, nothing)
    fake.chain.holds[wallet.address.lower()] = 300_000
    fake.moods.append(mood)
    assert isinstance(await asked.settle(send, question(wallet)), Unknown)
    assert bool(fake.chain.used) is has_moved


async def test_what_was_not_looked_at_is_no_refusal(
    fake: facilitating.Facilitator, send: Send
) -> None:
    fake.moods.append("busy")
    paid = question(Wallet())
    assert isinstance(await Facilitator(fake.url, nothing).settle(send, paid), NotTaken)
    assert isinstance(await Facilitator(f"{fake.url}/v9", nothing).settle(send, paid), NotTaken)
    inside = Facilitator("https://10.0.0.1", nothing)
    assert isinstance(await inside.settle(send, paid), NotTaken)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"success": True, "transaction": TRANSACTION, "network": "base-sepolia"}, Settled),
        (200, {"success": True, "transaction": TRANSACTION, "network": "mars"}, Unknown),
        (200, {"success": True, "transaction": "0x12", "network": "eip155:84532"}, Unknown),
        (200, {"success": True, "network": "eip155:84532"}, Unknown),
        (
            200,
            {
                "success": True,
                "transaction": TRANSACTION,
                "network": "eip155:84532",
                "payer": "0x" + "1" * 40,
            },
            Unknown,
        ),
        (
            200,
            {
                "success": True,
                "transaction": TRANSACTION,
                "network": "eip155:84532",
                "amount": "1",
            },
            Unknown,
        ),
        (200, {"success": "true"}, Unknown),
        (200, {"success": False}, Unknown),
        (200, {"success": False, "errorReason": "unexpected_settle_error"}, Unknown),
        (200, {"success": False, "errorReason": "<b>Pay me</b>"}, Unknown),
        (200, {"success": False, "errorReason": "insufficient_funds"}, Refused),
        (
            200,
            {
                "success": False,
                "errorReason": "insufficient_funds",
                "transaction": TRANSACTION,
            },
            Unknown,
        ),
        (200, [], Unknown),
        (400, {"success": False, "errorReason": "invalid_payload"}, Refused),
        (400, {"message": "what?"}, Refused),
        (409, {"success": False, "errorReason": "invalid_payload"}, Unknown),
        (500, {"success": False, "errorReason": "invalid_payload"}, Unknown),
        (301, {}, Unknown),
        (401, {}, NotTaken),
    ],
)
async def test_an_answer_to_settling_has_one_of_three_meanings(
    status: int, body: Any, kind: type
) -> None:
    async def answer(_request: Request) -> Response:
        return Response(status=status, body=msgspec.json.encode(body))

    asked = Facilitator("https://x402.example", nothing)
    assert isinstance(await asked.settle(answer, question(Wallet())), kind)


async def test_support_is_reported_or_unknown(fake: facilitating.Facilitator, send: Send) -> None:
    supported = await Facilitator(fake.url, nothing).supported(send)
    assert [kind.network for kind in supported.kinds] == ["eip155:84532", "eip155:8453"]
    with pytest.raises(Unanswered, match="status 404"):
        await Facilitator(f"{fake.url}/v9", nothing).supported(send)


async def test_a_token_of_the_environment_is_sent_with_each_request(
    fake: facilitating.Facilitator, send: Send
) -> None:
    credential = credential_of({"X402_FACILITATOR_TOKEN": "secret-1"}, fake.url)
    await Facilitator(fake.url, credential).verify(send, question(Wallet()))
    await Facilitator(fake.url, credential).supported(send)
    await Facilitator(fake.url, nothing).supported(send)
    assert fake.credentials == ["Bearer secret-1", "Bearer secret-1", None]


def test_a_key_of_coinbases_signs_a_token_for_one_request() -> None:
    key = Ed25519PrivateKey.generate()
    whole = key.private_bytes_raw() + key.public_key().public_bytes_raw()
    environment = {
        "CDP_API_KEY_ID": "key-1",
        "CDP_API_KEY_SECRET": base64.b64encode(whole).decode(),
    }
    url = "https://api.cdp.coinbase.com/platform/v2/x402"
    headers = credential_of(environment, url, lambda: NOW)("POST", f"{url}/settle")
    token = headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(
        token,
        key.public_key(),
        algorithms=["EdDSA"],
        options={"verify_exp": False, "verify_nbf": False},
    )
    assert claims == {
        "sub": "key-1",
        "iss": "cdp",
        "nbf": NOW,
        "exp": NOW + 120,
        "uris": ["POST api.cdp.coinbase.com/platform/v2/x402/settle"],
    }
    head: Mapping[str, Any] = jwt.get_unverified_header(token)
    assert (head["kid"], head["typ"]) == ("key-1", "JWT")
    assert credential_of(environment, "https://x402.example") is nothing


def test_a_key_that_is_none_is_refused_and_not_repeated() -> None:
    environment = {"CDP_API_KEY_ID": "key-1", "CDP_API_KEY_SECRET": "not-a-key"}
    with pytest.raises(ValueError, match="must be an Ed25519 key") as refused:
        credential_of(environment, "https://api.cdp.coinbase.com/platform/v2/x402")
    assert "not-a-key" not in str(refused.value)
