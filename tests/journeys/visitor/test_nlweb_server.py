"""A visit to NLWeb's own server, which answers by POST alone, and to a site like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aitp_desk.visitor import SiteRefused, visit
from tests.support.doubles.website import website
from tests.support.servers.nlweb_server import ITEMS, SUMMARY, running

META = {"response_type": "Answer", "version": "0.54"}
FAILURE = {"response_type": "Failure", "version": "0.54"}


@pytest.mark.servers
async def test_nlwebs_own_server_is_found_and_asked(tmp_path: Path) -> None:
    with running(tmp_path) as url:
        async with visit(url) as site:  # it speaks MCP as well, which is richer
            kinds = [one.kind for one in site.endpoints]
            tools = [one.name for one in await site.actions()]
        async with visit(url, protocol="nlweb") as site:
            answer = await site.ask("What do you sell?")
            again = await site.ask("And which maps?")
    assert kinds == ["mcp", "nlweb"]
    assert tools
    assert answer.text == SUMMARY
    assert {one.url for one in answer.sources} == set(ITEMS)
    assert again.text == SUMMARY


async def test_a_site_that_takes_only_posts_is_asked_in_the_form_of_054() -> None:
    asked: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"})
        body = await request.json()
        asked.append(body)
        if "query" not in body:
            error = {"code": "INVALID_REQUEST", "message": "query: Field required"}
            return web.json_response({"_meta": FAILURE, "error": error}, status=400)
        if "context" not in body:
            question = {"id": "q", "text": "Which?", "type": "single_select", "options": ["A", "B"]}
            elicitation = {"text": "A word more.", "questions": [question]}
            meta = {**META, "response_type": "Elicitation"}
            return web.json_response({"_meta": meta, "elicitation": elicitation})
        if body["query"]["text"] == "No!":
            error = {"code": "NO", "message": "Never."}
            return web.json_response({"_meta": FAILURE, "error": error}, status=422)
        item = {"@type": "Product", "url": "/tent", "name": "Tent", "description": "For two."}
        summary = {"@type": "Summary", "text": "There are tents."}
        return web.json_response({"_meta": META, "results": [item, summary]})

    async with website() as shop:
        shop.handle("/ask?", answer)
        async with visit(shop.url, protocol="nlweb") as site:
            question = await site.ask("What?")
            assert (question.kind, question.text) == ("question", "A word more.\nWhich?")
            told = await site.choose(question.choices[1])
            with pytest.raises(SiteRefused, match="Never"):
                await site.ask("No!")
    assert told.text == "There are tents."
    assert [one.title for one in told.sources] == ["Tent"]
    assert asked[:2] == [
        {"prefer": {"streaming": False}},
        {
            "query": {"text": "What?"},
            "prefer": {"streaming": False, "response_format": "conv_search", "mode": "summarize"},
        },
    ]
    assert asked[2]["query"] == {"text": "B"}
    assert asked[2]["context"] == {"@type": "ConversationalContext", "prev": ["What?"]}
