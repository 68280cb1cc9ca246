"""What is found wrong with a HAC answer, and where."""

from __future__ import annotations

import copy
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.protocols.hac.linter import check_document
from tests.support.specs.hac_schemas import HacSchemas

SUCCESS: dict[str, Any] = {
    "data": {"id": 7},
    "_hac": {
        "version": "1.0",
        "description": "A loan.",
        "actions": [
            {
                "rel": "edit",
                "method": "PATCH",
                "href": "/loans/{id}",
                "safety": {
                    "mutability": "reversible",
                    "blast_radius": "self",
                    "reversible_within": "P3D",
                    "confirmation_recommended": True,
                    "cost": {"amount": 1.5, "currency": "EUR"},
                },
                "fields": [{"name": "id", "type": "integer", "enum": [7], "default": 7}],
                "preconditions": ["Nobody waits for the book."],
            }
        ],
        "related": [{"rel": "collection", "href": "/loans", "count": 3}],
    },
}
ERROR: dict[str, Any] = {
    "error": {
        "code": "busy",
        "message": "Too many.",
        "retryable": True,
        "retry_after": 3,
        "recovery": {
            "description": "Wait.",
            "actions": [{"rel": "self", "method": "GET", "href": "/"}],
        },
    }
}
DISCOVERY: dict[str, Any] = {
    "_hac": {
        "name": "Library",
        "resources": [{"rel": "loans", "href": "/loans", "methods": ["GET"]}],
    }
}
DOCUMENTS = (SUCCESS, ERROR, DISCOVERY)


def found(document: object) -> list[str]:
    return list(map(str, check_document(json.dumps(document).encode())))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all members and entries below a value."""
    if not isinstance(value, (dict, list)):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(one for name, member in inner for one in places(member, (*path, name)))]


def changed(document: Any, path: tuple[Any, ...], value: Any, *, drop: bool = False) -> Any:
    result = copy.deepcopy(document)
    at = result
    for step in path[:-1]:
        at = at[step]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return result


@pytest.mark.parametrize("document", DOCUMENTS)
def test_nothing_is_found_where_all_is_well(document: object) -> None:
    assert found(document) == []


def test_nothing_is_found_in_the_examples_of_the_specification(shared_folder: Path) -> None:
    text = (shared_folder / "specs" / "hac-spec-1.0.md").read_text("utf-8")
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    whole = [one for one in examples if "rel" not in json.loads(one)]
    assert len(whole) == 3
    assert [check_document(one.encode()) for one in whole] == [[], [], []]


def test_an_error_is_reported_by_its_place(subtests: pytest.Subtests) -> None:
    cases: list[tuple[object, str]] = [
        ([], "This is not an object; a HAC response has data and _hac, or error."),
        ({}, "data: is missing; it must be a value."),
        ({"data": 1}, "_hac: is missing; it must be an object."),
        ({**SUCCESS, "links": []}, "links: is not allowed; the top level has only data and _hac"),
        ({**ERROR, "data": None}, "data: must not occur together with error (section 6.1)."),
        ({**ERROR, "_hac": {}}, "_hac: is not allowed; the top level has only error"),
        ({"_hac": SUCCESS["_hac"]}, "data: is missing"),
        ({"_hac": {"name": "x"}}, "_hac.resources: is missing; it must be a list."),
        ({"_hac": {}}, "_hac.name: is missing"),
        (
            {"data": 1, "_hac": {"version": 1}},
            "_hac.version: is a whole number; it must be a text.",
        ),
        ({"data": 1, "_hac": {"version": "2"}}, "_hac.version: warning: is '2'; this checker"),
        ({"data": 1, "_hac": {"version": "1.0", "hint": 1}}, "_hac.hint: warning: 'hint' is no"),
        ({"error": "x"}, "error: is a text; it must be an object."),
        ({"error": {"code": "x", "message": ""}}, "error.message: is empty; it must be text."),
        (
            {"error": {"code": "x", "message": "x", "retry_after": 3}},
            "error.retry_after: warning: applies only if retryable is true",
        ),
        (
            {"error": {"code": "x", "message": "x", "retryable": True, "retry_after": -1}},
            "error.retry_after: -1 is less than 0 seconds.",
        ),
    ]
    for document, wrong in cases:
        with subtests.test(document=document, wrong=wrong):
            assert any(one.startswith(wrong) for one in found(document)), found(document)


def test_a_member_that_is_not_allowed_is_reported_once() -> None:
    (told,) = found({**SUCCESS, "links": []})
    assert told.startswith("links: is not allowed")


def test_what_is_wrong_with_an_action(subtests: pytest.Subtests) -> None:
    cases: list[tuple[tuple[Any, ...], Any, str]] = [
        (("rel",), "Edit me", "warning: 'Edit me' is not a link relation"),
        (("method",), "TRACE", "'TRACE' is unknown; it must be one of GET, HEAD, POST"),
        (("href",), "/a b", "'/a b' is not a URI"),
        (("href",), "/loans/{number}", "warning: has the variable 'number', but no field"),
        (
            ("safety", "mutability"),
            "some",
            "'some' is unknown; it must be one of read_only, reversible",
        ),
        (("safety", "blast_radius"), "world", "'world' is unknown"),
        (("safety", "reversible_within"), "P", "'P' is not an ISO 8601 duration"),
        (("safety", "cost", "currency"), "euro", "'euro' is not an ISO 4217 code"),
        (("safety", "cost", "amount"), "1", "is a text; it must be a number."),
        (("safety", "cost"), None, "is null; it must be an object."),
        (("fields", 0, "type"), "date", "'date' is unknown; it must be one of string, number"),
        (("fields", 0, "enum", 0), "7", "warning: does not match the field's type, integer"),
        (("fields", 0, "default"), "7", "warning: does not match the field's type, integer"),
        (("fields", 0), 1, "is a whole number; it must be an object."),
        (("preconditions", 0), 1, "is a whole number; it must be a text."),
    ]
    for path, value, wrong in cases:
        with subtests.test(path=path, value=value, wrong=wrong):
            document = changed(SUCCESS, ("_hac", "actions", 0, *path), value)
            place = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)
            assert any(
                one.startswith(f"_hac.actions[0]{place}: {wrong}") for one in found(document)
            ), found(document)


def test_what_an_action_that_changes_something_should_tell_is_missed() -> None:
    document = changed(SUCCESS, ("_hac", "actions", 0, "safety"), None, drop=True)
    assert found(document) == [
        f"_hac.actions[0].safety.{name}: warning: is missing; it is required for an action that"
        " changes something."
        for name in ("mutability", "blast_radius")
    ]
    document = changed(SUCCESS, ("_hac", "actions", 0, "safety", "mutability"), "irreversible")
    (wrong,) = found(document)
    assert wrong.startswith("_hac.actions[0].safety.reversible_within: warning: applies only if")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (b"", "This is not JSON in UTF-8"),
        (b"\xff", "This is not JSON in UTF-8"),
        (b'{"data":NaN,"_hac":{"version":"1.0"}}', "NaN is not a JSON number"),
        (b"[" * 100_000, "This is not JSON in UTF-8"),
        (b"9" * 10_000, "This is not JSON in UTF-8"),
        (b'{"data":1,"data":2,"_hac":{"version":"1.0"}}', "a member occurs twice"),
    ],
)
def test_what_cannot_be_read_is_said(body: bytes, wrong: str) -> None:
    assert wrong in str(check_document(body)[0])


def test_nothing_of_a_document_reaches_a_terminal_as_it_is() -> None:
    nasty = {"data": 1, "\x1b[2J": 1, "_hac": {"version": "\x1b]0;x\x07", "\n": 1}}
    assert found(nasty)
    assert all(one.isprintable() for one in found(nasty))


def test_a_large_document_is_checked_in_time_that_grows_with_it() -> None:
    names = [{"name": f"n{number}", "type": "string"} for number in range(20_000)]
    href = "/" + "".join(f"{{n{number}}}" for number in range(20_000)) + "{" * 20_000
    action = {"rel": "edit", "method": "GET", "href": href, "fields": names}
    began = time.process_time()
    assert found({"data": 1, "_hac": {"version": "1.0", "actions": [action]}})
    assert time.process_time() - began < 3


@pytest.fixture(scope="module")
def schemas(shared_folder: Path) -> HacSchemas:
    return HacSchemas(shared_folder)


@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_the_published_schemas_refuse_is_found(
    schemas: HacSchemas, data: st.DataObject
) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(document)[1:]))
        value: Any = data.draw(st.sampled_from([None, True, 1, -1, 1.5, "", "P", "x", [], [1], {}]))
        document = changed(document, path, value, drop=data.draw(st.booleans()))
        if not isinstance(document, dict) or len(places(document)) == 1:
            return
    errors = [one for one in check_document(json.dumps(document).encode()) if one.is_error]
    if not schemas.takes(document):
        assert errors
