"""x402 over the protocols, held against the types of its own package: headers, bodies, payloads."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.base.payments import x402_wire
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.protocols.openapi.wire import render_error
from tests.support.payments.methods import REQUIREMENT, TERMS, unpaid

URL = "https://desk.example/capabilities/weather"
SIGNED = {
    "signature": "0x" + "2d" * 65,
    "authorization": {
        "from": "0x857b06519E91e3A54538791bDbb0E22373e36b66",
        "to": REQUIREMENT["payTo"],
        "value": "250000",
        "validAfter": "0",
        "validBefore": "1800000000",
        "nonce": "0x" + "f3" * 32,
    },
}
WHOLE: dict[str, Any] = {"x402Version": 2, "payload": SIGNED, "accepted": REQUIREMENT}


def refusal() -> Reply:
    """The refusal of a call by plain JSON, as the dispatcher sends it."""
    return x402_wire.with_requirements(render_error(unpaid(), {}), unpaid(), URL)


def test_the_header_says_what_has_to_be_paid_as_version_2_reads_it() -> None:
    from x402.http.utils import decode_payment_required_header
    from x402.schemas import PaymentRequired

    read = decode_payment_required_header(dict(refusal().headers)["PAYMENT-REQUIRED"])
    assert isinstance(read, PaymentRequired)
    assert read.resource is not None
    assert (read.resource.url, read.resource.description) == (URL, "Tomorrow's weather.")
    assert read.error == "weather costs 0.25 USD, to be paid first."
    assert [one.model_dump(by_alias=True) for one in read.accepts] == [REQUIREMENT]


def test_the_body_says_it_as_version_1_reads_it_and_is_a_problem_still() -> None:
    from x402.schemas.v1 import PaymentRequiredV1

    body = json.loads(refusal().body)
    read = PaymentRequiredV1.model_validate(body)
    (one,) = read.accepts
    assert (one.network, one.max_amount_required) == ("base-sepolia", "250000")
    assert (one.resource, one.pay_to) == (URL, REQUIREMENT["payTo"])
    assert (body["status"], body["code"]) == (402, "payment_required")
    assert body["payment"]["quote_id"] == "quote_1"


def test_a_network_without_a_name_in_version_1_is_offered_in_version_2_alone() -> None:
    terms = msgspec.structs.replace(TERMS, x402=({**REQUIREMENT, "network": "eip155:31337"},))
    error = unpaid()
    error.terms = terms
    reply = x402_wire.with_requirements(render_error(error, {}), error, URL)
    assert "PAYMENT-REQUIRED" in dict(reply.headers)
    assert "x402Version" not in json.loads(reply.body)


def test_what_cannot_be_paid_by_x402_says_nothing_of_it() -> None:
    error = unpaid()
    error.terms = msgspec.structs.replace(TERMS, x402=())
    plain = render_error(error, {})
    assert x402_wire.with_requirements(plain, error, URL) == plain
    error.terms = None
    assert x402_wire.with_requirements(plain, error, URL) == plain


def test_payments_that_its_package_writes_are_read_as_they_are() -> None:
    from x402.http.utils import encode_payment_signature_header
    from x402.schemas import PaymentPayload, PaymentRequirements
    from x402.schemas.v1 import PaymentPayloadV1

    accepted = PaymentRequirements.model_validate(REQUIREMENT)
    v2 = PaymentPayload(payload=SIGNED, accepted=accepted)
    v1 = PaymentPayloadV1(scheme="exact", network="base-sepolia", payload=SIGNED)
    for name, payload in (("payment-signature", v2), ("X-Payment", v1)):
        header = encode_payment_signature_header(payload)
        read = x402_wire.read_headers(CIMultiDict({name: header}))
        assert read == {"x402_payment": {"payload": json.loads(b64decode(header))}}


def test_a_request_without_such_headers_pays_nothing() -> None:
    assert x402_wire.read_headers(CIMultiDict({"Content-Type": "application/json"})) is None


def encoded(payload: Any) -> str:
    return b64encode(json.dumps(payload).encode()).decode()


def test_what_is_no_payment_is_refused_and_the_header_named(subtests: pytest.Subtests) -> None:
    names: list[str] = ["PAYMENT-SIGNATURE", "X-PAYMENT"]
    values: list[str] = [
        "",
        "no base64!",
        "é",
        encoded(WHOLE)[:-5],
        b64encode(b"{").decode(),
        b64encode(b'{"x402Version": 2, "x402Version": 2}').decode(),
        b64encode(b"[" * 40 + b"]" * 40).decode(),
        encoded([]),
        encoded("x402"),
        encoded({}),
        encoded({**WHOLE, "x402Version": 3}),
        encoded({**WHOLE, "x402Version": True}),
        encoded({**WHOLE, "x402Version": "2"}),
        encoded({**WHOLE, "payload": "signed"}),
        encoded({**WHOLE, "accepted": [REQUIREMENT]}),
        encoded({"x402Version": 1, "scheme": "exact", "payload": SIGNED}),
        encoded({**WHOLE, "payload": {"signature": "0" * 9000}}),
    ]
    for name in names:
        for value in values:
            with subtests.test(value=value, name=name):
                with pytest.raises(InvalidRequest) as refused:
                    x402_wire.read_headers(CIMultiDict({name: value}))
                assert refused.value.param == name


def test_a_request_pays_once() -> None:
    for headers in (
        CIMultiDict([("PAYMENT-SIGNATURE", encoded(WHOLE))] * 2),
        CIMultiDict({"PAYMENT-SIGNATURE": encoded(WHOLE), "X-PAYMENT": encoded(WHOLE)}),
    ):
        with pytest.raises(InvalidRequest, match="may have only one"):
            x402_wire.read_headers(headers)


@given(st.text() | st.binary().map(lambda raw: b64encode(raw).decode()))
def test_whatever_stands_in_a_header_is_read_or_refused(value: str) -> None:
    with suppress(InvalidRequest):
        assert x402_wire.read_headers(CIMultiDict({"PAYMENT-SIGNATURE": value})) is not None


def test_the_outcome_of_a_payment_is_rendered_in_both_versions() -> None:
    from x402.http.utils import decode_payment_response_header

    receipt = {
        "success": True,
        "transaction": "0x12",
        "network": "eip155:84532",
        "payer": SIGNED["authorization"]["from"],  # type: ignore[index]
    }
    headers = dict(x402_wire.make_response_headers(receipt))
    assert headers.keys() == {"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"}
    for value in headers.values():
        read = decode_payment_response_header(value)
        assert (read.success, read.transaction) == (True, "0x12")
    assert x402_wire.make_response_headers(None) == ()
