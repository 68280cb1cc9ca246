"""The thing that a page is about, among what it declares as JSON-LD."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.knowledge.sources.html.schema_object import MAX_BYTES, find_schema_object
from aitp_desk.knowledge.sources.loader import load_content

CONTEXT = "https://schema.org"
TENT = {
    "@context": CONTEXT,
    "@type": "Product",
    "name": "Tent",
    "offers": {"@type": "Offer", "price": "199.00", "priceCurrency": "EUR"},
}
ARTICLE = {"@context": CONTEXT, "@type": "Article", "headline": "On tents"}
PAGE = {"@context": CONTEXT, "@type": "WebPage", "name": "Tents"}
AROUND = [
    {"@context": CONTEXT, "@type": "WebSite", "name": "Shop"},
    {"@context": CONTEXT, "@type": "Organization", "name": "Shop Ltd", "address": "Bend"},
    {"@context": CONTEXT, "@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem"}]},
]
HOME = {"@type": "Thing", "@id": "https://shop.example/", "name": "Home"}
WAY = {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "item": HOME}]}
RELATED = {
    "@type": "ItemList",
    "itemListElement": [{"@type": "ListItem", "item": {**TENT, "sku": 2}}],
}
SHOP = {"@type": "Organization", "name": "Shop", "openingHours": "Mo-Fr 09:00-17:00"}


def find(*declared: Any) -> dict[str, Any]:
    return find_schema_object(json.dumps(one) for one in declared)


def without_context(thing: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in thing.items() if name != "@context"}


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ([TENT], TENT),
        ([[*AROUND, TENT]], TENT),
        ([*AROUND, PAGE, ARTICLE, TENT], TENT),
        ([{"@context": CONTEXT, "@graph": [without_context(PAGE), without_context(TENT)]}], TENT),
        ([{**PAGE, "mainEntity": without_context(TENT)}], TENT),
        ([PAGE, ARTICLE], ARTICLE),
        ([*AROUND, PAGE], PAGE),
        (AROUND, {}),
        ([WAY, PAGE], PAGE),
        ([WAY, ARTICLE], ARTICLE),
        (
            [{**PAGE, "breadcrumb": WAY, "mainEntity": RELATED}],
            {**PAGE, "breadcrumb": WAY, "mainEntity": RELATED},
        ),
        ([RELATED, TENT], TENT),
        ([SHOP, TENT], TENT),
        ([SHOP, ARTICLE], ARTICLE),
        ([PAGE, SHOP], SHOP),
        ([{"name": "no type"}, "text", 7, None, {"@type": 3}, {"@graph": "?"}], {}),
    ],
)
def test_the_subject_of_the_page_is_found(declared: list[Any], found: dict[str, Any]) -> None:
    assert find(*declared) == found


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        '{"@type": "Product", "name": "a", "name": "b"}',
        '{"@type": "Product", "price": NaN}',
        '{"@type": "Product", "name": "\\ud800"}',
        '{"@type": "Product", "name": "\\u0000"}',
        "[" * 4000,
        "\ud800",
        " " * 600_000 + json.dumps(TENT),
    ],
)
def test_what_is_broken_is_left_out(broken: str) -> None:
    assert find_schema_object([broken]) == {}
    assert find_schema_object([json.dumps(ARTICLE), broken]) == ARTICLE


def test_of_a_large_object_the_members_that_fit_are_kept() -> None:
    large = {**TENT, "review": ["Very good."] * 5000, "sku": "T1", "serial": 10**30}
    found = find(large)
    assert found == {**TENT, "sku": "T1"}
    assert len(msgspec.msgpack.encode(found)) <= MAX_BYTES


def test_it_is_kept_with_the_page_and_its_texts_hide_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    declared = json.dumps({**TENT, "name": "Te\u200bnt", "color": "gre\u202een"})
    page = f'<script type="application/ld+json">{declared}</script><main><h1>T</h1><p>A.</p></main>'
    (site / "tent.html").write_text(page, "utf-8")
    (site / "plain.md").write_text("# Plain\n\nNothing declared.\n", "utf-8")
    (document,) = [one for one in load_content(site).documents if one.path == "tent"]
    assert document.schema_object == {**TENT, "color": "green"}
    for _ in range(2):  # the second one opens the index that the first has built
        library = Knowledge(site, tmp_path / "data", {}).library
        assert library.schema_object("tent") == document.schema_object
        assert library.schema_object("plain") == library.schema_object("none") == {}
        assert all(not one.schema_object for one in library.documents)
