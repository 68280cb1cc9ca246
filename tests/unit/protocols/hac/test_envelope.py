"""The documents of HAC as they are made: what the specification refuses cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.protocols.hac import (
    Action,
    Context,
    Cost,
    Discovery,
    Field,
    HacError,
    NotHac,
    Recovery,
    Related,
    Resource,
    Safety,
    wrap,
    write_discovery,
    write_error,
)
from aitp_desk.protocols.hac.linter import check_document
from aitp_desk.protocols.hac.rules import duration, of_type, reference, relation, variables
from tests.support.specs.hac_schemas import HacSchemas

text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
said = text.filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
extras = st.dictionaries(text.map("x-".__add__), values, max_size=2)
relations = st.sampled_from(
    ["edit", "item", "cancel-subscription", "https://api.example.com/rels/x", "P3Pv1"]
)
durations = st.sampled_from(["P30D", "PT1H", "P1Y2M3W4DT5H6M7S", "P0D"])
costs = st.builds(
    Cost,
    amount=st.integers(0, 10**9) | st.decimals(0, 10**6, places=2),
    currency=st.sampled_from(["USD", "EUR"]),
    description=text | st.just(""),
    extra=extras,
)
safeties = st.builds(
    Safety,
    mutability=st.sampled_from([None, "read_only", "irreversible"]),
    blast_radius=st.sampled_from([None, "self", "self_and_associated", "many", "all"]),
    confirmation_recommended=st.booleans(),
    cost=st.none() | costs,
    extra=extras,
) | st.builds(Safety, mutability=st.just("reversible"), reversible_within=durations)
fields = st.builds(
    Field,
    name=said,
    type=st.just("string"),
    description=text | st.just(""),
    required=st.booleans(),
    enum=st.lists(text, max_size=3),
    default=st.sampled_from([msgspec.UNSET, None, "", "x"]),
    extra=extras,
)
actions = st.builds(
    Action,
    rel=relations,
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
    href=st.sampled_from(["/", "/users/123?status=active", "https://api.example.com/a%20b"]),
    description=text | st.just(""),
    safety=st.none() | safeties,
    fields=st.lists(fields, max_size=3, unique_by=lambda field: field.name),
    preconditions=st.lists(text, max_size=2),
    extra=extras,
)
related = st.builds(
    Related,
    rel=relations,
    href=st.sampled_from(["/a/{id}", "mailto:a@example.com"]),
    extra=st.dictionaries(
        text.filter(lambda name: name not in {"rel", "href", "description"}), values, max_size=2
    ),
)
contexts = st.builds(
    Context,
    description=text | st.just(""),
    actions=st.lists(actions, max_size=3),
    related=st.lists(related, max_size=2),
    extra=extras,
)
errors = st.builds(
    HacError,
    code=said,
    message=said,
    recovery=st.none() | st.builds(Recovery, description=said, actions=st.lists(actions)),
    extra=extras,
) | st.builds(
    HacError,
    code=said,
    message=said,
    retryable=st.just(True),
    retry_after=st.none() | st.integers(0, 10**6),
)
discoveries = st.builds(
    Discovery,
    name=said,
    version=st.sampled_from(["", "2.1"]),
    description=text | st.just(""),
    resources=st.lists(
        st.builds(
            Resource,
            rel=relations,
            href=st.just("/users"),
            methods=st.lists(st.sampled_from(["GET", "POST"]), max_size=2),
        )
    ),
)
slowly = settings(suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def schemas(shared_folder: Path) -> HacSchemas:
    return HacSchemas(shared_folder)


@pytest.mark.requirement("HAC-3.1-1", "HAC-3.1-2", "HAC-3.1-4", "HAC-3.1-6", "HAC-3.2-1")
@slowly
@given(payload=values, context=contexts)
def test_a_success_has_two_members_and_the_payload_is_not_touched(
    payload: Any, context: Context
) -> None:
    plain = json.dumps(payload, indent=1).encode()
    document = wrap(plain, context)
    assert plain in document
    told = json.loads(document)
    assert told.keys() == {"data", "_hac"}
    assert told["data"] == payload
    assert told["_hac"]["version"] == "1.0"


@pytest.mark.requirement("HAC-3.1-3", "HAC-3.1-5")
@pytest.mark.parametrize(
    "payload",
    [
        b'{"b": 1.0, "a":\t1e2}',
        b"[ ]",
        b' "\\u00e4"\n',
        b"1.00",
        b"true",
        b"null",
        b'{"data":1,"_hac":2}',
    ],
)
def test_any_json_is_kept_byte_for_byte(payload: bytes) -> None:
    found = msgspec.json.decode(wrap(payload, Context()), type=dict[str, msgspec.Raw])
    assert bytes(found["data"]) == payload.strip()
    assert wrap(payload, Context()).startswith(b'{"data":' + payload + b',"_hac":{')


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b'{"a":NaN}',
        b'"\xff"',
        b'1,"x":2',
        b"null}",
        b"\xef\xbb\xbf1",
        b"[" * 50_000 + b"]" * 50_000,
    ],
)
def test_what_is_no_json_is_not_wrapped(payload: bytes) -> None:
    with pytest.raises(NotHac, match=r"data: the payload is (not JSON|nested too deeply)"):
        wrap(payload, Context())


@pytest.mark.requirement("HAC-2.3-3", "HAC-3.2-2", "HAC-3.2-3", "HAC-3.2-4", "HAC-4.1-1")
@pytest.mark.requirement("HAC-4.1-2", "HAC-4.1-3", "HAC-4.1-4", "HAC-4.1-5", "HAC-4.1-6")
@pytest.mark.requirement("HAC-4.1-7", "HAC-4.3-1", "HAC-4.3-2", "HAC-4.3-3", "HAC-4.3-4")
@pytest.mark.requirement("HAC-4.3-5", "HAC-4.3-6", "HAC-5-1", "HAC-5.5-1", "HAC-5.5-2")
@pytest.mark.requirement("HAC-5.5-3", "HAC-3.3-1", "HAC-3.3-2", "HAC-3.3-3", "HAC-8.2-1")
@slowly
@given(context=contexts)
def test_every_success_fits_the_published_schema(schemas: HacSchemas, context: Context) -> None:
    document = wrap(b"null", context)
    schemas.check(json.loads(document))
    assert [found for found in check_document(document) if found.is_error] == []


@pytest.mark.requirement("HAC-6.1-1", "HAC-6.1-2", "HAC-6.1-3", "HAC-6.1-4", "HAC-6.1-5")
@pytest.mark.requirement("HAC-6.1-6", "HAC-6.1-7", "HAC-6.1-8", "HAC-6.2-1", "HAC-6.2-2")
@slowly
@given(error=errors)
def test_every_error_fits_the_published_schema(schemas: HacSchemas, error: HacError) -> None:
    document = write_error(error)
    schemas.check(json.loads(document))
    assert json.loads(document).keys() == {"error"}
    assert [found for found in check_document(document) if found.is_error] == []


@pytest.mark.requirement("HAC-7.2-1", "HAC-7.2-2", "HAC-7.2-3", "HAC-7.2-4", "HAC-7.2-5")
@pytest.mark.requirement("HAC-7.2-6", "HAC-7.2-7", "HAC-7.2-8", "HAC-7.2-9", "HAC-7.2-10")
@slowly
@given(discovery=discoveries)
def test_every_discovery_fits_the_published_schema(
    schemas: HacSchemas, discovery: Discovery
) -> None:
    document = write_discovery(discovery)
    schemas.check(json.loads(document))
    assert json.loads(document).keys() == {"_hac"}
    assert check_document(document) == []


def test_what_has_its_default_is_not_written_and_a_given_default_is() -> None:
    made = Field(name="note", type="array", default=[], enum=[])
    document = wrap(
        b"1",
        Context(actions=[Action(rel="edit", method="GET", href="/", fields=[made])], related=[]),
    )
    assert json.loads(document)["_hac"] == {
        "version": "1.0",
        "actions": [
            {
                "rel": "edit",
                "method": "GET",
                "href": "/",
                "fields": [{"name": "note", "type": "array", "default": []}],
            }
        ],
    }


def test_a_sum_is_written_as_it_was_given() -> None:
    cost = Cost(amount=Decimal("29.90"), currency="USD")
    action = Action(rel="upgrade", method="POST", href="/", safety=Safety(cost=cost))
    assert b'"amount":29.90,' in wrap(b"1", Context(actions=[action]))


@pytest.mark.requirement("HAC-3.3-4", "HAC-8.2-1", "HAC-8.2-2")
def test_custom_fields_are_next_to_the_others() -> None:
    document = wrap(
        b"1",
        Context(
            extra={"x-acme-id": 7},
            related=[Related(rel="orders", href="/orders", extra={"count": 17})],
        ),
    )
    told = json.loads(document)["_hac"]
    assert told["x-acme-id"] == 7
    assert told["related"] == [{"rel": "orders", "href": "/orders", "count": 17}]


def test_a_value_that_is_called_extra_is_a_value() -> None:
    field = Field(name="note", type="object", default={"extra": {"x-a": 1}}, enum=({"extra": 1},))
    made = Action(rel="edit", method="GET", href="/", fields=[field], extra={"x-b": 2})
    (told,) = json.loads(wrap(b"1", Context(actions=[made])))["_hac"]["actions"]
    assert told["x-b"] == 2
    assert told["fields"][0]["default"] == {"extra": {"x-a": 1}}
    assert told["fields"][0]["enum"] == [{"extra": 1}]


def action(**changed: Any) -> Action:
    return Action(**{"rel": "edit", "method": "POST", "href": "/", **changed})


@pytest.mark.requirement("HAC-4.2-1", "HAC-4.2-2", "HAC-4.4-1", "HAC-5.3-1", "HAC-5.3-2")
@pytest.mark.requirement("HAC-8.2-2")
def test_what_breaks_the_specification_cannot_be_made(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: action(rel="Edit it"), "rel: 'Edit it' is not a link relation"),
        (lambda: action(rel=""), "rel: "),
        (lambda: action(rel="a_b"), "rel: "),
        (lambda: action(method="TRACE"), "method: 'TRACE' is unknown; it must be one of GET, HEAD"),
        (lambda: action(href=""), "href: is empty"),
        (lambda: action(href="/a b"), "href: '/a b' is not a URI"),
        (lambda: action(href="/ä"), "href: "),
        (lambda: action(href="/%zz"), "href: "),
        (lambda: action(href="javascript:alert(1)"), "href: .* is not an address of HTTP"),
        (
            lambda: action(href="/users/{id}"),
            "href: has the variable 'id', but no field has that name",
        ),
        (lambda: action(href="/users/{"), "href: "),
        (lambda: action(href="/users/{}"), "href: '{}' is not an expression"),
        (lambda: action(href="/users/{a b}"), "href: "),
        (
            lambda: action(fields=[Field(name="a", type="string"), Field(name="a", type="array")]),
            "fields: 'a' occurs twice",
        ),
        (lambda: action(extra={"id": 1}), "extra: 'id' is not a field .* begin with x-"),
        (lambda: Safety(mutability="maybe"), "mutability: 'maybe' is unknown"),  # type: ignore[arg-type]
        (lambda: Safety(blast_radius="world"), "blast_radius: "),  # type: ignore[arg-type]
        (lambda: Safety(reversible_within="P30D"), "reversible_within: applies only if"),
        (
            lambda: Safety(mutability="irreversible", reversible_within="P30D"),
            "reversible_within: applies only if mutability is reversible",
        ),
        (
            lambda: Safety(mutability="reversible", reversible_within="P"),
            "reversible_within: 'P' is not an ISO 8601 duration; write one such as P30D",
        ),
        (lambda: Cost(amount=float("nan"), currency="USD"), "amount: "),
        (lambda: Cost(amount=1, currency="usd"), "currency: 'usd' is not an ISO 4217 code"),
        (lambda: Field(name="", type="string"), "name: is empty"),
        (lambda: Field(name="a", type="date"), "type: 'date' is unknown"),  # type: ignore[arg-type]
        (
            lambda: Field(name="a", type="integer", enum=["1"]),
            "enum: does not match the field's type, integer",
        ),
        (
            lambda: Field(name="a", type="number", default=True),
            "default: does not match the field's type, number",
        ),
        (lambda: Related(rel="item", href="/{"), "href: "),
        (lambda: Related(rel="item", href="/", extra={"rel": "x"}), "extra: "),
        (lambda: Recovery(description=" "), "description: is empty"),
        (lambda: HacError(code="", message="x"), "code: is empty"),
        (lambda: HacError(code="x", message=""), "message: is empty"),
        (lambda: HacError(code="x", message="x", retry_after=3), "retry_after: applies only if"),
        (
            lambda: HacError(code="x", message="x", retryable=True, retry_after=-1),
            "retry_after: -1 is less than 0",
        ),
        (lambda: Resource(rel="users", href="/users/{id}"), "href: .* is a URI Template"),
        (lambda: Resource(rel="users", href="/", methods=["GOT"]), "methods: "),  # type: ignore[list-item]
        (lambda: Discovery(name="", resources=()), "name: is empty"),
    ]
    for make, wrong in cases:
        with subtests.test(make=make, wrong=wrong), pytest.raises(NotHac, match=wrong):
            make()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("P30D", True),
        ("PT1H", True),
        ("P1Y2M3W4DT5H6M7S", True),
        ("P", False),
        ("PT", False),
        ("P1DT", False),
        ("P1H", False),
        ("30D", False),
        ("P-1D", False),
        ("P1D\n", False),
        ("P١D", False),
    ],
)
def test_durations(text: str, is_one: bool) -> None:
    assert (duration(text) == "") is is_one


@pytest.mark.parametrize(
    "rel", ["edit", "P3Pv1", "intervalMetBy", "https://a.example/rels/x", "urn:rel:x", "a-1"]
)
def test_link_relations(rel: str) -> None:
    assert relation(rel) == ""


@pytest.mark.parametrize(
    ("href", "names"),
    [
        (
            "/a/{id}/{+path}{?q,limit}{&page*}{#part:12}",
            ["id", "path", "q", "limit", "page", "part"],
        ),
        ("/a/{user.name}/{user.name}", ["user.name"]),
        ("/a", []),
    ],
)
def test_the_variables_of_a_template(href: str, names: list[str]) -> None:
    assert reference(href) == ""
    assert list(variables(href)) == names
    assert reference(href, is_template=False) == "" or names


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("", "string"),
        (1, "number"),
        (1.5, "number"),
        (2, "integer"),
        (2.0, "integer"),
        (False, "boolean"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_a_value_is_of_its_type_and_of_no_other(value: Any, kind: str) -> None:
    kinds = {"string", "boolean", "array", "object", "integer"} - {kind}
    assert of_type(value, kind) == ""
    if kind != "number":
        assert [other for other in kinds if of_type(value, other) == ""] == []


@given(value=st.text(max_size=30), other=st.text(alphabet="{}/?#,*:ab%0", max_size=30))
def test_no_text_makes_a_rule_fail(value: str, other: str) -> None:
    for one in (value, other):
        assert isinstance(reference(one) + relation(one) + duration(one), str)
        assert isinstance(variables(one), tuple)


def loaded_by(module: str) -> set[str]:
    """The modules that importing one loads, in a separate process."""
    script = f"import sys, {module}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["", ".linter", ".middleware"])
def test_the_package_needs_nothing_of_the_desk(module: str) -> None:
    loaded = loaded_by(f"aitp_desk.protocols.hac{module}")
    own = [name.split(".")[1:3] for name in loaded if name.startswith("aitp_desk.")]
    assert {layers[0] for layers in own} == {"protocols"}
    assert {layers[1] for layers in own if layers[1:]} == {"base", "hac"}
    server = {"aiohttp", "asyncio", "socket", "sqlite3", "ssl", "yarl", "multidict"}
    assert (not loaded & server) is (module != ".middleware")
    assert not loaded & {"aiosqlite", "structlog", "mcp", "pydantic"}
