"""An action with any schema is rendered as a request that breaks no rule of HAC."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from aitp_desk.http.hac.representation import write_affordances
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.base.action_affordances import make_call_affordance
from aitp_desk.protocols.hac import Context, wrap
from aitp_desk.protocols.hac.linter import check_document


class _Desk:
    """As much of a desk as matters here."""

    class direct_calls:  # noqa: N801 -- the attribute of a desk
        requires_intent = False

    base_path = ""


DESK: Any = _Desk()
_WORDS = st.sampled_from(["", "a", "b", "it costs 5 EUR", "two\nlines"])
_VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "b"])
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", "x"])
_PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "type": _TYPES | st.lists(_TYPES, max_size=3),
        "description": _WORDS,
        "enum": st.lists(_VALUES, max_size=3),
        "const": _VALUES,
        "default": _VALUES,
        "minimum": st.integers(-9, 9),
        "pattern": _WORDS,
        "$ref": st.sampled_from(["#/$defs/A", "#/$defs/none", "#", "elsewhere"]),
    },
)
SCHEMAS = st.recursive(
    _PLAIN | st.booleans(),
    lambda inner: st.fixed_dictionaries(
        {}, optional={key: st.lists(inner, max_size=2) for key in ("anyOf", "oneOf", "allOf")}
    ),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c_d"]), SCHEMAS, max_size=3),
    st.lists(st.sampled_from(["a", "b"]), unique=True),
    SCHEMAS,
    st.dictionaries(st.sampled_from(["a", "b"]), _VALUES, max_size=1),
)
def test_any_schema_is_rendered_as_fields(
    members: dict[str, Any], required: list[str], shared: Any, known: dict[str, Any]
) -> None:
    schema = {"properties": members, "required": required, "$defs": {"A": shared}}
    action = Action("do_it", "Does it.", kind="action", input_schema=schema)
    (told,) = write_affordances((make_call_affordance(DESK, action, known=known),))
    assert (told.rel, told.href) == ("do-it", "/capabilities/do_it")
    assert [field.name for field in told.fields] == [*members, "_intent"]
    written = wrap(b"null", Context(description="It.", actions=(told,)))
    assert list(check_document(written)) == []


@pytest.mark.parametrize(
    ("schema", "kind", "values"),
    [
        ({"type": ["null", "integer"]}, "integer", ()),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, "number", ()),
        ({"enum": ["a", None]}, "string", ("a",)),
        ({"const": 7}, "integer", ()),
        ({"$ref": "#/$defs/Line"}, "object", ()),
        ({"allOf": [{"$ref": "#/$defs/Line"}]}, "object", ()),
        ({"properties": {}}, "object", ()),
        ({}, "string", ()),
        (True, "string", ()),
    ],
)
def test_the_type_of_a_field_is_that_of_its_values(
    schema: Any, kind: str, values: tuple[Any, ...]
) -> None:
    whole = {"properties": {"a": schema}, "$defs": {"Line": {"type": "object"}}}
    action = Action("do_it", "Does it.", input_schema=whole)
    (taken,) = make_call_affordance(DESK, action).takes
    assert (taken.kind, taken.values) == (kind, values)


@pytest.mark.requirement("HAC-4.3-1")
def test_a_field_tells_its_bounds_in_words_and_its_default_as_a_value() -> None:
    members = {
        "a": {"type": "string", "minLength": 1, "maxLength": 80},
        "b": {"type": "integer", "minimum": 2, "default": 7},
        "c": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "d": {"type": "array", "maxItems": 1, "default": []},
        "e": {"type": "integer", "default": "of another type"},
        "f": {"type": "boolean", "default": False},
    }
    action = Action("do_it", "Does it.", kind="action", input_schema={"properties": members})
    (told,) = write_affordances((make_call_affordance(DESK, action),))
    fields = {one.name: (one.description, one.default) for one in told.fields}
    assert fields["a"] == ("at least 1 character, at most 80 characters", UNSET)
    assert fields["b"] == ("at least 2", 7)
    assert fields["c"] == ("", UNSET)
    assert fields["d"] == ("at most 1 item", [])
    assert fields["e"] == ('"of another type" if it is left out', UNSET)
    assert fields["f"] == ("", False)


def test_what_is_known_ahead_is_written_once() -> None:
    action = Action("do_it", "Does it.", kind="action")
    again = Action("do_it", "Does it otherwise.", kind="action")
    told = make_call_affordance(DESK, action)
    assert make_call_affordance(DESK, action) is told
    assert next(write_affordances((told,))) is next(write_affordances((told,)))
    assert "otherwise" in make_call_affordance(DESK, again).description
    assert make_call_affordance(DESK, again, known={"a": 1}) is not make_call_affordance(
        DESK, again, known={"a": 1}
    )
