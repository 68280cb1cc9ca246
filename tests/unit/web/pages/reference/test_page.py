"""The page about the API, of documents that no desk has today."""

from __future__ import annotations

import json
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import Site
from aitp_desk.web.pages.reference.page import render_api

SITE = Site(name="Books", url="https://books.example")
HOSTILE = '<script>alert("1")</script>'


def render(*operations: tuple[str, str, dict[str, Any]], **schemas: Any) -> LexborHTMLParser:
    """The page of a document with these operations: path, tag, and what else each has."""
    paths = {
        path: {
            "post": {
                "operationId": f"call_{number}",
                "tags": [tag],
                "summary": "Do it",
                "responses": {"200": {"description": "OK"}, "500": {"description": "No"}},
                **more,
            }
        }
        for number, (path, tag, more) in enumerate(operations)
    }
    document = {"paths": paths, "components": {"schemas": schemas}}
    return LexborHTMLParser(
        render_api(SITE, json.dumps(document).encode(), "/openapi.json").decode()
    )


def taking(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def text(page: LexborHTMLParser, selector: str) -> str:
    (found,) = page.css(selector)
    return " ".join(found.text(separator=" ").split())


def test_an_operation_of_an_unknown_tag_is_in_a_group_of_its_own() -> None:
    page = render(("/v1/threads", "aitp", {}), ("/moon", "astronomy", {}))
    groups = [node.attributes["id"] for node in page.css(".group")]
    assert groups == ["task.threads", "task.astronomy", "task.schemas"]
    assert "/moon" in text(page, "[id='task.astronomy']")


def test_no_text_of_the_document_becomes_markup() -> None:
    hostile = {
        "description": HOSTILE,
        "type": "object",
        "properties": {HOSTILE: {"enum": [HOSTILE]}},
    }
    page = render(
        (f"/{HOSTILE}", "aitp", {"summary": HOSTILE, "description": HOSTILE, **taking(hostile)})
    )
    assert page.css("script:not([src])") == []
    assert text(page, "#call_0").count(HOSTILE) >= 4


def test_a_schema_that_contains_itself_is_shown_and_has_a_sample() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/components/schemas/Node"}},
        "required": ["next"],
    }
    page = render(("/chain", "aitp", taking({"$ref": "#/components/schemas/Node"})), Node=node)
    assert text(page, "[id='schema.Node'] td a") == "Node"
    assert '"next": null' in text(page, "#call_0 pre")


def test_a_body_has_the_examples_that_a_schema_declares_also_for_a_question() -> None:
    person = {"type": "string", "default": "Bo", "examples": ["Ada", "Bo"]}
    own = {"type": "object", "properties": {"name": person}, "required": ["name"]}
    query = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    question = {"$ref": "#/components/schemas/Question"}
    shown = taking(question)
    shown["requestBody"]["content"]["application/json"]["examples"] = {
        "example1": {"value": {"query": "Do you buy books?"}}
    }
    page = render(
        ("/own", "aitp", taking(own)),
        ("/ask", "aitp", taking(question)),
        ("/shown", "aitp", shown),
        ("/search", "aitp", taking(query)),
        Question=query,
    )
    bodies = [node.attributes["data-body"] for node in page.css(".line[data-scheme]")]
    assert list(map(json.loads, map(str, bodies))) == [
        {"name": "Ada"},
        {"query": "What are your opening hours?"},
        {"query": "Do you buy books?"},
        {"query": "…"},
    ]


def test_a_schema_of_one_body_is_shown_there_and_a_shared_one_by_a_link() -> None:
    own = {"type": "object", "properties": {"words": {"type": "string"}}}
    shared = {"type": "object", "properties": {"title": {"type": ["string", "null"]}}}
    reference = {"$ref": "#/components/schemas/Shared"}
    page = render(
        ("/own", "aitp", taking({"$ref": "#/components/schemas/Own"})),
        ("/first", "aitp", taking(reference)),
        ("/second", "aitp", taking(reference)),
        Own=own,
        Shared=shared,
        Unused=own,
    )
    assert "words string" in text(page, "#call_0 table")
    assert [node.attributes["href"] for node in page.css(".line td a")] == ["#schema.Shared"] * 2
    schemas = [node.attributes["id"] for node in page.css("[id='task.schemas'] .line")]
    assert schemas == ["schema.Shared"]
    assert "title string or null" in text(page, "[id='schema.Shared'] table")
