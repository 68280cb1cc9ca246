"""Requests as forms: what fits the form is a decision, and nothing else is."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import InvalidRequest
from aitp_requests.choices import choices_of
from aitp_requests.forms import decision_by, form_of
from aitp_requests.messages import Kind, Option, RequestDecision
from aitp_requests.rules import settle_options
from tests.support.plugins.decisions import REQUESTS, TENTS, read

PLAIN = {"string", "integer", "number", "boolean"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def requests(draw: st.DrawFn) -> RequestDecision:
    """Any request."""
    ids = draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True))
    kind: Kind = draw(st.sampled_from(["radio", "confirmation", "checkbox", "products"]))
    return RequestDecision("r", tuple(Option(id, draw(st.text())) for id in ids), type=kind)


@given(requests(), st.data())
def test_what_fits_the_form_is_a_decision_that_fits_the_request(
    request: RequestDecision, data: st.DataObject
) -> None:
    ids = [choice.id for choice in choices_of(request)]
    chosen = st.lists(st.sampled_from(ids), min_size=1, unique=True)
    filled: dict[str, Any]
    match request.type:
        case "products":
            filled = {id: data.draw(st.integers(1, 9)) for id in data.draw(chosen)}
        case "checkbox":
            filled = {"choices": data.draw(chosen)}
        case _:
            filled = {"choice": data.draw(st.sampled_from(ids))}
    assert jsonschema_rs.validator_for(form_of(request)).is_valid(filled)
    decision = decision_by(request, filled)
    assert decision.request_decision_id == "r"
    assert len(settle_options(request, decision.options)) == len(decision.options)


@given(requests(), st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_whatever_is_filled_in_is_a_decision_or_refused(
    request: RequestDecision, filled: dict[str, Any]
) -> None:
    try:
        chosen = decision_by(request, filled).options
    except InvalidRequest:
        chosen = ()
    assert len(chosen) <= max(len(filled), len(request.options))


@pytest.mark.parametrize("asked", REQUESTS)
def test_a_forms_members_are_plain(asked: dict[str, Any]) -> None:
    form = form_of(read(asked))
    assert form["type"] == "object"
    for member in form["properties"].values():
        is_list = member["type"] == "array" and "anyOf" in member["items"]
        assert is_list or member["type"] in PLAIN


def test_of_products_each_is_a_member_that_says_what_it_is() -> None:
    members = form_of(read(TENTS))["properties"]
    assert {name: member["title"] for name, member in members.items()} == {
        "ridge": "Ridge (349.00 USD): Light.",
        "ridge-green": "Ridge – green (359.50 USD)",
        "ridge-red": "Ridge in red",
        "cove": "Cove (199.99 USD)",
    }
    assert members["cove"]["minimum"] == members["cove"]["default"] == 0
