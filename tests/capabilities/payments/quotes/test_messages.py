"""The messages of AITP-01: the published schemas, the served ones and the types say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import aitp_payments
from aitp_desk.capability import Capability, document_of
from aitp_desk.testing import CapabilityContract
from aitp_payments.messages import aitp01 as messages
from aitp_payments.messages import draft
from aitp_payments.messages import site as own_messages
from aitp_payments.messages.aitp01 import PUBLISHED, Quote
from aitp_payments.messages.draft import DRAFT, DraftQuote
from tests.support.payments.quotes import AITP, DRAFTED, OWN, upstream_errors

SCHEMAS = Path(aitp_payments.__file__).parent / "schemas"


class TestPayments(CapabilityContract):
    """The contract of all capabilities."""

    capability: ClassVar[type[Capability]] = aitp_payments.Payments
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {0: [*AITP, *DRAFTED], 1: OWN}
    answers: ClassVar[Sequence[str]] = (*CapabilityContract.answers, "pay", "no")


def published() -> dict[str, Any]:
    """What the types of AITP-01 and its draft say; both have a quote."""
    named = messages.MESSAGES | draft.MESSAGES
    document = document_of(
        {**named, "quote": Quote, "drafted": DraftQuote}, "AITP-01: payments, and its earlier draft"
    )
    document["properties"]["quote"] = {
        "anyOf": [document["properties"]["quote"], document["properties"].pop("drafted")]
    }
    document["oneOf"].remove({"required": ["drafted"]})
    return document


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("v0.json", published()),
        ("v1.json", document_of(own_messages.MESSAGES, "Payments: AITP-01, and what is paid else")),
    ],
)
def test_the_served_schemas_are_what_the_types_say(name: str, document: dict[str, Any]) -> None:
    """After a change of the types, write them again as here, with two spaces."""
    served = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    assert served == json.loads(json.dumps(document))


@pytest.mark.parametrize(
    ("url", "example"),
    [(PUBLISHED, one) for one in AITP] + [(DRAFT, one) for one in DRAFTED],
    ids=lambda one: str(one)[:40],
)
def test_every_example_is_valid_upstream_as_it_comes_and_as_it_is_sent(
    url: str, example: dict[str, Any]
) -> None:
    ((key, given),) = example.items()
    types = messages.MESSAGES | {"quote": Quote} if url == PUBLISHED else draft.MESSAGES
    kind = types.get(key, DraftQuote)
    assert upstream_errors({"$schema": url, key: given}) == []
    sent = json.loads(msgspec.json.encode(msgspec.convert(given, kind)))
    assert upstream_errors({"$schema": url, key: sent}) == []
