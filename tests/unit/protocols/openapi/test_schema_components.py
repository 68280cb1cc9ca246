"""Schemas of declarations within an OpenAPI document: what they say is the same there."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aitp_desk.model.money import Money
from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.openapi.schema_components import (
    list_shapes,
    make_property,
    object_schemas,
)
from aitp_desk.protocols.openapi.wire import render_error

NAMES = st.sampled_from(
    ["Money", "Page[Order]", "a/b", "a~b", "%25", "é", "enum", "$id", "default", "x_", "x-"]
)
KINDS = st.sampled_from(["string", "integer", "boolean"])
VALUES = st.one_of(st.text(max_size=3), st.integers(), st.booleans(), st.none())


def escaped(name: str) -> str:
    """A name in a reference (RFC 6901, section 6)."""
    pointer = name.replace("~", "~0").replace("/", "~1")
    return (
        pointer.replace("%", "%25").replace("[", "%5B").replace("]", "%5D").replace("é", "%C3%A9")
    )


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A schema whose members refer to its definitions, which refer to each other and to it."""
    defined = draw(st.lists(NAMES, unique=True, min_size=1, max_size=3))
    refs = st.sampled_from([{"$ref": f"#/$defs/{escaped(name)}"} for name in defined])
    leaf = st.builds(lambda kind: {"type": kind}, KINDS)
    part = st.one_of(leaf, refs, st.just({"$ref": "#"}))
    members = st.dictionaries(NAMES, part, max_size=3)
    objects = st.builds(lambda found: {"type": "object", "properties": found}, members)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://shop.example/order",
        "type": "object",
        "properties": draw(members),
        "$defs": {name: draw(st.one_of(leaf, objects)) for name in defined},
    }


@given(schemas(), st.recursive(VALUES, lambda v: st.dictionaries(NAMES, v, max_size=3)))
def test_the_same_values_are_valid_there(schema: dict[str, Any], value: Any) -> None:
    shapes = list_shapes(schema, "order.result")
    document = {"$ref": "#/components/schemas/order.result", "components": {"schemas": shapes}}
    there = Draft202012Validator(document).is_valid(value)
    assert there == Draft202012Validator(schema).is_valid(value)
    assert len(shapes) == 1 + len(schema["$defs"])


@given(schemas())
def test_nothing_within_a_shape_is_referred_to(schema: dict[str, Any]) -> None:
    shapes = list_shapes(schema, "order.result")
    for name in shapes:
        assert all(sign.isascii() and (sign.isalnum() or sign in "._-") for sign in name)
    stack: list[Any] = list(shapes.values())
    while stack:
        it = stack.pop()
        if isinstance(it, dict):
            if isinstance(it.get("$ref"), str):
                assert it["$ref"].removeprefix("#/components/schemas/") in shapes
            stack += it.values()


def test_a_part_refers_to_the_shapes_of_the_whole() -> None:
    schema = {
        "properties": {"store": {"$ref": "#/$defs/Store"}},
        "$defs": {"Store": {"enum": ["Portland"]}},
    }
    part = make_property(schema, "store", "visit.path")
    assert part == {"$ref": "#/components/schemas/visit.path.Store"}


def test_a_reference_into_a_definition_stays_there() -> None:
    schema = {
        "properties": {"cost": {"$ref": "#/$defs/Money/properties/amount"}},
        "$defs": {"Money": {"properties": {"amount": {"type": "string"}}}},
    }
    shapes = list_shapes(schema, "quote.result")
    cost = shapes["quote.result"]["properties"]["cost"]
    assert cost == {"$ref": "#/components/schemas/quote.result.Money/properties/amount"}


def test_values_are_left_as_they_are() -> None:
    value = {"$ref": "#/nowhere", "$id": "7"}
    schema = {"properties": {"enum": {"default": value, "enum": [value]}}}
    assert list_shapes(schema, "a.result") == {"a.result": schema}


class Parcel(msgspec.Struct):
    """A parcel on its way.

    Parameters:
        weight, height: of the parcel
            with its wrapping.
        sender: who has sent it.
    """

    weight: int
    height: int | None
    sender: Money


def test_a_docstring_describes_a_struct_and_its_members() -> None:
    protocol = ProtocolRoutes("post", (), (), render_error, objects=(Parcel, Money))
    described = object_schemas([protocol, protocol])
    assert described.keys() == {"Parcel", "Money"}
    parcel = described["Parcel"]
    assert parcel["description"] == "A parcel on its way."
    told = {name: one.get("description") for name, one in parcel["properties"].items()}
    assert told == {
        "weight": "Of the parcel with its wrapping.",
        "height": "Of the parcel with its wrapping.",
        "sender": "Who has sent it.",
    }
    assert parcel["properties"]["sender"]["$ref"] == "#/components/schemas/Money"
    assert parcel["required"] == ["weight", "height", "sender"]
