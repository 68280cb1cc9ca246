"""The messages of AITP-02: the published schema, the served one and the types say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import aitp_requests
from aitp_desk.capability import Capability, document_of
from aitp_desk.testing import CapabilityContract
from aitp_requests.messages import MESSAGES, Decision, RequestDecision
from tests.support.plugins.decisions import (
    DECISIONS,
    PUBLISHED,
    REQUESTS,
    SIZE,
    quote,
    upstream_errors,
)

SERVED = Path(aitp_requests.__file__).parent / "schemas" / "v1.json"
EXAMPLES: list[dict[str, Any]] = [
    *({"request_decision": one} for one in REQUESTS),
    *({"decision": one} for one in DECISIONS),
]


class TestRequests(CapabilityContract):
    """The contract of all capabilities."""

    capability: ClassVar[type[Capability]] = aitp_requests.Requests
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {
        0: [
            {
                "rejected_decision": {
                    "reason": "answered",
                    "message": "It was answered before.",
                    "options": [{"id": "s"}],
                    "request_decision_id": "size",
                }
            }
        ],
        1: EXAMPLES,
    }
    answers: ClassVar[Sequence[str]] = (*CapabilityContract.answers, "the first one, two of them")


def test_the_served_schema_is_what_the_types_say() -> None:
    """After a change of the types, write it again: document_of(MESSAGES, title), two spaces."""
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    assert served == json.loads(json.dumps(document_of(MESSAGES, served["title"])))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example)[:40])
def test_every_example_is_valid_upstream_as_it_comes_and_as_it_is_sent(
    example: dict[str, Any],
) -> None:
    ((key, given),) = example.items()
    sent = json.loads(msgspec.json.encode(msgspec.convert(given, MESSAGES[key])))
    assert upstream_errors({"$schema": PUBLISHED, **example}) == []
    assert upstream_errors({"$schema": PUBLISHED, key: sent}) == []


WRONG: list[tuple[type[msgspec.Struct], dict[str, Any], str]] = [
    (Decision, {"options": []}, "$.options"),
    (Decision, {}, "options"),
    (Decision, {"options": [{"name": "S"}]}, "id"),
    (Decision, {"options": [{"id": "s", "colour": "red"}]}, "colour"),
    (Decision, {"options": [{"id": "s", "quantity": "2"}]}, "quantity"),
    (RequestDecision, {"options": [{"id": "s"}]}, "id"),
    (RequestDecision, {"id": "q", "options": []}, "$.options"),
    (RequestDecision, SIZE | {"type": "product"}, "$.type"),
    (RequestDecision, SIZE | {"options": [{"id": 1}]}, "$.options[0].id"),
    (
        RequestDecision,
        SIZE | {"options": [{"id": "a", "five_star_rating": 5.5}]},
        "$.options[0].five_star_rating",
    ),
    (
        RequestDecision,
        SIZE | {"options": [{"id": "a", "quote": quote(1) | {"type": "Price"}}]},
        "$.options[0].quote.type",
    ),
]


@pytest.mark.parametrize(("kind", "given", "path"), WRONG, ids=lambda value: str(value)[:50])
def test_what_the_published_schema_refuses_is_refused_with_its_path(
    kind: type[msgspec.Struct], given: dict[str, Any], path: str
) -> None:
    key = next(key for key, type_ in MESSAGES.items() if type_ is kind)
    assert upstream_errors({"$schema": PUBLISHED, key: given})
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(given, kind)
    assert path in str(refused.value)


NARROWER: list[dict[str, Any]] = [
    SIZE | {"options": [{"id": "a", "url": "javascript:alert(1)"}]},
    SIZE | {"options": [{"id": "a", "quote": quote(-1)}]},
    SIZE | {"options": [{"id": str(number)} for number in range(51)]},
    SIZE | {"title": "x" * 4001},
]


@pytest.mark.parametrize("given", NARROWER, ids=lambda value: str(value)[:50])
def test_what_is_narrower_than_the_published_schema(given: dict[str, Any]) -> None:
    assert upstream_errors({"$schema": PUBLISHED, "request_decision": given}) == []
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, RequestDecision)


def test_a_moment_without_a_zone_is_none() -> None:
    given = SIZE | {"options": [{"id": "a", "quote": quote(1, "2050-01-01T00:00:00")}]}
    with pytest.raises(msgspec.ValidationError, match="valid_until"):
        msgspec.convert(given, RequestDecision)
