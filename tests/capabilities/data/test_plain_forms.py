"""Forms as JSON Schema: what fits is a reply, and nothing else is."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_data.json_schema_forms import data_by, form_of
from aitp_data.messages import Data, FormField
from aitp_desk.capability import InvalidRequest, MissingField
from tests.support.plugins.forms import ADDRESS

FIELDS = tuple(msgspec.convert(one, FormField) for one in ADDRESS["form"]["fields"])
SECRET = (FormField("card", "Card", autocomplete="cc-number"), FormField("pin", sensitive=True))
FILLED = {"name": "Ada", "street": "1 Long Lane", "zip": "10115"}
JSON = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


def refusal(filled: dict[str, Any]) -> tuple[type[Exception], str | None]:
    with pytest.raises(InvalidRequest) as refused:
        data_by("r", FIELDS, filled)
    return type(refused.value), refused.value.param


def test_each_field_is_a_member_that_says_what_it_takes() -> None:
    form = form_of(FIELDS)
    assert form["required"] == ["name", "street", "zip"]
    members = form["properties"]
    assert members["email"] == {"type": "string", "title": "E-mail", "format": "email"}
    assert members["speed"] == {
        "type": "string",
        "title": "How fast",
        "enum": ["Standard", "Express"],
        "default": "Standard",
    }
    assert members["colour"]["description"] == "Of the bag."
    assert members["count"]["type"] == "number"
    for member in form_of(SECRET)["properties"].values():
        assert (member["writeOnly"], member["format"]) == (True, "password")


def test_what_is_filled_in_is_a_reply() -> None:
    filled = {**FILLED, "count": 2, "phone": ""}
    assert jsonschema_rs.validator_for(form_of(FIELDS)).is_valid(filled)
    reply = data_by("r", FIELDS, filled)
    assert reply.request_data_id == "r"
    assert {one.id: one.value for one in reply.fields} == {**FILLED, "count": "2"}
    (half,) = data_by("r", FIELDS, {"count": 0.5}).fields
    assert half.value == "0.5"


def test_what_fits_no_field_is_refused_with_its_member() -> None:
    assert refusal({}) == (MissingField, None)
    assert refusal({"name": ""}) == (MissingField, None)
    assert refusal({"nickname": "A"}) == (InvalidRequest, "nickname")
    assert refusal({"name": 7}) == (InvalidRequest, "name")
    assert refusal({"count": True}) == (InvalidRequest, "count")


@given(st.dictionaries(st.sampled_from([one.id for one in FIELDS]) | st.text(), JSON, max_size=4))
def test_whatever_is_filled_in_is_a_reply_or_refused(filled: dict[str, Any]) -> None:
    reply: Data | None = None
    try:
        reply = data_by("r", FIELDS, filled)
    except InvalidRequest:
        assert set(filled.values()) - {""} or not any(filled.values())
    else:
        assert {one.id for one in reply.fields} <= set(filled)
