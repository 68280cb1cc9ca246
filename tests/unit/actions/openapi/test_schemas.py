"""What an OpenAPI file says an operation takes and gives, as JSON Schema that stands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from aitp_desk.actions.base import OfferedAction
from aitp_desk.model.errors import InvalidRequest, MissingField
from tests.support.doubles.openapi_service import answering, document, only, parameter, taking


def member(folder: Path, schema: Any, version: str = "3.0.3", **more: Any) -> Any:
    """The schema that a member ``it`` of the answer comes to."""
    answer = answering({"type": "object", "properties": {"it": schema}})
    offered = only(folder, document({"responses": answer}, openapi=version, **more))
    whole = offered.action.output_schema or {}
    Draft202012Validator.check_schema(whole)
    return whole["properties"]["it"]


def refusal(offered: OfferedAction, **arguments: Any) -> tuple[str, str | None]:
    """Why arguments are refused, and the path."""
    with pytest.raises(InvalidRequest) as refused:
        offered.read(arguments)
    return refused.value.message, refused.value.param


NULL = {"type": "null"}
ODD = [
    # what 3.0 says in its own way
    ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, NULL]}),
    (
        {"type": "string", "nullable": True, "enum": ["a"], "description": "Which."},
        {"description": "Which.", "enum": ["a", None]},
    ),
    (
        {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9},
        {"type": "integer", "exclusiveMinimum": 0, "maximum": 9},
    ),
    (
        {"type": "integer", "minimum": 0, "exclusiveMinimum": False},
        {"type": "integer", "minimum": 0},
    ),
    # what 3.1 says in JSON Schema's
    (
        {"type": ["string", "null"], "maxLength": 3},
        {"anyOf": [{"type": "string", "maxLength": 3}, NULL]},
    ),
    ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    ({"type": ["string", "null"], "enum": ["a", None]}, {"enum": ["a", None]}),
    ({"type": ["string", None]}, {"anyOf": [{"type": "string"}, NULL]}),
    ({"type": ["string"], "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
    ({"const": "a"}, {"const": "a"}),
    (True, {}),
    ({}, {}),
    # what says nothing of a value is left out
    ({"type": "string", "example": "x", "xml": {"name": "y"}, "x-own": 1}, {"type": "string"}),
    (
        {"type": "string", "title": "It", "default": "x"},
        {"type": "string", "title": "It", "default": "x"},
    ),
    (
        {"type": "array", "items": {"type": "string", "nullable": True}},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, NULL]}},
    ),
]


@pytest.mark.parametrize(("said", "comes_to"), ODD)
def test_schemas_come_out_plain(tmp_path: Path, said: Any, comes_to: Any) -> None:
    assert member(tmp_path, said) == comes_to


def test_what_is_referred_to_is_in_the_schema(tmp_path: Path) -> None:
    components = {
        "schemas": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
                },
                "required": ["name"],
            },
            "odd/name~": {"type": "integer"},
        }
    }
    refs = {"$ref": "#/components/schemas/Tree"}, {"$ref": "#/components/schemas/odd~1name~0"}
    properties = dict(zip(("tree", "odd"), refs, strict=True))
    file = document(
        {"method": "post", "requestBody": taking({"type": "object", "properties": properties})},
        components=components,
    )
    offered = only(tmp_path, file)
    assert set(offered.action.input_schema["$defs"]) == {"Tree", "odd_1name_0"}
    offered.read({"tree": {"name": "a", "parts": [{"name": "b", "parts": []}]}, "odd": 3})
    assert refusal(offered, tree={"name": "a", "parts": [{"parts": []}]}) == (
        "The member 'tree.parts[0].name' is required; it must be text.",
        "tree.parts[0].name",
    )


def test_a_reference_may_stand_for_anything_that_has_one(tmp_path: Path) -> None:
    components = {
        "parameters": {"Sku": parameter("sku", "path")},
        "requestBodies": {"Note": taking({"$ref": "#/components/schemas/Note"})},
        "schemas": {"Note": {"type": "object", "properties": {"note": {"type": "string"}}}},
        "responses": {"Note": answering({"$ref": "#/components/schemas/Note"})["200"]},
    }
    file = document(
        {
            "method": "put",
            "parameters": [{"$ref": "#/components/parameters/Sku"}],
            "requestBody": {"$ref": "#/components/requestBodies/Note"},
            "responses": {"200": {"$ref": "#/components/responses/Note"}},
        },
        "/items/{sku}",
        components=components,
    )
    schema = only(tmp_path, file).action.input_schema
    assert list(schema["properties"]) == ["sku", "note"]
    assert schema["required"] == ["sku"]


def test_members_of_the_service_s_own_are_not_asked_for(tmp_path: Path) -> None:
    order = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "pin": {"type": "string", "writeOnly": True},
            "note": {"type": "string"},
        },
        "required": ["id", "note"],
    }
    file = document({"method": "post", "requestBody": taking(order), "responses": answering(order)})
    action = only(tmp_path, file).action
    assert list(action.input_schema["properties"]) == ["pin", "note"]
    assert action.input_schema["required"] == ["note"]
    assert action.output_schema is not None
    assert list(action.output_schema["properties"]) == ["id", "note"]


ITEM = {
    "type": "object",
    "properties": {"sku": {"type": "string", "pattern": "^[A-Z]+$"}, "count": {"type": "integer"}},
    "required": ["sku"],
}
ORDER = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": ITEM, "minItems": 1, "maxItems": 2},
        "day": {"type": "string", "format": "date"},
        "size": {"enum": ["S", "M"]},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "pay": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"card": {"type": "string"}},
                    "required": ["card"],
                },
                {"type": "object", "properties": {"cash": {"const": True}}, "required": ["cash"]},
            ]
        },
    },
    "required": ["items"],
}

REFUSED: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "The member 'items' is required; it must be a list of 1 to 2 entries.", "items"),
    ({"items": []}, "'items' must be a list of 1 to 2 entries.", "items"),
    (
        {"items": [{"sku": "a"}]},
        "'items[0].sku' must be text that matches ^[A-Z]+$.",
        "items[0].sku",
    ),
    (
        {"items": [{}]},
        "The member 'items[0].sku' is required; it must be text that matches ^[A-Z]+$.",
        "items[0].sku",
    ),
    (
        {"items": [{"sku": "A", "count": 1.5}]},
        "'items[0].count' must be a whole number.",
        "items[0].count",
    ),
    (
        {"items": [{"sku": "A", "price": 0}]},
        "There is no member 'price' of 'items[0]'; there are sku, count.",
        "items[0].price",
    ),
    ({"items": [{"sku": "A"}], "day": "soon"}, "'day' must be a date such as 2026-03-01.", "day"),
    ({"items": [{"sku": "A"}], "size": "L"}, """'size' must be "S" or "M".""", "size"),
    (
        {"items": [{"sku": "A"}], "more": 1},
        "There is no member 'more'; there are items, day, size, labels, pay.",
        "more",
    ),
    ({"items": [{"sku": "A"}], "labels": {"a": 1}}, "'labels.a' must be text.", "labels.a"),
    (
        {"items": [{"sku": "A"}], "pay": {"card": "x", "limit": 9}},
        "There is no member 'limit' of 'pay'; there is card.",
        "pay.limit",
    ),
    ({"items": [{"sku": "A"}], "pay": {}}, "'pay' breaks the rule 'oneOf' of its schema.", "pay"),
]


@pytest.mark.requirement("HAC-12.2-4")
def test_a_refusal_names_the_path_and_the_rule(tmp_path: Path) -> None:
    offered = only(tmp_path, document({"method": "post", "requestBody": taking(ORDER)}))
    right = {"items": [{"sku": "A", "count": 2}], "labels": {"any": "x"}, "pay": {"cash": True}}
    offered.read(right)
    for arguments, message, param in REFUSED:
        assert refusal(offered, **arguments) == (message, param)
    with pytest.raises(MissingField):
        offered.read({})


def test_a_pattern_that_takes_forever_elsewhere_takes_no_time(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"it": {"type": "string", "pattern": "^(a+)+$"}}}
    offered = only(tmp_path, document({"method": "post", "requestBody": taking(schema)}))
    assert refusal(offered, it="a" * 40 + "!")[1] == "it"


PLACES = [
    # of two of one name the first of path, query, header and body keeps it
    (
        [parameter("id"), parameter("id", "path"), parameter("id", "header")],
        ["id", "query_id", "header_id", "body_id", "note"],
    ),
    ([parameter("id", "path")], ["id", "body_id", "note"]),
    (
        [parameter("X-Shop.No", "header"), parameter("id", "path"), parameter("filter[a]")],
        ["id", "filter_a", "X-Shop_No", "body_id", "note"],
    ),
    # what the client says by itself, nobody else does
    (
        [
            parameter("Accept", "header"),
            parameter("idempotency-key", "header"),
            parameter("id", "path"),
            parameter("session", "cookie"),
        ],
        ["id", "body_id", "note"],
    ),
]


@pytest.mark.parametrize(("parameters", "names"), PLACES)
def test_arguments_come_from_all_places(
    tmp_path: Path, parameters: list[Any], names: list[str]
) -> None:
    body = {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}
    file = document(
        {"method": "put", "parameters": parameters, "requestBody": taking(body)}, "/things/{id}"
    )
    assert list(only(tmp_path, file).action.input_schema["properties"]) == names


WHOLE: list[dict[str, Any]] = [
    {"type": "array", "items": {"type": "string"}},
    {"allOf": [ITEM, {"type": "object", "properties": {"more": {"type": "string"}}}]},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "string"},
]


def test_a_body_that_is_no_plain_object_is_one_argument(tmp_path: Path) -> None:
    for schema in WHOLE:
        file = document({"method": "post", "requestBody": taking(schema)})
        takes = only(tmp_path, file).action.input_schema
        assert (list(takes["properties"]), takes["required"]) == (["body"], ["body"])
    file = document({"method": "post", "requestBody": taking(ORDER, required=False)})
    takes = only(tmp_path, file).action.input_schema
    assert (list(takes["properties"]), takes.get("required")) == (["body"], None)


def test_a_body_without_a_required_flag_is_sent_the_same_way(tmp_path: Path) -> None:
    body = {"content": taking(ORDER)["content"]}
    offered = only(tmp_path, document({"method": "post", "requestBody": body}))
    whole = only(tmp_path, document({"method": "post", "requestBody": taking(ORDER)}))
    assert offered.action.input_schema == whole.action.input_schema
    assert "body" not in offered.action.input_schema["properties"]


def test_members_next_to_a_whole_body_are_refused_with_where_they_belong(tmp_path: Path) -> None:
    file = document({"method": "post", "requestBody": taking(ORDER, required=False)})
    offered = only(tmp_path, file)
    both: tuple[dict[str, Any], ...] = ({"items": []}, {"items": [], "body": {}})
    for given in both:
        with pytest.raises(InvalidRequest, match="Send it inside 'body'") as refused:
            offered.read(given)
        assert refused.value.param == "items"


def test_a_parameter_of_an_operation_stands_for_one_of_its_path(tmp_path: Path) -> None:
    file = document({"parameters": [parameter("q", schema={"type": "integer"})]})
    file["paths"]["/things"]["parameters"] = [parameter("q"), parameter("page")]
    properties = only(tmp_path, file).action.input_schema["properties"]
    assert properties == {"q": {"type": "integer"}, "page": {"type": "string"}}


def test_a_schema_that_is_made_of_itself_does_no_harm(tmp_path: Path) -> None:
    loop = {"Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}]}}
    body = {"type": "object", "properties": {"it": {"$ref": "#/components/schemas/Loop"}}}
    file = document({"method": "post", "requestBody": taking(body)}, components={"schemas": loop})
    only(tmp_path, file).read({"it": {"a": 1}})


@pytest.mark.parametrize("schema", [{}, {"description": "Whatever."}])
def test_no_object_becomes_parameters_that_the_file_does_not_name(
    tmp_path: Path, schema: Any
) -> None:
    offered = only(tmp_path, document({"parameters": [parameter("q", schema=schema)]}))
    offered.read({"q": "x"})
    assert refusal(offered, q={"admin": True}) == ("'q' must not have other members.", "q")
