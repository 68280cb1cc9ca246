"""Messages of wallets: the published schemas, and signatures held against what was asked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jsonschema
import msgspec
import pytest

from aitp_desk.capability import (
    Capability,
    Context,
    InvalidRequest,
    Job,
    Own,
    Part,
    Refuse,
    Request,
    Response,
    Retry,
    Say,
    Start,
    Take,
)
from aitp_desk.testing import CapabilityContract
from aitp_sign import EvmWallet, NearWallet
from aitp_sign.evm import wallet as evm_wallet
from aitp_sign.evm.eip712 import TypedData
from aitp_sign.keys.encodings import from_base64, to_base58, to_base64
from aitp_sign.near import wallet as near_wallet
from aitp_sign.service import SignatureFamily
from aitp_sign.subjects import NearMessage, PersonalMessage, Typed
from tests.support.access.signatures import ADDRESS, ALICE, BOB, MAIL, key_of, sign
from tests.support.plugins.thread_records import GUEST, SHOP, OneThread, told
from tests.support.specs.folder import find_shared_folder

NONCE = to_base64(bytes(range(32)))
MESSAGE = {"nonce": NONCE, "recipient": "shop.near", "message": "I am alice."}
HASH = "0x" + "ab" * 32
NEAR_EXAMPLES: list[dict[str, Any]] = [
    {"request_account": {"request_id": "1", "description": "Who are you?"}},
    {"account_response": {"request_id": "1", "accounts": ["alice.near"]}},
    {
        "request_transaction": {
            "request_id": "2",
            "transaction": {
                "receiver_id": "shop.near",
                "actions": [{"type": "Transfer", "params": {"deposit": "1"}}],
            },
        }
    },
    {"transaction_response": {"request_id": "2", "transaction_hash": "2" * 44}},
    {"request_message_signing": {"request_id": "3", "message": MESSAGE, "state": "s"}},
    {
        "message_signing_response": {
            "request_id": "3",
            "account_id": "alice.near",
            "public_key": key_of(ALICE),
            "signature": "AA==",
        }
    },
    {
        "token_notification": {
            "notification_id": "4",
            "token_type": "nep141",
            "token_contract": "token.near",
        }
    },
]
EVM_EXAMPLES: list[dict[str, Any]] = [
    {"request_address": {"request_id": "1", "chain_id": 1}},
    {"address_response": {"request_id": "1", "addresses": [ADDRESS]}},
    {
        "request_transaction": {
            "request_id": "2",
            "chain_id": 1,
            "transaction": {"to": ADDRESS, "value": "0xde0b6b3a7640000", "data": "0x"},
        }
    },
    {"transaction_response": {"request_id": "2", "transaction_hash": HASH}},
    {
        "request_message_signing": {
            "request_id": "3",
            "signing_type": "personal_sign",
            "message": "I am alice.",
            "address": ADDRESS,
        }
    },
    {
        "request_message_signing": {
            "request_id": "4",
            "signing_type": "typed_data",
            "typed_data": MAIL,
        }
    },
    {"message_signing_response": {"request_id": "3", "address": ADDRESS, "signature": "0xab"}},
    {
        "chain_notification": {
            "notification_id": "5",
            "chain_id": 10,
            "name": "Other",
            "native_currency": {"name": "Coin", "symbol": "C", "decimals": 18},
        }
    },
    {
        "token_notification": {
            "notification_id": "6",
            "chain_id": 1,
            "token_type": "erc20",
            "token_contract": ADDRESS,
            "name": "Token",
            "symbol": "T",
            "decimals": 6,
        }
    },
]
OWN: list[dict[str, Any]] = [
    {"signature_declined": {"request_id": "3"}},
    {"approve_signature": {"request_id": "3", "agree": True}},
    {"signature_result": {"request_id": "3", "result": "failure", "reason": "declined"}},
]


class TestNearWallet(CapabilityContract):
    capability: ClassVar[type[Capability]] = NearWallet
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {
        1: NEAR_EXAMPLES,
        2: [*NEAR_EXAMPLES, *OWN],
    }


class TestEvmWallet(CapabilityContract):
    capability: ClassVar[type[Capability]] = EvmWallet
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {
        1: EVM_EXAMPLES,
        2: [*EVM_EXAMPLES, *OWN],
    }


def upstream_errors(name: str, message: Mapping[str, Any]) -> list[str]:
    """What a published schema has against a message."""
    shared = find_shared_folder(os.environ.get("AITP_DESK_SHARED"))
    whole = json.loads((shared / "schemas" / "aitp" / name).read_text(encoding="utf-8"))
    return [error.message for error in jsonschema.Draft202012Validator(whole).iter_errors(message)]


class Wallet(OneThread):
    """What is asked of wallets on one thread, in the published version."""

    def __init__(self, kind: type[SignatureFamily], **chosen: Any) -> None:
        wallet = kind(msgspec.convert(chosen, kind.settings))
        wallet.use(Own(SHOP, lambda purpose: hashlib.sha256(purpose.encode()).digest()))
        super().__init__(wallet, {GUEST: "key:1"})
        self.wallet = wallet

    def judge(
        self, actor: str, key: str, content: Mapping[str, Any], asking: object = None
    ) -> Take:
        schema = self.wallet.schemas()[0]
        read = msgspec.convert(content, schema.messages[key])
        part = Part(version=1, key=key, content=read, given={"$schema": schema.url, key: content})
        context = Context(
            now=self.now,
            thread_id="thread_1",
            actor=actor,
            principal="key:1",
            own=SHOP,
            parties=self.parties,
            records=dict(self.records),
        )
        verdict = self.wallet.judge(part, context)
        assert not isinstance(verdict, Refuse)
        assert isinstance(verdict, Take)
        return verdict

    def hear(self, actor: str, key: str, **content: Any) -> Any:
        """Say something, and return what is reported of it; None for nothing."""
        said = told(self.say(actor, key, content))
        assert len(said) <= 1
        return json.loads(msgspec.json.encode(said[0])) if said else None


PUBLISHED = [
    *((one, "aitp-04-near-wallet-v1.0.0.json", near_wallet) for one in NEAR_EXAMPLES),
    *((one, "aitp-05-evm-wallet-v1.0.0.json", evm_wallet) for one in EVM_EXAMPLES),
]


def test_every_example_is_valid_as_it_comes_and_as_it_is_sent(subtests: pytest.Subtests) -> None:
    for example, name, module in PUBLISHED:
        with subtests.test(example=example, name=name, module=module):
            ((key, given),) = example.items()
            sent = json.loads(msgspec.json.encode(msgspec.convert(given, module.MESSAGES[key])))
            for message in (given, sent):
                assert upstream_errors(name, {"$schema": module.PUBLISHED, key: message}) == []


def test_what_the_published_schemas_refuse_is_refused(subtests: pytest.Subtests) -> None:
    for example, name, module in PUBLISHED:
        with subtests.test(example=example, name=name, module=module):
            ((key, given),) = example.items()
            for wrong in ({**given, "more": 1}, {}, {**given, next(iter(given)): 7}):
                assert upstream_errors(name, {"$schema": module.PUBLISHED, key: wrong})
                with pytest.raises(msgspec.ValidationError):
                    msgspec.convert(wrong, module.MESSAGES[key])


@pytest.mark.parametrize("spelling", ["base64", "base58"])
def test_a_message_of_near_is_signed_for_its_nonce_and_recipient(spelling: str) -> None:
    thread = Wallet(NearWallet)
    assert thread.hear(SHOP, "request_message_signing", request_id="3", message=MESSAGE) is None
    subject = NearMessage("I am alice.", NONCE, "shop.near")
    response = {"request_id": "3", "account_id": "alice.near", "public_key": key_of(ALICE)}
    other = NearMessage("I am alice.", NONCE, "mallory.near")
    for wrong in (
        sign(other, "nep413", 0)["signature"],
        sign(subject, "nep413", 0, BOB)["signature"],
    ):
        failed = thread.hear(GUEST, "message_signing_response", **response, signature=wrong)
        assert failed["signature_result"]["reason"] == "bad_signature"
    right = sign(subject, "nep413", 0)["signature"]
    spelled = right if spelling == "base64" else f"ed25519:{to_base58(from_base64(right))}"
    proved = thread.hear(GUEST, "message_signing_response", **response, signature=spelled)
    result = proved["signature_result"]
    assert (result["result"], result["account"]) == ("success", "alice.near")
    assert "account_proved" not in result, "nobody here has asked the chain"
    thread.hear(SHOP, "request_message_signing", request_id="4", message=MESSAGE)
    again = {**response, "request_id": "4", "signature": right}
    replayed = thread.hear(GUEST, "message_signing_response", **again)
    assert replayed["signature_result"]["reason"] == "replayed"


@pytest.mark.parametrize(
    ("request_", "subject", "scheme"),
    [
        (
            {"signing_type": "personal_sign", "message": "I am alice.", "address": ADDRESS},
            PersonalMessage("I am alice."),
            "eip191",
        ),
        (
            {"signing_type": "typed_data", "typed_data": MAIL},
            Typed(msgspec.convert(MAIL, TypedData)),
            "eip712",
        ),
    ],
)
def test_messages_of_ethereum_are_signed_by_the_address_that_says_so(
    request_: dict[str, Any], subject: Any, scheme: Any
) -> None:
    thread = Wallet(EvmWallet)
    thread.hear(SHOP, "request_message_signing", request_id="3", **request_)
    signature = sign(subject, scheme, 0)["signature"]
    other = {"request_id": "3", "address": "0x" + "35" * 20, "signature": signature}
    if "address" not in request_:
        failed = thread.hear(GUEST, "message_signing_response", **other)
        assert failed["signature_result"]["reason"] == "wrong_account"
    proved = thread.hear(GUEST, "message_signing_response", **{**other, "address": ADDRESS})
    assert proved["signature_result"]["account"] == ADDRESS
    assert proved["signature_result"]["account_proved"] is True


def test_a_sent_transaction_is_only_a_claim() -> None:
    thread = Wallet(EvmWallet)
    transaction = {"to": ADDRESS, "value": "0x1"}
    for id in ("1", "2"):
        thread.hear(SHOP, "request_transaction", request_id=id, transaction=transaction)
    sent = {"request_id": "1", "transaction_hash": HASH}
    assert thread.hear(GUEST, "transaction_response", **sent) is None
    again = thread.hear(GUEST, "transaction_response", request_id="2", transaction_hash=HASH)
    assert again["signature_result"]["reason"] == "replayed"


@pytest.mark.parametrize(
    ("kind", "asked", "answer", "name"),
    [
        (NearWallet, "request_account", "account_response", "aitp-04-near-wallet-v1.0.0.json"),
        (EvmWallet, "request_address", "address_response", "aitp-05-evm-wallet-v1.0.0.json"),
    ],
)
def test_the_site_tells_its_accounts_and_sends_no_transactions(
    kind: type[SignatureFamily], asked: str, answer: str, name: str
) -> None:
    thread = Wallet(kind)
    said = thread.hear(GUEST, asked, request_id="1")
    url = thread.wallet.schemas()[0].url
    assert upstream_errors(name, {"$schema": url, **said}) == []
    accounts = thread.wallet.documents()["accounts.json"]
    (listed,) = (one for member, one in said[answer].items() if member != "request_id")
    assert listed[0] in json.dumps(accounts)
    examples = NEAR_EXAMPLES if kind is NearWallet else EVM_EXAMPLES
    failed = thread.hear(GUEST, "request_transaction", **examples[2]["request_transaction"])
    assert failed["signature_result"]["reason"] == "unsupported"


@pytest.mark.parametrize(
    ("kind", "request_", "name"),
    [
        (NearWallet, NEAR_EXAMPLES[4], "aitp-04-near-wallet-v1.0.0.json"),
        (
            EvmWallet,
            {"request_message_signing": {**EVM_EXAMPLES[4]["request_message_signing"]}},
            "aitp-05-evm-wallet-v1.0.0.json",
        ),
    ],
)
def test_what_a_rule_allows_is_signed_in_the_published_form(
    kind: type[SignatureFamily], request_: dict[str, Any], name: str
) -> None:
    rule = {"callers": ["*"], "text": r"I am \w+\."}
    signing, asking = Wallet(kind, policy=[rule]), Wallet(kind)
    request = dict(request_["request_message_signing"])
    request.pop("address", None)
    said = signing.hear(GUEST, "request_message_signing", **request)
    assert upstream_errors(name, {"$schema": signing.wallet.schemas()[0].url, **said}) == []
    asking.hear(SHOP, "request_message_signing", **request)
    proved = asking.hear(GUEST, "message_signing_response", **said["message_signing_response"])
    assert proved["signature_result"]["account_proved"] is True


def test_missing_typed_data_is_reported() -> None:
    with pytest.raises(InvalidRequest, match="signing_type typed_data requires typed_data"):
        Wallet(EvmWallet).hear(
            SHOP, "request_message_signing", request_id="1", signing_type="typed_data"
        )


def signed_by_alice(thread: Wallet) -> list[Start]:
    """Have a message signed in the name of alice.near, and return what the chain is asked."""
    thread.hear(SHOP, "request_message_signing", request_id="3", message=MESSAGE)
    signature = sign(NearMessage("I am alice.", NONCE, "shop.near"), "nep413", 0)["signature"]
    response = {"account_id": "alice.near", "public_key": key_of(ALICE), "signature": signature}
    verdict = thread.say(GUEST, "message_signing_response", {"request_id": "3", **response})
    return [one for one in verdict.effects if isinstance(one, Start)]


FULL = {"result": {"nonce": 1, "permission": "FullAccess"}}
CALLS = {"result": {"nonce": 1, "permission": {"FunctionCall": {"receiver_id": "a.near"}}}}
OLD_NONE = {"result": {"error": "access key does not exist while viewing", "logs": []}}
NONE = {"error": {"name": "HANDLER_ERROR", "cause": {"name": "UNKNOWN_ACCESS_KEY", "info": {}}}}


@pytest.mark.parametrize(
    ("told_by_chain", "proved"),
    [(FULL, True), (CALLS, False), (OLD_NONE, False), (NONE, False), ({}, None), ([], None)],
)
async def test_the_chain_is_asked_whether_a_key_is_the_accounts(
    told_by_chain: Any, proved: bool | None
) -> None:
    thread = Wallet(NearWallet, near_rpc="https://rpc.example")
    (started,) = signed_by_alice(thread)
    asked: list[Request] = []

    async def send(request: Request) -> Response:
        asked.append(request)
        return Response(status=200, body=msgspec.json.encode(told_by_chain))

    async def read(_key: str) -> None:
        return None

    job = Job(
        ref=started.ref,
        payload=msgspec.json.decode(msgspec.json.encode(started.payload)),
        now=thread.now,
        thread_id="thread_1",
        read=read,
        send=send,
    )
    work = thread.wallet.jobs()[started.job].do
    if proved is None:
        with pytest.raises(Retry):
            await work(job)
        return
    effects = await work(job)
    assert isinstance(effects, tuple)
    (said,) = effects
    assert isinstance(said, Say)
    result = json.loads(msgspec.json.encode(said.content))["signature_result"]
    assert (result["result"] == "success") == proved == result.get("account_proved", False)
    params = json.loads(asked[0].body)["params"]
    assert (params["account_id"], params["public_key"]) == ("alice.near", key_of(ALICE))


def test_nobody_is_asked_about_accounts_where_no_server_is_named() -> None:
    assert signed_by_alice(Wallet(NearWallet)) == []
