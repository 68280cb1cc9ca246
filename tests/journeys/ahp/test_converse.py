"""One question, one answer: each capability, each field of the request and of the response."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, Source, Turn
from tests.support.clients.ahp import CONVERSE, Visitor, visiting
from tests.support.desk.server import SHOP
from tests.support.doubles.agent import ScriptedAgent
from tests.support.specs.ahp_schemas import AhpSchemas

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW = "How many days do I have to return a book?"


# --- the capabilities -----------------------------------------------------------------------


@pytest.mark.requirement("AHP-5.2-4", "AHP-5.2-6", "AHP-8.2-1", "AHPW-2.2-1", "AHPW-4.1-5")
async def test_a_question_is_answered_from_the_content_with_its_source(visitor: Visitor) -> None:
    said = await visitor.ask(WINDOW)
    assert said.status == 200
    assert "14 days" in said.answer
    source = said.body["response"]["sources"][0]
    page, _, anchor = source["url"].partition("#")
    assert page == f"{visitor.desk.url}/policies/returns"
    async with visitor.http.get(page) as response:
        assert response.status == 200
        assert f'id="{anchor}"' in await response.text()


async def test_what_the_content_does_not_answer_is_said_and_nothing_is_made_up(
    visitor: Visitor,
) -> None:
    said = await visitor.ask("Who won the chess championship on Mars?")
    assert said.status == 200
    assert said.answer
    assert said.body["response"]["sources"] == []


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("Do you sell gift cards?", "/gift-cards"),
        ("I have a question on Earning points", "/loyalty"),
        ("Is the Divide 55 pack available?", "/products/divide-55-pack"),
    ],
)
async def test_words_that_say_little_may_be_missing_where_the_page_says_the_rest(
    query: str, page: str, tmp_path: Path
) -> None:
    off = "content.meaning.actions=false"  # the stock is an action's to say
    async with visiting(tmp_path / "data", off, folder=SHOP) as visitor:
        said = await visitor.ask(query)
        sources = said.body["response"]["sources"]
        assert [source["url"] for source in sources if page in source["url"]]


async def test_site_info_says_what_the_site_is_and_what_may_be_asked(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=SHOP) as visitor:
        said = await visitor.ask("What is this site?", "site_info")
        assert "Trailhead Outfitters" in said.answer
        assert "Outdoor-gear shop with three stores" in said.answer
        assert said.body["response"]["sources"][0]["url"] == f"{visitor.desk.url}/about"
        proposed = said.body["response"]["follow_up"]["suggested_queries"]
        assert len(proposed) == 3
        for query in proposed:
            answered = await visitor.ask(query)
            assert answered.body["response"]["sources"], query


async def test_the_follow_ups_that_an_answer_proposes_are_answered(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=SHOP) as visitor:
        said = await visitor.ask("What is your return policy?")
        proposed = said.body["response"]["follow_up"]["suggested_queries"]
        assert proposed
        for query in proposed:
            answered = await visitor.ask(query, session_id=said.session_id)
            assert answered.body["response"]["sources"], query


async def test_contact_says_how_to_reach_the_owner_as_far_as_the_owner_has(tmp_path: Path) -> None:
    async with visiting(tmp_path / "shop", folder=SHOP) as visitor:
        said = await visitor.ask("How do I reach you?", "contact")
        for way in ("hello@trailhead.example", "+1 541 555 0137", f"{visitor.desk.url}/contact"):
            assert way in said.answer
        (source,) = said.body["response"]["sources"]
        async with visitor.http.get(source["url"]) as response:
            assert response.status == 200
    async with visiting(tmp_path / "silent") as visitor:
        said = await visitor.ask("How do I reach you?", "contact")
        assert said.status == 200
        assert said.body["response"]["sources"] == []


# --- the response ---------------------------------------------------------------------------


async def answer_in_full(_turn: Turn) -> Outcome:
    return Answer(
        "Within **14 days**.",
        sources=(
            Source("Returns", "/policies/returns#return-window", "direct"),
            Source("Shipping", "/policies/shipping", "indirect"),
            Source("About", "/about", "background"),
        ),
        follow_ups=("And second-hand books?", "Who pays for the parcel?"),
        tokens_used=187,
    )


@pytest.mark.requirement(
    "AHP-6.2-1",
    "AHP-6.2-2",
    "AHP-6.2-3",
    "AHP-6.2-4",
    "AHP-6.2-5",
    "AHP-6.2-6",
    "AHP-6.2-7",
    "AHP-6.2-8",
    "AHP-6.2-9",
    "AHP-6.2-10",
    "AHP-6.6-9",
    "AHP-6.6-10",
    "AHP-C.2-2",
    "AHP-C.2-3",
    "AHP-C.2-4",
    "AHP-C.2-5",
    "AHPW-4.1-10",
    "AHPW-4.5-1",
)
async def test_a_success_carries_every_field_of_the_specification(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", agent=ScriptedAgent(answer_in_full)) as visitor:
        said = await visitor.ask(WINDOW)
        url = visitor.desk.url
    assert said.status == 200
    assert said.headers["Content-Type"] == "application/json"
    assert said.body == {
        "status": "success",
        "session_id": said.session_id,
        "response": {
            "content_type": "text/answer",
            "answer": "Within **14 days**.",
            "sources": [
                {
                    "title": "Returns",
                    "url": f"{url}/policies/returns#return-window",
                    "relevance": "direct",
                },
                {"title": "Shipping", "url": f"{url}/policies/shipping", "relevance": "indirect"},
                {"title": "About", "url": f"{url}/about", "relevance": "background"},
            ],
            "follow_up": {
                "suggested_queries": ["And second-hand books?", "Who pays for the parcel?"]
            },
        },
        "meta": {
            "tokens_used": 187,
            "capability_used": "content_search",
            "mode": "MODE2",
            "cached": False,
            "tools_used": [],
            "content_signals": {
                "ai_train": False,
                "ai_input": True,
                "search": True,
                "attribution_required": True,
            },
            "locale": "en",
            "content_type": "text/answer",
            "cache": {"hit_rate": 0.0},
        },
    }
    assert isinstance(said.session_id, str)
    assert 1 <= len(said.session_id) <= 128


@pytest.mark.requirement("AHP-A-2", "AHP-A-3", "AHPW-4.1-9")
async def test_what_is_said_fits_the_published_schemas(
    visitor: Visitor, shared_folder: Path
) -> None:
    """The visitor of these tests checks everything that it says and hears in the same way."""
    schemas = AhpSchemas(shared_folder)
    question: dict[str, Any] = {
        "ahp": "0.1",
        "capability": "content_search",
        "query": WINDOW,
        "session_id": None,
        "clarification": None,
        "context": {
            "requesting_agent": "my-research-bot/1.0",
            "user_intent": "research",
            "max_tokens": 500,
            "accept_types": ["text/answer", "application/feed", "x-shop/cart"],
            "callback_url": "https://agent.example/hook",
            "locale": "fr-CA",
        },
    }
    schemas.check_request(question)
    answered = await visitor.post(question)
    schemas.check_response(answered.body)
    assert "14 days" in answered.answer
    wrong = question | {"surprise": 1}
    assert not schemas.takes_request(wrong)
    refused = await visitor.post(wrong)
    schemas.check_response(refused.body)
    assert refused.refusal == (400, "invalid_request", None)


# --- the request ----------------------------------------------------------------------------


@pytest.mark.requirement("AHP-6.1-1", "AHP-6.1-4", "AHP-6.1-5", "AHP-6.1-7", "AHP-C.2-1")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ahp": "0.1"},
        {"session_id": None, "clarification": None},
        {"context": {}},
        {"context": {"requesting_agent": "my-research-bot/1.0", "user_intent": "research"}},
        {"context": {"callback_url": "https://agent.example/hook", "locale": "en-US"}},
    ],
    ids=str,
)
async def test_only_capability_and_query_are_needed_and_the_answer_is_text_by_default(
    visitor: Visitor, more: dict[str, Any]
) -> None:
    said = await visitor.post({"capability": "content_search", "query": WINDOW, **more})
    assert "14 days" in said.answer
    assert said.body["response"]["content_type"] == "text/answer"
    assert said.body["meta"]["content_type"] == "text/answer"


@pytest.mark.requirement("AHP-6.1-6", "AHP-6.6-3")
@pytest.mark.parametrize(
    "accepted",
    [
        ["text/answer"],
        ["media/video", "x-shop/cart", "text/answer"],
        ["text/answer", "application/feed"],
        ["text/answer", "text/answer"],
    ],
)
async def test_of_the_accepted_types_the_one_that_both_know_is_given(
    visitor: Visitor, accepted: list[str]
) -> None:
    said = await visitor.ask(WINDOW, accept_types=accepted)
    assert said.body["response"]["content_type"] == "text/answer"
    assert said.answer


@pytest.mark.requirement("AHP-6.6-5")
@pytest.mark.parametrize(
    ("capability", "types"),
    [
        ("site_info", ["text/answer", "application/data"]),
        ("content_search", ["text/answer", "application/feed"]),
        ("contact", ["text/answer", "application/data"]),
    ],
)
@pytest.mark.parametrize("accepted", [["media/video"], ["x-shop/cart", "file/download"], []])
async def test_types_that_the_site_has_not_are_answered_with_those_it_has(
    visitor: Visitor, capability: str, types: list[str], accepted: list[str]
) -> None:
    said = await visitor.ask(WINDOW, capability, accept_types=accepted)
    assert said.refusal == (400, "unsupported_type", None)
    assert said.body["available_types"] == types
    assert said.body["param"] == "context.accept_types"


@pytest.mark.parametrize("most", [5, 20])
@pytest.mark.parametrize("query", [WINDOW, "Tell me about shipping rates", "Who are you?"])
async def test_an_answer_is_no_longer_than_the_visitor_asked_for(
    visitor: Visitor, query: str, most: int
) -> None:
    said = await visitor.ask(query, max_tokens=most)
    if said.body["status"] == "success":
        assert 1 <= len(said.answer) <= 4 * most
    else:
        assert said.body["status"] == "clarification_needed"


async def test_what_the_visitor_prefers_reaches_the_agent(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with visiting(tmp_path / "data", "site.name=Pine Street", agent=agent) as visitor:
        await visitor.ask("  Où est\nle magasin ?", locale="fr-CA", max_tokens=50)
        await visitor.ask("Where?")
        url = visitor.desk.url
    first, second = agent.turns
    assert (first.question, first.locale, first.max_tokens) == (
        "  Où est\nle magasin ?",
        "fr-CA",
        50,
    )
    assert (first.site.name, first.site.url) == ("Pine Street", url)
    assert (first.transcript, first.clarification, first.pending) == ((), None, None)
    assert (second.locale, second.max_tokens) == (None, None)


@pytest.mark.parametrize("query", ["?", "é" * 1000, "a" * 4096, '{"order": 7}', "</script>\u2028"])
async def test_any_words_may_be_asked(visitor: Visitor, query: str) -> None:
    said = await visitor.ask(query)
    assert said.status == 200


async def test_an_answer_is_for_one_reader_and_kept_by_nobody_between(visitor: Visitor) -> None:
    said = await visitor.ask(WINDOW)
    assert said.headers["Cache-Control"] == "no-store"


async def test_a_body_without_a_content_type_is_read_as_json(visitor: Visitor) -> None:
    body = b'{"capability":"contact","query":"How?"}'
    async with visitor.http.post(
        CONVERSE, data=body, skip_auto_headers=("Content-Type",)
    ) as response:
        assert response.status == 200
    for kind in ("application/json; charset=utf-8", "application/ahp+json", "Application/JSON"):
        async with visitor.http.post(
            CONVERSE, data=body, headers={"Content-Type": kind}
        ) as response:
            assert response.status == 200, kind
