"""Calls of operations, at a real server: what it is sent, and what becomes of what it answers."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from aitp_desk.model.errors import DeskError, InvalidRequest, PreconditionFailed, Unavailable
from tests.support.doubles.openapi_service import (
    CALL,
    answering,
    call,
    configured,
    document,
    load,
    offered_by,
    parameter,
    serving_api,
    taking,
)

SECRET = "s3cret-of-the-desk"
NUMBERS = {"type": "array", "items": {"type": "integer"}}
RANGE = {"type": "object", "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}}}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}

WRITTEN: list[tuple[dict[str, Any], Any, str]] = [
    (parameter("q"), "two words & more=1/2?#%", "q=two%20words%20%26%20more%3D1%2F2%3F%23%25"),
    (parameter("q"), "é+", "q=%C3%A9%2B"),
    (parameter("q", schema={"type": "boolean"}), True, "q=true"),
    (parameter("q", schema={"type": "number"}), 1.5, "q=1.5"),
    (parameter("q", schema={"type": ["string", "null"]}), None, ""),
    (parameter("q", schema=NUMBERS), [1, 2], "q=1&q=2"),
    (parameter("q", schema=NUMBERS), [], ""),
    (parameter("q", schema=NUMBERS, explode=False), [1, 2], "q=1,2"),
    (parameter("q", schema=NUMBERS, style="pipeDelimited", explode=False), [1, 2], "q=1%7C2"),
    (parameter("q", schema=NUMBERS, style="spaceDelimited", explode=False), [1, 2], "q=1%202"),
    (parameter("q", schema=RANGE), {"from": 1, "to": 2}, "from=1&to=2"),
    (parameter("q", schema=RANGE, explode=False), {"from": 1, "to": 2}, "q=from,1,to,2"),
    (
        parameter("q", schema=RANGE, style="deepObject"),
        {"from": 1, "to": 2},
        "q%5Bfrom%5D=1&q%5Bto%5D=2",
    ),
    (parameter("q", schema={"allOf": [RANGE]}, style="deepObject"), {"to": 2}, "q%5Bto%5D=2"),
    (
        {"name": "q", "in": "query", "content": {"application/json": {"schema": RANGE}}},
        {"from": 1},
        "q=%7B%22from%22%3A1%7D",
    ),
]


async def test_a_query_is_written_in_the_style_of_the_file(tmp_path: Path) -> None:
    async with serving_api() as service:
        for told, value, written in WRITTEN:
            async with offered_by(tmp_path, service, document({"parameters": [told]})) as offered:
                await call(offered, q=value)
            assert service.got[-1].target == f"/things{'?' if written else ''}{written}"


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
async def test_arguments_go_where_the_file_says(tmp_path: Path, method: str) -> None:
    body = {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}
    takes_body = method in {"post", "put", "patch"}
    file = document(
        {
            "method": method,
            "parameters": [parameter("id", "path"), parameter("X-Shop", "header")],
            **({"requestBody": taking(body)} if takes_body else {}),
        },
        "/things/{id}/parts",
    )
    given = {"id": "a b", "X-Shop": "Bend"} | ({"body_id": 7, "note": "Hi"} if takes_body else {})
    async with (
        serving_api() as service,
        offered_by(tmp_path, service, file) as offered,
    ):
        assert await call(offered, **given) is None
        (got,) = service.got
    assert (got.method, got.target) == (method.upper(), "/things/a%20b/parts")
    assert got.headers["X-Shop"] == "Bend"
    assert got.headers["Accept"] == "application/json"
    assert got.headers.get("Idempotency-Key") == (None if method == "get" else CALL)
    assert got.body == (b'{"id":7,"note":"Hi"}' if takes_body else b"")
    assert got.headers.get("Content-Type") == ("application/json" if takes_body else None)


async def test_a_whole_body_is_sent_as_it_is_and_an_optional_one_not_at_all(tmp_path: Path) -> None:
    file = document({"method": "post", "requestBody": taking(NUMBERS, required=False)})
    async with serving_api() as service, offered_by(tmp_path, service, file) as offered:
        await call(offered, body=[1, 2])
        await call(offered)
    assert [got.body for got in service.got] == [b"[1,2]", b""]


LEADING_ELSEWHERE = ["", ".", "..", "../admin", "a/../../admin", "a/.", "..\\admin", "./a"]


def test_no_argument_leads_to_another_address(tmp_path: Path) -> None:
    file = document({"parameters": [parameter("id", "path")]}, "/things/{id}")
    (offered,) = load(configured(tmp_path, file))
    for value in LEADING_ELSEWHERE:
        with pytest.raises(
            InvalidRequest, match=r"must not be empty, and must not contain \. or \.\. as a segment"
        ) as refused:
            offered.read({"id": value})
        assert refused.value.param == "id"


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "é", "a\x00"])
def test_no_argument_is_more_than_a_header_s_value(tmp_path: Path, value: str) -> None:
    (offered,) = load(configured(tmp_path, document({"parameters": [parameter("X-A", "header")]})))
    with pytest.raises(InvalidRequest, match="'X-A' must be ASCII characters on one line"):
        offered.read({"X-A": value})


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


async def test_whatever_is_sent_arrives_as_it_was(tmp_path: Path) -> None:
    """Values of all kinds, through a real server, in one process."""
    schema = {"type": "array", "items": {"type": "string"}}
    file = document(
        {"parameters": [parameter("id", "path"), parameter("q"), parameter("l", schema=schema)]},
        "/things/{id}",
    )
    cases: list[tuple[str, str, list[str]]] = []

    @settings(database=None)
    @given(TEXTS.filter(lambda text: text.strip("./\\")), TEXTS, st.lists(TEXTS, max_size=3))
    def collect(id: str, query: str, several: list[str]) -> None:
        cases.append((id, query, several))

    collect()
    told = 0
    async with serving_api() as service, offered_by(tmp_path, service, file) as offered:
        for id, query, several in cases:
            try:
                await call(offered, id=id, q=query, l=several)
            except InvalidRequest as error:
                assert error.param == "id"  # noqa: PT017 -- it may be refused, for this alone
                continue
            told += 1
            path, _, rest = service.got[-1].target.partition("?")
            assert path.count("/") == 2
            assert unquote(path.removeprefix("/things/")) == id
            pairs = parse_qsl(rest, keep_blank_values=True, strict_parsing=True)
            assert pairs == [("q", query), *(("l", each) for each in several)]
    assert told > len(cases) / 2


CUT: list[tuple[Any, Any, Any]] = [
    (COUNT, {"count": 3, "cost_price": 9}, {"count": 3}),
    ({"type": "array", "items": COUNT}, [{"count": 1, "x": 2}], [{"count": 1}]),
    ({"allOf": [COUNT, RANGE]}, {"count": 1, "to": 2, "x": 3}, {"count": 1, "to": 2}),
    ({"oneOf": [COUNT, {**RANGE, "required": ["to"]}]}, {"to": 2, "count": "x"}, {"to": 2}),
    (
        {"type": "object", "additionalProperties": COUNT},
        {"a": {"count": 1, "x": 2}},
        {"a": {"count": 1}},
    ),
    (
        {"type": "object", "patternProperties": {"^x-": COUNT}},
        {"x-a": {"count": 1, "b": 1}, "c": 1},
        {"x-a": {"count": 1}},
    ),
    ({"type": "object", "additionalProperties": True}, {"a": {"b": [1]}}, {"a": {"b": [1]}}),
    ({"type": "object"}, {"a": 1}, {}),
    ({"type": "object", "properties": {"any": {}}}, {"any": {"a": 1}, "b": 1}, {"any": {"a": 1}}),
    (
        {"type": "array", "prefixItems": [COUNT], "items": {"type": "string"}},
        [{"count": 1, "x": 1}, "a"],
        [{"count": 1}, "a"],
    ),
    ({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}, None, None),
    ({"type": "integer"}, 5, 5),
]


async def test_a_result_is_what_the_file_declares_and_nothing_beyond_that(tmp_path: Path) -> None:
    async with serving_api() as service:
        for schema, answer, result in CUT:
            service.answers(answer)
            file = document({"responses": answering(schema)})
            async with offered_by(tmp_path, service, file) as offered:
                assert await call(offered) == result


BROKEN: list[tuple[Any, dict[str, str], str]] = [
    ({}, {}, "The member 'count' is required; it must be a whole number."),
    ({"count": "3"}, {}, "'count' must be a whole number."),
    (b"{", {}, "Input data was truncated"),
    (b"<p>3</p>", {"Content_Type": "text/html"}, "is not JSON"),
    ({"count": 1, "more": "x" * 3000}, {}, "answered with more than 2048 bytes"),
]


async def test_an_answer_that_breaks_its_schema_is_a_fault(tmp_path: Path) -> None:
    async with serving_api() as service:
        file = document({"responses": answering(COUNT)})
        async with offered_by(tmp_path, service, file, max_bytes=2048) as offered:
            for answer, headers, message in BROKEN:
                service.answers(answer, 200, **headers)
                with pytest.raises((TypeError, ValueError), match=message):
                    await call(offered)


async def test_each_status_has_a_separate_schema(tmp_path: Path) -> None:
    responses = answering(COUNT) | {
        "202": {"description": "Later."},
        "2XX": answering(RANGE)["200"],
    }
    async with serving_api() as service:
        file = document({"responses": responses})
        async with offered_by(tmp_path, service, file) as offered:
            given = []
            for status in (200, 202, 203):
                service.answers({"count": 1, "to": 2}, status)
                given.append(await call(offered))
            assert given == [{"count": 1}, None, {"to": 2}]
            schema = offered.action.output_schema or {}
            assert [each["type"] for each in schema["anyOf"]] == ["object", "null", "object"]


REFUSALS: list[tuple[int, Any, dict[str, str], type[DeskError], str]] = [
    (400, {"detail": "Too\nmany."}, {}, InvalidRequest, "Too many."),
    (422, {"error": {"message": "No day."}}, {}, InvalidRequest, "No day."),
    (409, {"title": "Sold out."}, {}, PreconditionFailed, "Sold out."),
    (404, {}, {}, PreconditionFailed, "The service refused the request ({0})."),
    (404, b"No order.", {"Content_Type": "text/plain"}, PreconditionFailed, "No order."),
    (
        400,
        b"<h1>Oops</h1>",
        {"Content_Type": "text/html"},
        InvalidRequest,
        "The service says no (400).",
    ),
    (400, {"detail": "<script>x</script>"}, {}, InvalidRequest, "The service says no (400)."),
    (400, {"detail": f"Bad key {SECRET}"}, {}, InvalidRequest, "The service says no (400)."),
    (400, {"detail": "x" * 500}, {}, InvalidRequest, "x" * 299 + "…"),
    (400, b"{", {}, InvalidRequest, "The service says no (400)."),
    (
        401,
        {"detail": SECRET},
        {},
        Unavailable,
        "The service cannot be reached now; try again later.",
    ),
    (
        403,
        {"detail": "who?"},
        {},
        Unavailable,
        "The service cannot be reached now; try again later.",
    ),
    (
        429,
        {},
        {"Retry_After": "7"},
        Unavailable,
        "The service cannot do this now; try again later.",
    ),
    (
        503,
        {"detail": SECRET},
        {},
        Unavailable,
        "The service did not finish its response. It is unknown whether it took effect.",
    ),
    (
        302,
        b"",
        {"Location": "http://127.0.0.1:1/"},
        Unavailable,
        "The service cannot do this now; try again later.",
    ),
]


async def test_a_refusal_comes_to_plain_words(tmp_path: Path) -> None:
    file = document({"method": "post"})
    env = {"SHOP_TOKEN": SECRET}
    async with serving_api() as service:
        async with offered_by(
            tmp_path, service, file, environment=env, bearer_env="SHOP_TOKEN"
        ) as offered:
            with capture_logs() as logs:
                for status, body, headers, kind, message in REFUSALS:
                    service.answers(body, status, **headers)
                    with pytest.raises(DeskError) as refused:
                        await call(offered)
                    assert (type(refused.value), refused.value.message) == (kind, message)
                    assert refused.value.retry_after == (7 if status == 429 else None)
        assert len(service.got) == len(REFUSALS), "no redirect is followed, nothing is sent twice"
    assert SECRET not in repr(logs)
    assert [log["status"] for log in logs] == [401, 403, 503, 302]


async def test_the_desk_shows_its_credentials_and_no_caller_can(tmp_path: Path) -> None:
    told = [parameter("Authorization", "header"), parameter("X-Api-Key", "header")]
    env = {"PAIR": f"desk:{SECRET}", "KEY": "k-1"}
    async with serving_api() as service:
        async with offered_by(
            tmp_path,
            service,
            document({"parameters": told}),
            environment=env,
            basic_env="PAIR",
            header_env={"x-api-key": "KEY"},
        ) as offered:
            assert offered.action.input_schema["properties"] == {}
            await call(offered)
        (got,) = service.got
    assert (
        got.headers["Authorization"] == "Basic " + base64.b64encode(env["PAIR"].encode()).decode()
    )
    assert got.headers["X-Api-Key"] == "k-1"


async def test_a_service_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    async with serving_api() as service:
        pass
    async with offered_by(tmp_path, service, document({})) as offered:
        with capture_logs() as logs, pytest.raises(Unavailable, match="cannot be reached now"):
            await call(offered)
        (log,) = logs
        assert (log["event"], log["address"]) == ("service_failed", service.url)


async def test_what_became_of_a_change_that_broke_off_is_not_known(tmp_path: Path) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with serving_api() as service:
        service.handler = break_off
        for method, message in (
            ("post", "It is unknown whether it took effect"),
            ("get", "cannot be reached now"),
        ):
            async with offered_by(tmp_path, service, document({"method": method})) as offered:
                with pytest.raises(Unavailable, match=message):
                    await call(offered)


async def test_a_call_that_is_cancelled_lets_go_of_its_connection(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hang(_request: web.Request) -> web.StreamResponse:
        begun.set()
        await asyncio.get_running_loop().create_future()
        return web.Response()

    async with serving_api() as service, offered_by(tmp_path, service, document({})) as offered:
        service.handler = hang
        task = asyncio.create_task(call(offered))
        async with asyncio.timeout(60):
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        service.handler = service.empty
        assert await call(offered) is None
