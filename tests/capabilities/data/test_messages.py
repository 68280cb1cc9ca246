"""The messages of AITP-03: the published schemas, the served one and the types say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import aitp_data
from aitp_data.messages import MESSAGES, Data, RequestData
from aitp_desk.capability import Capability, document_of
from aitp_desk.testing import CapabilityContract
from tests.support.plugins.forms import (
    ENCRYPTED,
    HOSTED,
    MAIL,
    PUBLISHED,
    REPLIES,
    REQUESTS,
    upstream_errors,
)

SERVED = Path(aitp_data.__file__).parent / "schemas" / "v1.json"
EXAMPLES: list[dict[str, Any]] = [
    *({"request_data": one} for one in REQUESTS),
    *({"data": one} for one in REPLIES),
]


class TestData(CapabilityContract):
    """The contract of all capabilities."""

    capability: ClassVar[type[Capability]] = aitp_data.DataRequests
    # a form by its address is taken of callers who are known, which the contract's guest is not
    examples: ClassVar[Mapping[int, Sequence[Mapping[str, Any]]]] = {
        0: [
            {
                "rejected_data": {
                    "reason": "expired",
                    "message": "It was not answered in time.",
                    "fields": [{"id": "name", "value": "Ada"}],
                    "request_data_id": "address",
                }
            }
        ],
        1: [one for one in EXAMPLES if one.get("request_data") != HOSTED],
    }
    answers: ClassVar[Sequence[str]] = (*CapabilityContract.answers, "Name: Ada", "the same")


def test_the_served_schema_is_what_the_types_say() -> None:
    """After a change of the types, write it again: document_of(MESSAGES, title), two spaces."""
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    assert served == json.loads(json.dumps(document_of(MESSAGES, served["title"])))


def test_every_example_is_valid_upstream_as_it_comes_and_as_it_is_sent(
    subtests: pytest.Subtests,
) -> None:
    drafts: list[str] = ["v1.0.0", "encrypted"]
    for example in EXAMPLES:
        for draft in drafts:
            with subtests.test(draft=draft, example=example):
                ((key, given),) = example.items()
                sent = json.loads(msgspec.json.encode(msgspec.convert(given, MESSAGES[key])))
                assert upstream_errors({"$schema": PUBLISHED, **example}, draft) == []
                assert upstream_errors({"$schema": PUBLISHED, key: sent}, draft) == []


def mail(**changed: Any) -> dict[str, Any]:
    return MAIL | {"form": {"fields": [MAIL["form"]["fields"][0] | changed]}}


WRONG: list[tuple[type[msgspec.Struct], dict[str, Any], str]] = [
    (Data, {}, "fields"),
    (Data, {"fields": []}, "$.fields"),
    (Data, {"fields": [{"value": "x"}]}, "id"),
    (Data, {"fields": [{"id": "a", "value": 7}]}, "$.fields[0].value"),
    (RequestData, {"id": "a", "description": ""}, "form"),
    (RequestData, {"id": "a", "form": {}}, "description"),
    (RequestData, {"description": "", "form": {}}, "id"),
    (RequestData, MAIL | {"form": {"fields": []}}, "$.form.fields"),
    (RequestData, mail(type="password"), "$.form.fields[0].type"),
    (RequestData, mail(options=[1]), "$.form.fields[0].options[0]"),
    (RequestData, mail(required="yes"), "$.form.fields[0].required"),
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


@pytest.mark.parametrize(
    "changed",
    [{"algorithm": "RSA"}, {"iv": None}, {"cipher": "x"}],
    ids=["another algorithm", "no nonce", "unknown member"],
)
def test_what_the_draft_refuses_of_an_encrypted_value_is_refused(changed: dict[str, Any]) -> None:
    whole = msgspec.to_builtins(ENCRYPTED)["encryption"] | changed
    encryption = {name: value for name, value in whole.items() if value is not None}
    given = {"fields": [ENCRYPTED | {"encryption": encryption}]}
    assert upstream_errors({"$schema": PUBLISHED, "data": given}, "encrypted")
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, Data)


NARROWER: list[dict[str, Any]] = [
    mail(id=""),
    mail(id="x" * 201),
    mail(options=["x"] * 301),
    MAIL | {"form": {"fields": [{"id": str(number)} for number in range(51)]}},
    MAIL | {"form": {"json_url": "javascript:alert(1)"}},
    MAIL | {"description": "x" * 4001},
]


@pytest.mark.parametrize("given", NARROWER, ids=lambda value: str(value)[:50])
def test_what_is_narrower_than_the_published_schema(given: dict[str, Any]) -> None:
    assert upstream_errors({"$schema": PUBLISHED, "request_data": given}) == []
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, RequestData)
