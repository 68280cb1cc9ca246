"""The messages of AITP-05: the served schema and the types say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import aitp_sign
from aitp_desk.capability import Capability, document_of
from aitp_desk.testing import CapabilityContract
from aitp_sign import Sign
from aitp_sign.messages import MESSAGES
from tests.support.access.signatures import MAIL, ORDER

SERVED = Path(aitp_sign.__file__).parent / "schemas" / "v1.json"
EVM: dict[str, Any] = {
    "to": "0x" + "35" * 20,
    "value": "0x1",
    "nonce": "0x0",
    "gas": "0x5208",
    "gasPrice": "0x1",
}
NEAR: dict[str, Any] = {
    "signer_id": "alice.near",
    "public_key": "ed25519:2RM3EotCzEiVobm6aMjaup43k8cFffR4KHFtrqbZ79Qy",
    "nonce": 1,
    "receiver_id": "shop.near",
    "block_hash": "2RM3EotCzEiVobm6aMjaup43k8cFffR4KHFtrqbZ79Qy",
    "actions": [{"type": "Transfer", "params": {"deposit": "1"}}],
}
EXAMPLES: list[dict[str, Any]] = [
    {"request_signature": ORDER},
    {"request_signature": {"id": "mail", "typed_data": MAIL, "schemes": ["eip712"]}},
    {"request_signature": {"id": "near", "near_transaction": NEAR}},
    {"request_signature": {"id": "evm", "evm_transaction": {"evm": EVM, "chain_id": 1}}},
    {"signature": {"request_id": "order-7", "scheme": "ed25519", "signature": "AA"}},
    {"signature_declined": {"request_id": "order-7", "note": "Too dear."}},
    {"approve_signature": {"request_id": "order-7", "agree": True}},
    {"signature_result": {"request_id": "order-7", "result": "success", "scheme": "jws"}},
    {"signature_result": {"request_id": "order-7", "result": "failure", "reason": "declined"}},
]


class TestSign(CapabilityContract):
    capability: ClassVar[type[Capability]] = Sign
    chosen: ClassVar[Mapping[str, Any]] = {"otherwise": "nobody"}
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {1: EXAMPLES}


class TestSignByPeople(TestSign):
    chosen: ClassVar[Mapping[str, Any]] = {}


def test_the_served_schema_is_what_the_types_say() -> None:
    """After a change of the types, write it again: document_of(MESSAGES, title), two spaces."""
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    assert served == json.loads(json.dumps(document_of(MESSAGES, served["title"])))


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"callers": ["*"]}, "allows nothing"),
        ({"callers": ["*"], "text": "("}, "is not a valid pattern"),
        ({"callers": ["*"], "text": r"(?u)\d"}, "is not a valid pattern"),
    ],
)
def test_a_rule_that_allows_nothing_is_a_slip(rule: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Sign(msgspec.convert({"policy": [rule]}, Sign.settings))
