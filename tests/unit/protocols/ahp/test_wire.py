"""AHP as bytes: what the specification's own examples become, and what any other bytes do."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.base import Answer, Clarification, Source
from aitp_desk.config import Limits, Signals, Site
from aitp_desk.desk.dialogue.answer_cache import RenderSlot
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.ticket import PersonMessage
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import (
    DeskError,
    InvalidRequest,
    RateLimited,
    UnknownAction,
    UnsupportedType,
)
from aitp_desk.protocols.ahp.answer_wire import AnswerEncoder
from aitp_desk.protocols.ahp.error_wire import render_error
from aitp_desk.protocols.ahp.manifest import encode_manifest
from aitp_desk.protocols.ahp.objects import PublishedManifest
from aitp_desk.protocols.ahp.wire import clear_body_cache, decode_converse
from tests.support.specs.ahp_schemas import AhpSchemas

URL = "https://owner.example"
ACTIONS = (Action("contact", "How to reach the owner."),)


def encode(asked: AskReply, **signals: bool) -> Any:
    reply = AnswerEncoder(URL, Signals(**signals)).encode(asked)
    assert (reply.status, reply.content_type) == (200, "application/json")
    return json.loads(reply.body)


# --- the specification's examples -----------------------------------------------------------


def test_the_request_of_section_6_1_is_understood() -> None:
    body = b"""{
      "ahp": "0.1",
      "capability": "content_search",
      "query": "What has the site owner written about AI agents?",
      "session_id": null,
      "context": {
        "requesting_agent": "my-research-bot/1.0",
        "user_intent": "research",
        "max_tokens": 500,
        "accept_types": ["text/answer", "application/feed", "media/video"]
      }
    }"""
    assert decode_converse(body) == AskRequest(
        "content_search",
        "What has the site owner written about AI agents?",
        accepts=("text/answer", "application/feed", "media/video"),
        max_tokens=500,
        requesting_agent="my-research-bot/1.0",
        intent="research",
        may_match=True,
    )


def test_the_answer_to_a_question_back_of_section_6_3_is_understood() -> None:
    body = b"""{
      "capability": "content_search",
      "query": "What has the site owner written about AI agents?",
      "session_id": "abc-123",
      "clarification": "blog_posts"
    }"""
    assert decode_converse(body) == AskRequest(
        "content_search",
        "What has the site owner written about AI agents?",
        session_id="abc-123",
        clarification="blog_posts",
        may_match=True,
    )


def test_a_success_says_at_least_what_section_6_2_says() -> None:
    example: dict[str, Any] = {
        "status": "success",
        "response": {
            "answer": "The site owner has written three pieces on AI agents...",
            "follow_up": {
                "suggested_queries": [
                    "What is the site owner's professional background?",
                    "Are there open source projects related to this topic?",
                ]
            },
        },
        "meta": {
            "tokens_used": 187,
            "capability_used": "content_search",
            "mode": "MODE2",
            "cached": False,
        },
    }
    answer = Answer(
        example["response"]["answer"],
        (Source("Why Agents Need Better Web Protocols", "/blog/agent-protocols", "direct"),),
        tuple(example["response"]["follow_up"]["suggested_queries"]),
        tokens_used=187,
    )
    said = encode(AskReply("session_1", "content_search", answer))
    assert contains(said, example)
    assert said["session_id"] == "session_1"
    assert said["response"]["sources"] == [
        {
            "title": "Why Agents Need Better Web Protocols",
            "url": f"{URL}/blog/agent-protocols",
            "relevance": "direct",
        }
    ]
    assert said["meta"]["content_signals"]["ai_train"] is False
    assert said["meta"]["content_signals"]["ai_input"] is True


def test_a_question_back_says_at_least_what_section_6_3_says() -> None:
    example = {
        "status": "clarification_needed",
        "session_id": "abc-123",
        "clarification": {
            "question": "Are you looking for blog posts, or also open source projects?",
            "options": ["blog_posts", "projects", "everything"],
            "free_form": True,
        },
    }
    asks = Clarification(
        "Are you looking for blog posts, or also open source projects?",
        ("blog_posts", "projects", "everything"),
    )
    assert contains(encode(AskReply("abc-123", "content_search", asks)), example)


def test_the_error_of_section_10_is_said_with_its_list() -> None:
    reply = render_error(
        UnknownAction(
            "The capability 'foobar' is not supported.",
            available=("site_info", "content_search", "contact"),
        ),
        {},
    )
    assert reply.status == 400
    assert contains(
        json.loads(reply.body),
        {
            "status": "error",
            "code": "unknown_capability",
            "message": "The capability 'foobar' is not supported.",
            "available_capabilities": ["site_info", "content_search", "contact"],
        },
    )


def test_the_refusal_of_section_11_3_says_scope_and_time_to_wait() -> None:
    refused = RateLimited("Rate limit exceeded.", scope="ip", retry_after=47)
    reply = render_error(refused, {})
    assert reply.status == 429
    assert dict(reply.headers)["Retry-After"] == "47"
    assert json.loads(reply.body) == {
        "status": "error",
        "code": "rate_limited",
        "message": "Rate limit exceeded.",
        "scope": "ip",
        "retry_after": 47,
    }


def test_the_refusal_of_section_11_4_says_that_waiting_does_not_help() -> None:
    refused = RateLimited("It is exhausted.", scope="session_tokens", retry_after=None)
    assert json.loads(render_error(refused, {}).body) == {
        "status": "error",
        "code": "rate_limited",
        "message": "It is exhausted.",
        "scope": "session_tokens",
        "retry_after": None,
    }


def contains(whole: Any, part: Any) -> bool:
    """Whether every member of an example stands in what was said."""
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], part[name]) for name in part)
    return bool(whole == part)


# --- out ------------------------------------------------------------------------------------


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
answers = st.builds(
    Answer,
    words,
    st.tuples(st.builds(Source, words, words.map(lambda w: f"/{w}"), st.just("direct"))),
    st.tuples(words),
    st.integers(0, 2**31),
    st.booleans(),
)


@given(answers, words)
def test_a_known_answer_is_the_same_bytes_but_for_session_and_mark(
    answer: Answer, session_id: str
) -> None:
    encoder = AnswerEncoder(URL, Signals())
    fresh = json.loads(encoder.encode(AskReply("first", "contact", answer)).body)
    kept = RenderSlot()
    for id_, age in (("second", 1), (session_id, 2), (session_id, 300)):
        known = AskReply(id_, "contact", answer, kept, age, 0.5)
        told = json.loads(encoder.encode(known).body)
        assert told["meta"].pop("cache") == {"hit_rate": 0.5, "age_seconds": age}
        assert told == fresh | {"session_id": id_, "meta": fresh["meta"] | {"cached": True}}


@given(st.builds(Site, name=words.filter(bool), description=words | st.text(max_size=2000)))
def test_a_manifest_is_valid_whatever_the_site_is_called(site: Site) -> None:
    body = encode_manifest(site, Signals(), ACTIONS, Limits())
    msgspec.json.decode(body, type=PublishedManifest)  # a closed schema
    manifest = json.loads(body)
    assert len(manifest["name"]) <= 128
    assert len(manifest.get("description", "")) <= 512
    assert site.name.startswith(manifest["name"][:-1])


def test_an_error_with_a_specific_code_needs_no_detail() -> None:
    reply = render_error(UnsupportedType("No.", available=("text/answer",)), {})
    assert json.loads(reply.body) == {
        "status": "error",
        "code": "unsupported_type",
        "message": "No.",
        "param": "context.accept_types",
        "available_types": ["text/answer"],
    }


def test_arguments_that_are_no_string_are_told_how_to_become_one() -> None:
    with pytest.raises(
        InvalidRequest, match=r"^`query` must be a string; write the object as JSON\.$"
    ):
        decode_converse(b'{"capability":"stock","query":{"sku":"A-1"}}')


# --- in: anything else ----------------------------------------------------------------------


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
right_contexts = st.fixed_dictionaries(
    {},
    optional={
        "requesting_agent": st.text(max_size=128),
        "user_intent": st.text(max_size=256),
        "max_tokens": st.integers(1, 32768),
        "accept_types": st.lists(st.sampled_from(["text/answer", "x-a1/b_2", "file/download"])),
        "callback_url": st.sampled_from(["https://a.example", ""]),
        "locale": st.sampled_from(["en", "fr-CA", "gsw-u-sd-chzh"]),
    },
)
right_requests = st.fixed_dictionaries(
    {
        "capability": st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True),
        "query": st.text(min_size=1, max_size=20) | st.just("q" * 4096),
    },
    optional={
        "ahp": st.sampled_from(["0.1", "0.1", "0.2", "1.0"]),
        "session_id": st.none() | st.text(max_size=128),
        "clarification": st.none() | st.text(max_size=20),
        "context": right_contexts,
    },
)
odd_values = json_values | st.sampled_from(
    ["", " ", "0.1 ", "1", "01.1", "Contact", "c-d", "c" * 65, "q" * 4097, "e", "en_US", "text/",
     0, 32769, True, [], ["text"], ["text/answer", 1], {}]
)  # fmt: skip
members = st.sampled_from(["ahp", "capability", "query", "session_id", "clarification", "other"])
inner_members = st.sampled_from(
    ["requesting_agent", "max_tokens", "accept_types", "locale", "callback_url", "other"]
)


@st.composite
def near_requests(draw: st.DrawFn) -> dict[str, Any]:
    """A right request in which at most one thing was changed, added or left out."""
    body: dict[str, Any] = draw(right_requests)
    match draw(st.sampled_from(["nothing", "member", "inner", "absent"])):
        case "member":
            body[draw(members)] = draw(odd_values)
        case "inner":
            body["context"] = body.get("context", {}) | {draw(inner_members): draw(odd_values)}
        case "absent":
            body.pop(draw(members), None)
        case _:
            pass
    return body


schemas_of = cache(AhpSchemas)


def refusal_of(body: bytes) -> DeskError | None:
    """What decoding a body is refused with; anything but a DeskError fails the test."""
    try:
        decode_converse(body)
    except DeskError as error:
        return error
    return None


@given(st.binary(max_size=200) | json_values.map(lambda v: json.dumps(v).encode()))
def test_whatever_bytes_come_they_are_understood_or_refused(body: bytes) -> None:
    refused = refusal_of(body)
    if refused is not None:
        assert isinstance(refused, InvalidRequest)
        assert refused.message


def without_null(body: dict[str, Any]) -> dict[str, Any]:
    """The body without members that are null, also in its objects."""
    return {
        name: without_null(value) if isinstance(value, dict) else value
        for name, value in body.items()
        if value is not None
    }


@given(near_requests())
def test_a_request_that_is_nearly_right_is_understood_or_refused_in_words(
    body: dict[str, Any],
) -> None:
    refused = refusal_of(json.dumps(body).encode())
    if refused is None:
        assert isinstance(body["capability"], str)
        assert isinstance(body["query"], str)
        return
    assert refused.kind in {
        ErrorKind.INVALID_REQUEST,
        ErrorKind.MISSING_FIELD,
        ErrorKind.UNKNOWN_VERSION,
    }
    assert refused.message.endswith(".")
    said = json.loads(render_error(refused, {}).body)
    assert said["code"] in {"invalid_request", "missing_field"}


@given(near_requests())
def test_what_the_published_schema_takes_is_understood_and_nothing_else(
    shared_folder: Path, body: dict[str, Any]
) -> None:
    """But for blank queries, versions after 0.1, and null for what may be left out."""
    schemas = schemas_of(shared_folder)
    refused = refusal_of(json.dumps(body).encode())
    is_version_0_1 = body.get("ahp", "0.1") == "0.1"
    if not schemas.takes_request(body):
        assert refused or not is_version_0_1 or schemas.takes_request(without_null(body))
    elif refused is not None:
        text = json.dumps(body)
        is_blank = not body["query"].strip()
        has_odd_characters = "\\u0000" in text or "\\ud" in text
        assert is_blank or has_odd_characters or not is_version_0_1, refused.message


def test_what_is_remembered_of_bodies_can_be_forgotten() -> None:
    body = b'{"capability": "content_search", "query": "What is remembered?"}'
    before = decode_converse(body)
    assert decode_converse(body) is before
    clear_body_cache()
    assert decode_converse(body) is not before


# --- messages of capabilities ------------------------------------------------------------------

REQUEST = '{"$schema": "aitp.dev/requests", "request_decision": {"id": "size"}}'
CARD = '{"$schema": "cards.example", "card": {}}'
SAID = (Spoken("One moment."), Spoken("Which size?", "requests", REQUEST))


def told(outcome: Answer | Clarification, *declared: str) -> dict[str, Any]:
    """What stands in ``response`` or ``clarification`` for clients that declared these."""
    asked = AskReply("session_1", "contact", outcome)
    body = json.loads(AnswerEncoder(URL, Signals()).encode(asked, frozenset(declared)).body)
    member: dict[str, Any] = body["response" if body["status"] == "success" else "clarification"]
    return member


def test_messages_are_next_to_all_of_the_words_and_what_they_do_not_say() -> None:
    words = "One moment.\n\nWhich size?"
    asks = told(Clarification(words, spoken=SAID), "requests")
    assert (asks["question"], asks["messages"]) == (words, [json.loads(REQUEST)])
    assert asks["besides"] == "One moment."
    answered = told(Answer(words, spoken=SAID), "requests", "data")
    assert (answered["answer"], answered["besides"]) == (words, "One moment.")


def test_responses_with_messages_fit_the_published_schema(shared_folder: Path) -> None:
    for outcome in (Clarification("Which size?", spoken=SAID), Answer("Which size?", spoken=SAID)):
        asked = AskReply("session_1", "contact", outcome, understood=SAID[1:])
        reply = AnswerEncoder(URL, Signals()).encode(asked, frozenset({"requests"}))
        schemas_of(shared_folder).check_response(json.loads(reply.body))


def test_what_people_have_said_in_messages_is_marked_as_well() -> None:
    anna = PersonMessage("desk/operators/anna", "Which size?", SAID[1:])
    ben = PersonMessage("desk/operators/ben", "I am here.")
    asks = told(Answer("14 days.", operator_messages=(anna, ben)), "requests")
    assert asks["messages"] == [json.loads(REQUEST)]
    assert asks["besides"].count("Which size?") == 0
    assert asks["besides"].endswith("I am here.\n\n14 days.")
    assert asks["answer"].count("Which size?") == 1


def test_an_undeclared_message_is_rendered_as_text() -> None:
    spoken = (*SAID, Spoken("A card.", "cards", CARD))
    words = "One moment.\n\nWhich size?\n\nA card."
    for declared in ((), ("data",)):
        asks = told(Clarification(words, spoken=spoken), *declared)
        assert asks.keys() == {"question", "options", "free_form"}
    assert told(Clarification(words, spoken=spoken), "cards")["besides"] == (
        "One moment.\n\nWhich size?"
    )


def test_a_capability_is_declared_among_the_accepted_types() -> None:
    def read(*types: str) -> AskRequest:
        context = {"accept_types": types}
        body = {"capability": "contact", "query": "Hi", "context": context}
        return decode_converse(json.dumps(body).encode())

    assert read("x-aitp/requests", "x-aitp/data").declared == {"requests", "data"}
    assert read("x-aitp/requests").accepts is None, "nothing was said of answers"
    both = read("text/answer", "x-aitp/data", "x-shop/cart")
    assert both.accepts == ("text/answer", "x-shop/cart")
    assert both.declared == {"data"}
    assert read("text/answer").declared == frozenset()
