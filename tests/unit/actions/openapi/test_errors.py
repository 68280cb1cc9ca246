"""Why an operation of an OpenAPI file, or the file, cannot be offered."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.faults import ActionsError
from tests.support.doubles.openapi_service import (
    FILE,
    answering,
    configured,
    document,
    load,
    parameter,
    problems,
    taking,
)


def place(**said: Any) -> dict[str, Any]:
    return document({"method": "post", **said})


BINARY = {"200": {"description": "It.", "content": {"image/png": {}}}}
FORM: dict[str, Any] = {"content": {"multipart/form-data": {"schema": {}}}}
UNUSABLE: list[tuple[dict[str, Any], str]] = [
    (
        document({"responses": BINARY}),
        "has responses of image/png, which is not supported; only JSON is.",
    ),
    (
        place(requestBody=FORM),
        ("has a body of multipart/form-data, which is not supported; only JSON is."),
    ),
    (
        place(requestBody=taking({"type": "object", "properties": {"it": {"format": "binary"}}})),
        "has binary data, which is not supported; only JSON is.",
    ),
    (
        document({"responses": {"200": {"content": {"application/json": {}}}}}),
        "has a response without a schema; write one.",
    ),
    (
        document({"summary": ""}),
        ("has no description; write a summary in the file, or in the terms."),
    ),
    (
        document({"operationId": "1st"}),
        (
            "has the name '1st', which callers cannot use; write another name in the terms, of"
            " at most 64 lowercase letters, digits and _, a letter first."
        ),
    ),
    (
        document({"responses": answering({"$ref": "https://a.example/b.json"})}),
        "refers to 'https://a.example/b.json', which is not in the same file.",
    ),
    (
        document({"responses": answering({"$ref": "#/components/schemas/No"})}),
        "refers to '#/components/schemas/No', which does not exist.",
    ),
    (
        document({"responses": answering({"$ref": "#/x/a"})}, x={"a": {"$ref": "#/x/a"}}),
        "refers to '#/x/a', which is circular.",
    ),
    (
        document({"responses": answering({"$dynamicRef": "#a"})}),
        "has a schema with $dynamicRef, which is not supported.",
    ),
    (document({"responses": answering({"type": "strin"})}), "has a schema that is not valid: "),
    (document({}, "/things/{id}"), "has {id} in its path, which is not one of its parameters."),
    (
        document({"parameters": [parameter("id", "path")]}),
        "has the path parameter 'id', which is not in its path.",
    ),
    (
        document({"parameters": [parameter("id", "path", style="matrix")]}, "/things/{id}"),
        "has the path parameter 'id' in the style 'matrix', which is not supported.",
    ),
    (
        document(
            {
                "parameters": [
                    parameter(
                        "at",
                        schema={"type": "object", "properties": {"a": {"type": "array"}}},
                        style="deepObject",
                    )
                ]
            }
        ),
        "has the query parameter 'at' that holds lists or objects in an object.",
    ),
    (
        document(
            {
                "parameters": [
                    parameter(
                        "at",
                        schema={
                            "type": "array",
                            "items": {"anyOf": [{"type": "object"}, {"type": "string"}]},
                        },
                    )
                ]
            }
        ),
        "has the query parameter 'at' that holds lists or objects in a list.",
    ),
    (
        document(
            {
                "parameters": [
                    parameter("at", schema={"type": "object", "additionalProperties": True})
                ]
            }
        ),
        (
            "has the query parameter 'at' with members of any name, which could be mistaken for"
            " other parameters."
        ),
    ),
    (
        document({"parameters": [parameter("at", schema={"type": "string"}, style="deepObject")]}),
        "has the query parameter 'at' in the style deepObject, which requires an object.",
    ),
    (
        document({"parameters": [parameter("s", "cookie", required=True)]}),
        "needs the cookie 's'; cookies are not sent.",
    ),
    (
        document({"parameters": [parameter("q"), parameter("q", "body")]}),
        "has the parameter 'q' in 'body', which is not a valid place.",
    ),
    (
        document(
            {
                "parameters": [
                    parameter("a.b"),
                    parameter("a_b"),
                    parameter("query_a-b"),
                    parameter("a b"),
                ]
            }
        ),
        "has several parameters 'a b', and query_a_b is also in use.",
    ),
    (
        document({"parameters": [parameter("a b", "header")]}),
        "has the header 'a b', which is not a valid header name.",
    ),
]


@pytest.mark.parametrize(("file", "message"), UNUSABLE)
def test_an_operation_that_cannot_be_offered_says_why(
    tmp_path: Path, file: dict[str, Any], message: str
) -> None:
    (problem,) = problems(configured(tmp_path, file))
    name = file["paths"][next(iter(file["paths"]))].popitem()[1]["operationId"]
    start = f"openapi, {FILE}, {name}: {message}"
    assert problem.startswith(start) if message.endswith(" ") else problem == start


def test_operations_that_cannot_be_offered_do_no_harm_while_nobody_names_them(
    tmp_path: Path,
) -> None:
    file = document({"responses": BINARY})
    file["paths"]["/more"] = document({"operationId": "more"})["paths"]["/things"]
    assert [one.action.name for one in load(configured(tmp_path, file, operations=("more",)))] == [
        "more"
    ]


WRONG_FILES = [
    (
        "openapi: 2.0",
        "is not an OpenAPI file of version 3.0 or 3.1, with a member such as openapi: 3.1.0.",
    ),
    (
        "swagger: '2.0'",
        "is not an OpenAPI file of version 3.0 or 3.1, with a member such as openapi: 3.1.0.",
    ),
    ("- a", "is not an OpenAPI file of version 3.0 or 3.1, with a member such as openapi: 3.1.0."),
    ("a: b: c", "is not YAML: mapping values are not allowed here in line 1."),
    ('{"openapi": ', "is neither JSON nor YAML: Expecting value: line 1 column 13 (char 12)."),
    (
        "!!python/object/apply:os.getcwd []",
        (
            "is not YAML: could not determine a constructor for the"
            " tag 'tag:yaml.org,2002:python/object/apply:os.getcwd' in line 1."
        ),
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILES)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, text: str, message: str) -> None:
    assert problems(configured(tmp_path, text)) == [f"openapi, {FILE}: {message}"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    config = configured(tmp_path, document({}))
    (tmp_path / FILE).unlink()
    assert problems(config) == [f"openapi, {FILE}: cannot be read: No such file or directory."]


WHATEVER: list[Any] = [
    None,
    5,
    1.5,
    "x",
    True,
    [],
    {},
    [None],
    [{}],
    {"x": 1},
    {"$ref": 5},
    {"$ref": "#/x"},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document but the whole."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, (dict, list)):
            yield from places(each, (*path, key))


def test_a_file_with_an_error_anywhere_is_reported_and_is_no_fault_of_the_desk(
    tmp_path: Path,
) -> None:
    schema = {"type": ["object", "null"], "properties": {"a": {"enum": [1]}}, "required": ["a"]}
    file = document(
        {
            "method": "put",
            "parameters": [
                parameter("id", "path"),
                parameter("q", schema=schema, style="deepObject"),
            ],
            "requestBody": taking({"allOf": [{"$ref": "#/components/schemas/It"}]}),
            "responses": answering({"type": "array", "items": schema}),
        },
        "/things/{id}",
        components={"schemas": {"It": schema}},
        servers=[{"url": "https://{name}.example", "variables": {"name": {"default": "a"}}}],
    )
    told = 0
    for at, place in enumerate(places(file)):
        for more in range(3):
            wrong = copy.deepcopy(file)
            holder: Any = wrong
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = WHATEVER[(at + 5 * more) % len(WHATEVER)]
            try:
                load(configured(tmp_path, wrong, base_url=""))
            except ActionsError as error:
                told += len(error.problems)
    assert told > 60
