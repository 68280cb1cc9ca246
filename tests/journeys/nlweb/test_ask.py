"""Questions over NLWeb: both forms, each mode, with events and without."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.agent.base import Answer, Clarification, Outcome, Turn
from aitp_desk.model.errors import Unavailable
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.nlweb import (
    BOOTS,
    CONTEXT,
    ROPE,
    SOUP,
    TENT,
    ask,
    post,
    structured,
    write_site,
)
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import serving
from tests.support.doubles.agent import PacedAgent, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")
MEMBERS = {"url", "name", "site", "score", "description", "schema_object"}
SEARCH = {"streaming": "false"}


async def find(talker: Talker, query: str, **members: Any) -> dict[str, Any]:
    """The best page for a question."""
    results = (await ask(talker, query=query, **SEARCH, **members)).ok["results"]
    best: dict[str, Any] = results[0]
    return best


@pytest.mark.parametrize(
    ("query", "path", "declared"),
    [
        ("Tarn tent", "products/tent", TENT),
        ("lentil soup", "recipes/soup", {"@context": CONTEXT, **SOUP}),
        ("waxing boots", "guides/boots", BOOTS),
        ("climbing rope", "products/rope", ROPE),
    ],
)
async def test_a_result_has_what_its_page_declares(
    camp: Talker, query: str, path: str, declared: dict[str, Any]
) -> None:
    found = await find(camp, query)
    assert found.keys() == MEMBERS
    assert found["url"] == f"{camp.desk.url}/{path}"
    assert found["site"] == camp.desk.url.partition("://")[2]
    assert found["score"] == 100
    assert found["schema_object"] == declared


async def test_a_page_that_declares_nothing_is_described(camp: Talker) -> None:
    returns = await find(camp, "returns")
    assert returns["description"] == "How long you may send things back."
    assert returns["schema_object"] == {
        "@context": CONTEXT,
        "@type": "WebPage",
        "name": "Returns",
        "url": f"{camp.desk.url}/policies/returns",
        "description": "How long you may send things back.",
        "dateModified": "2026-01-12T00:00:00Z",
        "inLanguage": "en",
    }
    opening = (await find(camp, "opening of the workshop"))["schema_object"]
    assert opening["@type"] == "Article"
    assert opening["datePublished"] == "2026-03-01T00:00:00Z"
    broken = await find(camp, "stoves")
    assert broken["schema_object"]["@type"] == "WebPage"
    assert broken["description"].startswith("Stoves burn gas")


async def test_a_structured_result_is_an_object_of_its_type(camp: Talker) -> None:
    answered = (await post(camp, structured("Tarn tent"))).ok
    assert answered["_meta"] == {
        "response_type": "Answer",
        "version": "0.54",
        "response_format": "conv_search",
    }
    url = f"{camp.desk.url}/products/tent"
    found = answered["results"][0]
    assert found["@type"] == "Product"
    assert (found["offers"], found["sku"]) == (TENT["offers"], "T-2")
    assert (found["url"], found["name"], found["score"]) == (url, "Tarn tent", 100)
    assert found["schema_object"] == TENT
    assert found["grounding"] == {"source_urls": [url]}


async def test_a_page_speaks_only_for_itself(camp: Talker) -> None:
    """What it declares is data: it names no other address and no action in the desk's name."""
    for prefer in ({}, {"response_format": "chatgpt_app"}):
        answered = (await post(camp, structured("climbing rope", **prefer))).ok
        found = answered.get("results", answered.get("structuredData"))[0]
        assert found["url"] == f"{camp.desk.url}/products/rope"
        assert found["grounding"] == {"source_urls": [found["url"]]}
        assert found["name"] == "Climbing rope"
        assert found["@type"] == "Product"
        assert (found["score"], found["site"]) == (100, camp.desk.url.partition("://")[2])
        assert "actions" not in found
    said = (await ask(camp, query="climbing rope", mode="generate", **SEARCH)).ok
    assert "evil" not in said["nlws"]["answer"]


MODES = ["list", "summarize", "generate"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_rest_interface_as_a_whole(camp: Talker, mode: str) -> None:
    members = {"query": "Tarn tent", "mode": mode, "query_id": "q-7", "streaming": "0"}
    got = await ask(camp, **members)
    assert got.headers["Content-Type"] == "application/json"
    body = got.ok
    assert body == (await post(camp, {**members, "streaming": False})).ok
    assert body["query_id"] == "q-7"
    assert body["results"][0]["schema_object"] == TENT
    told = {name: value for name, value in body.items() if name not in {"query_id", "results"}}
    match mode:
        case "list":
            assert told == {}
        case "summarize":
            assert told == {"summary": {"message": "[] Tarn tent"}}
        case _:
            assert told == {"nlws": {"answer": "[] Tarn tent", "items": body["results"]}}
            assert len(body["results"]) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_the_rest_interface_with_events(camp: Talker, mode: str) -> None:
    whole = (await ask(camp, query="Tarn tent", mode=mode, **SEARCH)).ok
    got = await ask(camp, query="Tarn tent", mode=mode)
    assert got.headers["Content-Type"] == "text/event-stream"
    assert got.headers["X-Accel-Buffering"] == "no"
    (query_id,) = {event.pop("query_id") for event in got.told}
    assert query_id.startswith("query_")
    found = {"message_type": "result_batch", "results": whole["results"]}
    expected = {
        "list": [found],
        "summarize": [found, {"message_type": "summary", "message": "[] Tarn tent"}],
        "generate": [{"message_type": "nlws", **whole.get("nlws", {})}],
    }[mode]
    assert got.told == [*expected, {"message_type": "complete"}]


@pytest.mark.parametrize("response_format", ["conv_search", "chatgpt_app"])
@pytest.mark.parametrize("mode", MODES)
async def test_version_0_54_as_a_whole_and_with_events(
    camp: Talker, mode: str, response_format: str
) -> None:
    asked = structured("Tarn tent", mode=mode, response_format=response_format)
    asked["meta"] = {"session_context": {"conversation_id": "c-1"}}
    whole = (await post(camp, asked)).ok
    session = {"session_context": {"conversation_id": "c-1"}}
    assert whole["_meta"] == {
        "response_type": "Answer",
        "version": "0.54",
        "response_format": response_format,
        **session,
    }
    del asked["prefer"]["streaming"]
    first, *parts = (await post(camp, asked)).told
    assert first == {"_meta": whole.pop("_meta")}
    joined: dict[str, list[Any]] = {}
    for part in parts:
        for name, value in part.items():
            joined.setdefault(name, []).extend(value)
    assert joined == whole
    said = "[] Tarn tent"
    if response_format == "chatgpt_app":
        texts = [part["Text"] for part in whole["content"]]
        assert whole["structuredData"][0]["schema_object"] == TENT
        assert (said in texts) is (mode != "list")
        assert any(text.startswith("Tarn tent: ") for text in texts) is (mode != "generate")
    elif mode == "summarize":
        assert whole["results"][-1] == {"@type": "Summary", "text": said}
    elif mode == "generate":
        assert whole["results"][0] == {"@type": "GeneratedAnswer", "answer": said}
        assert [one["@type"] for one in whole["results"][1:]] == ["Product"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prev": "Which tents?, How heavy?"}, ["Which tents?", "How heavy?"]),
        ({"prev": '["One, two?", "Three?"]'}, ["One, two?", "Three?"]),
        ({"prev": "[One?, Two?]"}, ["One?", "Two?"]),
        ({"prev": ""}, []),
    ],
)
async def test_earlier_questions_are_told_to_the_agent(
    camp: Talker, given: dict[str, str], said: list[str]
) -> None:
    body = (await ask(camp, query="Which?", mode="generate", **SEARCH, **given)).ok
    assert body["nlws"]["answer"] == f"{said} Which?"


async def test_earlier_questions_of_both_forms_and_the_question_in_full(camp: Talker) -> None:
    many = [f"Question {at}?" for at in range(30)]
    flat = {"query": "Which?", "prev": many, "mode": "generate", "streaming": False}
    said = (await post(camp, flat)).ok["nlws"]["answer"]
    assert said == f"{many[-10:]} Which?"
    asked = structured("Which?", mode="generate")
    asked["context"] = {"@type": "ConversationalContext", "prev": ["Tents?"], "memory": ["a"]}
    assert (await post(camp, asked)).ok["results"][0]["answer"] == "['Tents?'] Which?"
    asked["query"]["decontextualized_query"] = "Which tents?"
    assert (await post(camp, asked)).ok["results"][0]["answer"] == "[] Which tents?"
    body = (await ask(camp, query="W?", prev="A?", decontextualized_query="Why?", **SEARCH)).ok
    assert body == (await ask(camp, query="Why?", query_id=body["query_id"], **SEARCH)).ok


async def test_a_follow_up_is_read_after_the_earlier_question(shop: Talker) -> None:
    first = {"prev": "When is the store in Bend open?"}
    asked = {"query": "And in Boise?", "mode": "generate", **SEARCH}
    told = (await ask(shop, **asked, **first)).ok["nlws"]["answer"]
    assert "a.m." in told
    assert (await ask(shop, **asked)).ok["nlws"]["answer"] != told  # cached apart
    for product in ("cascade-mid-boot", "larkspur-2-tent"):
        page = await find(shop, "What does it weigh?", prev=product.replace("-", " "))
        assert page["url"] == f"{shop.desk.url}/products/{product}"


async def test_results_are_limited(shop: Talker) -> None:
    every = (await ask(shop, query="return boots", **SEARCH)).ok["results"]
    scores = [one["score"] for one in every]
    assert 2 < len(every) <= 10
    assert scores == sorted(scores, reverse=True)
    assert len({one["url"] for one in every}) == len(every)
    few = (await ask(shop, query="return boots", max_results="2", **SEARCH)).ok["results"]
    assert few == every[:2]
    asked = structured("return boots")
    asked["query"] |= {"max_results": 10, "min_score": scores[1]}
    best = (await post(shop, asked)).ok["results"]
    assert [one["url"] for one in best] == [
        one["url"] for one in every if one["score"] >= scores[1]
    ]


async def test_what_the_content_does_not_answer_has_no_results(shop: Talker) -> None:
    query = "Wie viele Engel tanzen auf einer Nadelspitze?"
    assert (await ask(shop, query=query, **SEARCH)).ok["results"] == []
    assert (await post(shop, structured(query))).ok["results"] == []
    said = (await ask(shop, query=query, mode="generate", **SEARCH)).ok
    assert said["nlws"]["items"] == []
    assert said["nlws"]["answer"]


async def test_what_is_not_public_is_never_found(tmp_path: Path) -> None:
    """Neither a draft nor a resource that needs a key; for nobody, whatever the mode."""
    site = make_site(tmp_path)
    (site / "content").mkdir(exist_ok=True)
    write_site(site / "content")
    async with talking(tmp_path, site=site) as unknown:
        for talker in (unknown, await unknown.with_key("threads")):
            for query in ("secret sale of umbrellas", "ledger entry"):
                for mode in MODES:
                    got = await ask(talker, query=query, mode=mode, **SEARCH)
                    told = json.dumps(got.ok["results"])
                    assert "umbrella" not in told
                    assert "/ledger" not in told


async def ask_back(_turn: Turn) -> Outcome:
    return Clarification("Which tent?", ("Tarn", "Fell"), free_form=False)


async def test_what_the_agent_asks_back_is_passed_on(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(ask_back)) as talker:
        answered = (await post(talker, structured("A tent", mode="generate"))).ok
        assert answered == {
            "_meta": {"response_type": "Elicitation", "version": "0.54"},
            "elicitation": {
                "text": "Which tent?",
                "questions": [
                    {
                        "id": "question",
                        "text": "Which tent?",
                        "type": "single_select",
                        "options": ["Tarn", "Fell"],
                    }
                ],
            },
        }
        asked = {"query": {"text": "A tent"}, "prefer": {"mode": "generate"}}
        meta, told = (await post(talker, asked)).told
        assert {**meta, **told} == answered
        flat = await ask(talker, query="A tent", mode="generate")
        assert [event["message_type"] for event in flat.told] == ["ask_user", "complete"]
        assert flat.told[0]["content"] == "Which tent?\n- Tarn\n- Fell"
        summed = (await ask(talker, query="A tent", mode="summarize", **SEARCH)).ok
        assert summed["summary"] == {"message": "Which tent?\n- Tarn\n- Fell"}


async def test_results_come_before_the_summary_and_a_stop_ends_the_stream(tmp_path: Path) -> None:
    agent = PacedAgent()
    site = write_site(tmp_path / "site")
    async with AsyncExitStack() as stack, asyncio.timeout(60):
        serves = serving(tmp_path / "data", folder=site, agent=agent)
        desk = await stack.enter_async_context(serves)
        async with aiohttp.ClientSession(desk.url) as http:
            params = {"query": "Tarn tent", "mode": "summarize"}
            async with http.get("/ask", params=params) as response:
                first = json.loads((await response.content.readuntil(b"\n\n"))[6:])
                assert first["results"][0]["name"] == "Tarn tent"
                agent.say(Answer("A tent for two."))
                rest = (await response.read()).decode().strip().split("\n\n")
                summary, end = (json.loads(event[6:]) for event in rest)
                assert summary["message"] == "A tent for two."
                assert end == {"message_type": "complete", "query_id": first["query_id"]}
            params["query"] = "waxing boots"
            async with http.get("/ask", params=params) as response:
                await response.content.readuntil(b"\n\n")
                await stack.aclose()  # the desk stops while the agent has not answered
                with suppress(aiohttp.ClientError):  # the connection was closed
                    assert await response.read() == b""


async def test_an_agent_that_cannot_answer_fails_in_the_form_of_the_request(
    tmp_path: Path,
) -> None:
    async def fail(_turn: Turn) -> Outcome:
        raise Unavailable("The agent rests.", retry_after=3)

    async with talking(tmp_path, agent=ScriptedAgent(fail)) as talker:
        asked = structured("Emma", mode="generate", streaming=True)
        refused = await post(talker, asked)  # before the first event: with its status
        assert refused.refusal == (503, "UNAVAILABLE", None)
        assert refused.headers["Retry-After"] == "3"
        assert refused.body["error"]["retry_after"] == 3
        asked["prefer"]["mode"] = "summarize"
        meta, _found, failed = (await post(talker, asked)).told
        assert meta["_meta"]["response_type"] == "Answer"
        assert failed["_meta"] == {"response_type": "Failure", "version": "0.54"}
        assert failed["error"]["code"] == "UNAVAILABLE"
        flat = (await ask(talker, query="Emma", mode="summarize")).told
        assert [one["message_type"] for one in flat] == ["result_batch", "error", "complete"]
        assert flat[1]["error"] == "The agent rests."
