"""Which operations of an OpenAPI file are offered, as what, and why one cannot be."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.config import OpenApi, OperationTerms, SiteAgent, load_config
from aitp_desk.model.calls.action import Action, Safety
from aitp_desk.model.money import Money
from tests.support.desk.command import run_here
from tests.support.doubles.openapi_service import (
    FILE,
    configured,
    document,
    load,
    problems,
)

SHOP = """\
openapi: 3.0.3
info: {title: Shop, version: 2026-01-01}
servers:
  - url: "https://{name}.example/api/"
    variables: {name: {default: shop}}
paths:
  /stock/{sku}:
    parameters:
      - {name: sku, in: path, required: true, schema: {type: string}}
    get:
      operationId: getStockItem
      summary: How many of an item there are.
      description: Counted every night.
      responses:
        200:
          description: It.
          content:
            application/json; charset=utf-8:
              schema: {type: object, properties: {count: {type: integer}, on: {type: boolean}}}
    delete: {operationId: dropHTTPItem, summary: Drops it., responses: {204: {description: Done.}}}
  /orders:
    post: {operationId: orders.place, description: "Places an order.\\n\\nAt once.",
           responses: {'201': {description: Done.}}}
    put: {operationId: orders.change, summary: Changes., responses: {'204': {description: Done.}}}
    patch: {operationId: orders.mend, summary: Mends it., responses: {'204': {description: Done.}}}
"""


def actions(folder: Path, *operations: str, **settings: Any) -> dict[str, Action]:
    config = configured(folder, SHOP, operations=operations, **settings)
    return {one.action.name: one.action for one in load(config)}


def test_nothing_is_offered_that_is_not_named(tmp_path: Path) -> None:
    assert actions(tmp_path) == {}
    assert list(actions(tmp_path, "orders.place")) == ["orders_place"]
    assert list(actions(tmp_path, "*", prefix="shop_")) == [
        "shop_get_stock_item",
        "shop_drop_http_item",
        "shop_orders_change",
        "shop_orders_place",
        "shop_orders_mend",
    ]


@pytest.mark.requirement("HAC-12.2-1", "HAC-12.2-2", "HAC-12.2-3")
def test_the_method_says_how_much_harm_a_call_can_do(tmp_path: Path) -> None:
    found = actions(tmp_path, "*")
    assert {name: action.safety.mutability for name, action in found.items()} == {
        "get_stock_item": "read_only",
        "drop_http_item": "irreversible",
        "orders_change": "reversible",
        "orders_place": "irreversible",
        "orders_mend": "reversible",
    }


@pytest.mark.requirement("AHP-9-1")
def test_a_call_elsewhere_goes_on_by_itself_unless_the_owner_says_otherwise(tmp_path: Path) -> None:
    assert {action.kind for action in actions(tmp_path, "*").values()} == {"async"}
    quick = OperationTerms(operation="getStockItem", kind="query", open_to="anyone")
    stock = actions(tmp_path, "getStockItem", terms=(quick,))["get_stock_item"]
    assert (stock.kind, stock.is_open, stock.safety.mutability) == ("query", True, "read_only")


def test_the_texts_are_those_of_the_file(tmp_path: Path) -> None:
    found = actions(tmp_path, "*")
    stock, place = found["get_stock_item"], found["orders_place"]
    assert (stock.summary, stock.description) == (
        "How many of an item there are.",
        "Counted every night.",
    )
    assert (place.summary, place.description) == ("Places an order.", "At once.")
    assert stock.open_to == "actions"
    assert stock.output_schema == {
        "type": "object",
        "properties": {"count": {"type": "integer"}, "on": {"type": "boolean"}},
    }


def test_the_owner_says_otherwise_of_an_operation(tmp_path: Path) -> None:
    terms = OperationTerms(
        operation="orders.place",
        name="order",
        summary="Orders.",
        description="Now.",
        kind="action",
        mutability="reversible",
        blast_radius="self_and_associated",
        reversible_within="P30D",
        confirmation_recommended=True,
        open_to="operators",
        cost="9.50 EUR",
        deadline_seconds=5,
        idempotent="yes",
    )
    (found,) = actions(tmp_path, "orders.place", prefix="shop_", terms=(terms,)).values()
    assert (found.name, found.summary, found.description) == ("shop_order", "Orders.", "Now.")
    assert found.safety == Safety("reversible", "self_and_associated", "P30D", True)
    assert (found.kind, found.open_to, found.deadline_seconds) == ("action", "operators", 5)
    assert found.cost == Money(Decimal("9.50"), "EUR")
    assert found.is_idempotent


def test_the_owner_may_have_a_person_approve_an_operation_first(tmp_path: Path) -> None:
    terms = OperationTerms(operation="orders.place", approval=True)
    (found,) = actions(tmp_path, "orders.place", terms=(terms,)).values()
    assert (found.kind, found.approval) == ("async", "always")


def terms(**said: Any) -> tuple[OperationTerms, ...]:
    return (OperationTerms(operation="getStockItem", **said),)


WRONG_SETTINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({"operations": ("getStock",)}, [", getStock: is not in the file; there is getStockItem."]),
    (
        {"operations": ("zzz",)},
        [
            (
                ", zzz: is not in the file; there are getStockItem, dropHTTPItem,"
                " orders.change, orders.place, orders.mend."
            )
        ],
    ),
    (
        {"base_url": "ftp://a"},
        [
            (
                ", getStockItem: has no usable server; write base_url, an http(s) address"
                " without a query."
            )
        ],
    ),
    (
        {"base_url": "https://me:pw@a.example"},
        [
            (
                ", getStockItem: has no usable server; write base_url, an http(s) address"
                " without a query."
            )
        ],
    ),
    (
        {"terms": terms(kind="action", open_to="anyone")},
        [
            (
                ", getStockItem: has kind='action' and is open to anyone, which only a query or"
                ' what is prepaid may be; remove open_to, or write kind="query" if it changes'
                " nothing."
            )
        ],
    ),
    (
        {"terms": terms(kind="action", mutability="reversible", approval=True)},
        [
            (
                ", getStockItem: has kind='action' and needs a person's approval, for which the"
                ' caller waits; write kind="async".'
            )
        ],
    ),
    (
        {"terms": terms(cost="much")},
        [(", getStockItem: has cost='much'; it must be an amount above 0 such as \"29.99 EUR\".")],
    ),
    (
        {"terms": terms(kind="query", mutability="reversible")},
        [
            (
                ", getStockItem: is a query, which"
                " changes nothing, but has mutability='reversible'; write kind=\"action\"."
            )
        ],
    ),
    ({"terms": (*terms(), *terms())}, [", getStockItem: has terms twice; write one table."]),
    (
        {"terms": (OperationTerms(operation="orders.place"),)},
        [(", orders.place: has terms, but is not one of the offered operations.")],
    ),
    ({"terms": (OperationTerms(),)}, [": has terms without the name of an operation."]),
    (
        {"bearer_env": "SHOP_TOKEN"},
        [(": bearer_env names the environment variable SHOP_TOKEN, which is not set.")],
    ),
    (
        {"bearer_env": "SET", "basic_env": "SET"},
        [(": has both bearer_env and basic_env; remove one of them.")],
    ),
    ({"basic_env": "SET"}, [": basic_env names SET, which must be 'name:password'."]),
    (
        {"bearer_env": "LINES"},
        [(": bearer_env names LINES, which must be one line of ASCII characters.")],
    ),
    (
        {"header_env": {"Content-Length": "SET", "X": "SET", "x": "SET", "a b": "SET"}},
        [
            ": header_env names 'Content-Length', which is not a header that can be set.",
            ": header_env names x, which is set already.",
            ": header_env names 'a b', which is not a header that can be set.",
        ],
    ),
]


@pytest.mark.parametrize(("settings", "messages"), WRONG_SETTINGS)
def test_settings_that_cannot_be_used_are_told(
    tmp_path: Path, settings: dict[str, Any], messages: list[str]
) -> None:
    config = configured(tmp_path, SHOP, **{"operations": ("getStockItem",), **settings})
    told = problems(config, {"SET": "s3cret", "LINES": "s3cret\nmore"})
    assert told == [f"openapi, {FILE}{message}" for message in messages]


def test_the_first_of_the_file_s_servers_is_asked_where_nothing_else_is_said(
    tmp_path: Path,
) -> None:
    assert actions(tmp_path, "orders.place", base_url="")
    relative = document({}, servers=[{"url": "/api"}])
    (problem,) = problems(configured(tmp_path, relative, base_url=""))
    assert problem.endswith(
        "has no usable server; write base_url, an http(s) address without a query."
    )


def test_two_actions_of_one_name_are_told(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").touch()
    (tmp_path / "actions.py").write_text(
        'from aitp_desk.actions import action\n@action\ndef do_it() -> int:\n    """One."""\n',
        "utf-8",
    )
    assert problems(configured(tmp_path, document({}))) == [
        (
            f"openapi, {FILE}: has an action 'do_it', whose name is already in use; write a"
            f" prefix, or another name in its terms."
        )
    ]


def test_operations_need_an_id_of_their_own(tmp_path: Path) -> None:
    file = document({"operationId": ""})
    file["paths"]["/a"] = file["paths"]["/b"] = document({})["paths"]["/things"]
    assert problems(configured(tmp_path, file)) == [
        f"openapi, {FILE}, GET /things: has no operationId; give it one.",
        f"openapi, {FILE}, doIt: is the operationId of two operations; rename one.",
    ]


def test_desk_toml_declares_what_is_offered_and_check_tells_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nHello.\n", "utf-8")
    (tmp_path / FILE).write_text(SHOP, "utf-8")
    settings = tmp_path / "desk.toml"
    settings.write_text(
        f"""
[[openapi]]
file = "{FILE}"
operations = ["getStockItem"]
header_env = {{ X-Api-Key = "NO_SUCH_KEY_HERE" }}

[[openapi.terms]]
operation = "getStockItem"
kind = "query"
""",
        "utf-8",
    )
    (source,) = load_config(tmp_path).openapi
    assert source == OpenApi(
        file=FILE,
        operations=("getStockItem",),
        header_env={"X-Api-Key": "NO_SUCH_KEY_HERE"},
        terms=(OperationTerms(operation="getStockItem", kind="query"),),
    )
    assert run_here("check", tmp_path).err == (
        f"openapi, {FILE}: header_env.X-Api-Key names the environment variable NO_SUCH_KEY_HERE,"
        " which is not set.\n"
    )
    without = settings.read_text("utf-8").replace("header_env", "# header_env")
    settings.write_text(without, "utf-8")
    assert "is ready to serve: 1 page, 1 action." in run_here("check", tmp_path).out


def test_a_further_agent_has_none_of_them(tmp_path: Path) -> None:
    config = configured(tmp_path, SHOP)
    assert load(config.of_agent(SiteAgent(name="books"))) == ()
