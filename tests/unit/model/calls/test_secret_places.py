"""Finding secrets in arguments by their schema, and hiding them while they are worked with."""

from __future__ import annotations

import json
import threading
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.access.sealed_value import make_ref, sealed_as
from aitp_desk.model.calls.secret_places import (
    HIDDEN,
    change_secrets,
    has_secrets,
    is_secret,
    public_schema,
    secrets_in,
    without_secrets,
)
from aitp_desk.model.redaction import hide_secrets, redact_json, redact_text

SECRET = {"type": "string", "format": "password", "writeOnly": True}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "user": {"type": "string"},
        "password": SECRET,
        "maybe": {"anyOf": [SECRET, {"type": "null"}]},
        "card": {"$ref": "#/$defs/Card"},
        "pins": {"type": "array", "items": SECRET},
        "pair": {"prefixItems": [{"type": "string"}, SECRET]},
        "by_name": {"type": "object", "additionalProperties": SECRET},
        "whole": {"allOf": [{"type": "object", "properties": {"token": SECRET}}]},
    },
    "required": ["user", "password"],
    "$defs": {
        "Card": {
            "type": "object",
            "properties": {"number": {"type": "string", "writeOnly": True}, "name": {}},
        }
    },
}
ARGUMENTS = {
    "user": "aya",
    "password": "p-1",
    "maybe": "p-2",
    "card": {"number": "p-3", "name": "Aya"},
    "pins": ["p-4", "p-5"],
    "pair": ["first", "p-6"],
    "by_name": {"a": "p-7"},
    "whole": {"token": "p-8"},
    "unknown": {"password": "not by the schema"},
}


def test_secrets_are_found_wherever_the_schema_has_them() -> None:
    paths: dict[str, str] = {}

    def note(path: str, value: str) -> str:
        paths[path] = value
        return value.upper()

    changed = change_secrets(ARGUMENTS, SCHEMA, note)
    assert paths == {
        "password": "p-1",
        "maybe": "p-2",
        "card.number": "p-3",
        "pins[0]": "p-4",
        "pins[1]": "p-5",
        "pair[1]": "p-6",
        "by_name.a": "p-7",
        "whole.token": "p-8",
    }
    assert changed["card"] == {"number": "P-3", "name": "Aya"}
    assert ARGUMENTS["pins"] == ["p-4", "p-5"], "what was given is not touched"
    assert secrets_in(ARGUMENTS, SCHEMA) == tuple(f"p-{n}" for n in range(1, 9))
    assert without_secrets({"password": "p-1", "user": "u"}, SCHEMA) == {
        "password": HIDDEN,
        "user": "u",
    }


def test_references_are_changed_like_what_they_stand_for() -> None:
    ref = sealed_as(make_ref("call_1", "password"))
    assert change_secrets({"password": ref, "user": ref}, SCHEMA, lambda _p, _v: "open") == {
        "password": "open",
        "user": ref,
    }
    assert secrets_in({"password": ref}, SCHEMA) == ()


@pytest.mark.parametrize(
    ("schema", "is_one"),
    [
        (SECRET, True),
        ({"type": "string", "format": "password"}, True),
        ({"type": ["string", "null"], "writeOnly": True}, True),
        ({"writeOnly": True}, True),
        ({"type": "string", "writeOnly": False}, False),
        ({"type": "integer", "writeOnly": True}, False),
        ({"type": "string"}, False),
        (True, False),
    ],
)
def test_what_counts_as_a_secret(schema: Any, is_one: bool) -> None:
    assert is_secret(schema) is is_one
    assert has_secrets({"properties": {"a": {"items": schema}}}) is is_one


def test_a_model_is_shown_the_schema_without_them() -> None:
    told = public_schema(SCHEMA)
    assert sorted(told["properties"]) == ["by_name", "card", "pair", "pins", "user", "whole"]
    assert told["required"] == ["user"]
    plain = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert public_schema(plain) == plain


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(value=JSON, schema=JSON)
def test_whatever_a_schema_is_looking_never_fails_and_changes_nothing_by_itself(
    value: Any, schema: Any
) -> None:
    held = schema if isinstance(schema, dict) else {"properties": {"a": schema}}
    same = change_secrets(value, held, lambda _path, secret: secret)
    assert json.dumps(same) == json.dumps(value)
    public_schema(held)
    has_secrets(held)


def test_a_schema_that_leads_in_a_circle_is_left() -> None:
    circle: dict[str, Any] = {"properties": {"a": {"$ref": "#"}, "p": SECRET}}
    assert without_secrets({"a": {"a": {"p": "x"}}}, circle) == {"a": {"a": {"p": HIDDEN}}}
    endless = {"$ref": "#", "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert change_secrets({"a": "b"}, endless, lambda _p, _v: "c") == {"a": "b"}


def test_what_is_hidden_is_hidden_for_as_long_as_it_is_worked_with() -> None:
    secret = 'Pässword "7"'
    said = [f"I got {secret}.", f"repr {secret!r}", json.dumps({"p": secret})]
    assert [redact_text(one) for one in said] == said
    with hide_secrets([secret, "12"]):
        assert redact_text(said[0]) == f"I got {HIDDEN}."
        assert all("ssword" not in redact_text(one) for one in said)
        assert redact_text("12") == HIDDEN
        assert redact_text("128 pieces") == "128 pieces", "too short to be looked for inside"
        assert redact_json({"a": [secret, 7], secret: "x"}) == {"a": [HIDDEN, 7], HIDDEN: "x"}
        with hide_secrets(["inner secret"]):
            assert redact_text(f"inner secret of {secret}") == f"{HIDDEN} of {HIDDEN}"
        heard: list[str] = []
        context = copy_context()
        thread = threading.Thread(target=lambda: heard.append(context.run(redact_text, said[0])))
        thread.start()
        thread.join()
        assert heard == [f"I got {HIDDEN}."]
    assert redact_text(said[0]) == said[0]
