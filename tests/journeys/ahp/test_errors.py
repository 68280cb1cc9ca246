"""Everything that the AHP door refuses, in the form that section 10 gives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import structlog

from aitp_desk.agent.base import Outcome, Turn
from aitp_desk.model.errors import DeskError, Forbidden, StoreBusy, Unavailable
from tests.support.access.keys import make_key
from tests.support.clients.ahp import CONVERSE, MANIFEST, Said, Visitor, read, visiting
from tests.support.doubles.agent import ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

CAPABILITIES = ["site_info", "content_search", "contact", "list_pages"]
QUESTION = {"capability": "content_search", "query": "What does gift wrapping cost?"}
JSON = {"Content-Type": "application/json"}


async def send(visitor: Visitor, body: Any, **headers: str) -> Said:
    """Post bytes, or chunks of them, as they are."""
    async with visitor.http.post(CONVERSE, data=body, headers=JSON | headers) as response:
        return await read(response)


# --- 400 ------------------------------------------------------------------------------------


@pytest.mark.requirement("AHP-10-1", "AHP-10-3")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "The body is not JSON"),
        (b"{", "The body is not JSON"),
        (b'{"capability": "contact", "query": "Hi",}', "The body is not JSON"),
        (b"capability=contact", "The body is not JSON"),
        (b"[]", "a JSON object"),
        (b'"contact"', "a JSON object"),
        (b"null", "a JSON object"),
        (b'{"capability": "contact", "capability": "x", "query": "Hi"}', "is in one object twice"),
        (b'{"capability": "contact", "query": "\\ud800"}', "lone surrogate"),
        (b'{"capability": "contact", "query": "\\u0000"}', "NUL"),
        (b'{"capability": "contact", "query": "\xff"}', "not UTF-8"),
        (b'{"capability": "contact", "query": NaN}', "NaN"),
        (b"[" * 40 + b"]" * 40, "nests deeper"),
    ],
)
async def test_a_body_that_cannot_be_read_is_an_invalid_request(
    visitor: Visitor, body: bytes, told: str
) -> None:
    said = await send(visitor, body)
    assert said.refusal == (400, "invalid_request", None)
    assert told in said.body["message"]


@pytest.mark.requirement("AHP-10-3")
@pytest.mark.parametrize(
    ("param", "wrong"),
    [
        ("capability", 7),
        ("capability", ""),
        ("capability", "Content Search"),
        ("capability", "x" * 65),
        ("query", ["What?"]),
        ("query", {"day": "Monday"}),
        ("query", ""),
        ("query", " \n"),
        ("query", "q" * 4097),
        ("session_id", 7),
        ("session_id", "s" * 129),
        ("clarification", {}),
        ("clarification", "c" * 1025),
        ("context", []),
        ("context", "research"),
        ("context.requesting_agent", 1.0),
        ("context.requesting_agent", "a" * 129),
        ("context.user_intent", "i" * 257),
        ("context.callback_url", False),
        ("context.locale", "en_US"),
        ("context.locale", "e"),
        ("context.max_tokens", 0),
        ("context.max_tokens", 32769),
        ("context.max_tokens", True),
        ("context.max_tokens", "500"),
        ("context.accept_types", "text/answer"),
        ("context.accept_types", ["text"]),
        ("context.accept_types", ["text/answer", 7]),
        ("context.accept_types", ["text/answer"] * 51),
    ],
)
async def test_a_member_that_breaks_the_schema_is_named(
    visitor: Visitor, param: str, wrong: object
) -> None:
    outer, _, inner = param.partition(".")
    said = await visitor.post(QUESTION | {outer: {inner: wrong} if inner else wrong})
    assert said.refusal == (400, "invalid_request", None)
    assert said.body["param"] == param
    assert (inner or outer) in said.body["message"]


@pytest.mark.parametrize(
    ("param", "more"),
    [
        ("surprise", {"surprise": 1}),
        ("accept_types", {"accept_types": ["text/answer"]}),
        ("context.surprise", {"context": {"surprise": 1}}),
    ],
)
async def test_an_unknown_member_is_named_with_those_that_are_known(
    visitor: Visitor, param: str, more: dict[str, Any]
) -> None:
    said = await visitor.post(QUESTION | more)
    assert said.refusal == (400, "invalid_request", None)
    assert said.body["param"] == param
    assert "Known are" in said.body["message"]


@pytest.mark.requirement("AHP-10-2", "AHP-10-4", "AHPW-2.5-1", "AHPW-4.1-6")
async def test_an_unknown_capability_is_answered_with_those_of_the_manifest(
    visitor: Visitor,
) -> None:
    said = await visitor.ask("Hello", "foobar")
    assert said.refusal == (400, "unknown_capability", None)
    assert "'foobar'" in said.body["message"]
    assert said.body["available_capabilities"] == CAPABILITIES
    assert "meta" not in said.body
    async with visitor.http.get(MANIFEST) as response:
        declared = [capability["name"] for capability in (await response.json())["capabilities"]]
    assert declared == CAPABILITIES


@pytest.mark.requirement("AHP-6.1-2", "AHP-6.1-3", "AHP-10-5", "AHPW-4.1-7")
@pytest.mark.parametrize(
    ("missing", "body"),
    [
        ("capability", {"query": "What?"}),
        ("query", {"capability": "contact"}),
        ("capability", {}),
        ("capability", {"capability": None, "query": "What?"}),
        ("query", {"ahp": "0.1", "capability": "nothing_of_that_name"}),
    ],
)
async def test_a_required_member_that_is_absent_is_named(
    visitor: Visitor, missing: str, body: dict[str, Any]
) -> None:
    said = await visitor.post(body)
    assert said.refusal == (400, "missing_field", None)
    assert said.body["message"].startswith(f"`{missing}` is required: ")
    assert said.body["param"] == missing


# --- who asks -------------------------------------------------------------------------------


@pytest.mark.requirement("AHP-10-6")
async def test_a_credential_that_proves_nothing_is_401(visitor: Visitor) -> None:
    said = await visitor.ask("Hello", headers=[("Authorization", "Bearer desk_1_2")])
    assert said.refusal == (401, "auth_required", None)
    assert said.headers["WWW-Authenticate"].startswith('Bearer realm="aitp-desk"')


@pytest.mark.requirement("AHP-10-7")
async def test_a_known_caller_who_may_not_is_403(tmp_path: Path) -> None:
    async def refuse(_turn: Turn) -> Outcome:
        raise Forbidden("This is for others.")

    data = tmp_path / "data"
    async with visiting(data, agent=ScriptedAgent(refuse)) as visitor:
        key = await make_key(visitor.desk.store, data)
        said = await visitor.ask("Hello", headers=[("X-AHP-Key", key)])
    assert said.refusal == (403, "forbidden", None)
    assert said.body["message"] == "This is for others."


# --- the wrong way --------------------------------------------------------------------------


@pytest.mark.requirement("AHP-6.5-3", "AHP-10-8", "AHPW-4.1-19")
async def test_a_body_has_8_kb_at_most(visitor: Visitor) -> None:
    question = json.dumps(QUESTION).encode()
    fits = question + b" " * (8192 - len(question))
    assert (await send(visitor, fits)).status == 200
    assert (await send(visitor, chunks(fits))).status == 200
    for body in (fits + b" ", chunks(fits + b" "), b"x" * 1_000_000, chunks(b"x" * 1_000_000)):
        said = await send(visitor, body)
        assert said.refusal == (413, "request_too_large", None)
        assert "8192" in said.body["message"]
        assert said.headers["Connection"] == "close"
    assert (await visitor.post(QUESTION)).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json"])
async def test_a_body_that_is_not_sent_as_json_is_415(visitor: Visitor, kind: str) -> None:
    said = await send(visitor, json.dumps(QUESTION).encode(), **{"Content-Type": kind})
    assert said.refusal == (415, "invalid_request", "unsupported_media")


async def test_a_packed_body_is_415(visitor: Visitor) -> None:
    said = await send(visitor, b"\x1f\x8b", **{"Content-Encoding": "gzip"})
    assert said.refusal == (415, "invalid_request", "unsupported_media")
    twice = [("Content-Encoding", "identity"), ("Content-Encoding", "gzip")]
    said = await visitor.post(QUESTION, headers=twice)
    assert said.refusal == (415, "invalid_request", "unsupported_media")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", CONVERSE, "POST"),
        ("PUT", CONVERSE, "POST"),
        ("DELETE", CONVERSE, "POST"),
        ("OPTIONS", CONVERSE, "POST"),
        ("POST", MANIFEST, "GET, HEAD"),
    ],
)
async def test_another_method_is_405_and_told_which_are_allowed(
    visitor: Visitor, method: str, path: str, allowed: str
) -> None:
    async with visitor.http.request(method, path) as response:
        said = await read(response)
    assert said.refusal == (405, "invalid_request", "method_not_allowed")
    assert said.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/agent/other", "/agent/converse/", "/.well-known/other.json"])
async def test_another_address_of_the_protocol_is_404_in_its_form(
    visitor: Visitor, path: str
) -> None:
    async with visitor.http.get(path) as response:
        said = await read(response)
    assert said.refusal == (404, "invalid_request", "route_not_found")


async def test_a_request_for_another_site_is_421(visitor: Visitor) -> None:
    said = await visitor.ask("Hello", headers=[("Host", "elsewhere.example")])
    assert said.refusal == (421, "invalid_request", "wrong_host")


# --- our side -------------------------------------------------------------------------------


@pytest.mark.requirement("AHP-10-10")
async def test_a_fault_is_500_with_an_id_that_the_log_knows_and_nothing_else(
    tmp_path: Path,
) -> None:
    async def break_down(_turn: Turn) -> Outcome:
        raise ZeroDivisionError("the secret of the house")

    async with visiting(tmp_path / "data", agent=ScriptedAgent(break_down)) as visitor:
        with structlog.testing.capture_logs() as logged:
            said = await visitor.ask("What was said stays private")
    assert said.refusal == (500, "concierge_error", None)
    assert "secret" not in json.dumps(said.body)
    assert "ZeroDivisionError" not in json.dumps(said.body)
    (entry,) = [entry for entry in logged if entry["event"] == "fault"]
    assert entry["request_id"] in said.body["message"]
    assert "private" not in str(entry)


@pytest.mark.requirement("AHP-10-11")
@pytest.mark.parametrize(
    "refusal",
    [Unavailable("Ask again in a while.", retry_after=7), StoreBusy("Too much.", retry_after=1)],
    ids=["agent", "store"],
)
async def test_what_cannot_be_done_now_is_503_with_the_time_to_wait(
    tmp_path: Path, refusal: DeskError
) -> None:
    async def refuse(_turn: Turn) -> Outcome:
        raise refusal

    async with visiting(tmp_path / "data", agent=ScriptedAgent(refuse)) as visitor:
        said = await visitor.ask("Hello")
    assert said.refusal == (503, "unavailable", None)
    assert said.headers["Retry-After"] == str(refusal.retry_after)
    assert said.body["retry_after"] == refusal.retry_after
    assert said.body["message"] == refusal.message


async def chunks(body: bytes) -> Any:
    """The body in pieces, its length not told before."""
    for start in range(0, len(body), 1000):
        yield body[start : start + 1000]


# --- every address of the protocol ----------------------------------------------------------


@pytest.mark.requirement("AHP-10-1")
@pytest.mark.parametrize("path", ["/agent/converse/status", "/agent/", "/.well-known/other"])
@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({}, (404, "invalid_request", "route_not_found")),
        ({"Host": "elsewhere.example"}, (421, "invalid_request", "wrong_host")),
        ({"X-AHP-Key": "guess"}, (401, "auth_required", None)),
    ],
    ids=["unknown", "host", "key"],
)
async def test_what_is_not_served_below_the_protocols_addresses_is_refused_in_its_form(
    visitor: Visitor, path: str, headers: dict[str, str], refusal: tuple[int, str, str | None]
) -> None:
    async with visitor.http.get(path, headers=headers) as response:
        said = await read(response)
    assert said.refusal == refusal


@pytest.mark.requirement("AHP-10-1")
@pytest.mark.parametrize("path", ["/llms.txt", "/llms-full.txt", MANIFEST])
async def test_documents_that_are_only_read_say_so_in_the_protocols_form(
    visitor: Visitor, path: str
) -> None:
    async with visitor.http.put(path, json={}) as response:
        said = await read(response)
    assert said.refusal == (405, "invalid_request", "method_not_allowed")


async def test_past_the_limit_unknown_addresses_are_refused_in_the_protocols_form(
    tmp_path: Path,
) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=1")
    async with visiting(tmp_path / "data", *settings) as visitor:
        for status, code in ((404, "invalid_request"), (429, "rate_limited")):
            async with visitor.http.get("/agent/nothing") as response:
                said = await read(response)
            assert said.refusal[:2] == (status, code)
            assert said.headers["X-RateLimit-Limit"] == "1"
