"""HAC around handlers of another owner, asked over HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Any, NoReturn

import aiohttp
import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, make_mocked_request

from aitp_desk.protocols.hac import (
    MEDIA_TYPE,
    Action,
    Context,
    HacError,
    Recovery,
    Resource,
    Safety,
)
from aitp_desk.protocols.hac.linter import check_document
from aitp_desk.protocols.hac.middleware import described, hac_middleware, refused
from aitp_desk.protocols.hac.status_recovery import explain
from tests.support.specs.hac_schemas import HacSchemas

HAC = {"Accept": MEDIA_TYPE}
BODY = b'{"title": "Emma",\n "price": 1.00}'
EDIT = Action(
    rel="edit",
    method="PUT",
    href="/book",
    safety=Safety(mutability="reversible", blast_radius="self"),
)


def book(_request: web.Request, payload: Any) -> Context:
    return Context(description=f"The book {payload['title']}.", actions=[EDIT])


async def book_later(request: web.Request, payload: Any) -> Context:
    return book(request, payload)


@described(book)
async def show(_request: web.Request) -> web.Response:
    response = web.Response(
        body=BODY,
        content_type="application/json",
        headers={"Cache-Control": "max-age=5", "Last-Modified": formatdate(), "X-Own": "yes"},
    )
    response.set_cookie("seen", "1")
    return response


@described(book_later, varies=())
async def same_for_all(_request: web.Request) -> web.Response:
    return web.json_response({"title": "Emma"}, headers={"ETag": '"mine"', "Vary": "Origin"})


@described(book)
async def squeezed(_request: web.Request) -> web.Response:
    response = web.json_response({"title": "Emma" * 500})
    response.enable_compression(web.ContentCoding.gzip)
    return response


@described(book)
async def page(_request: web.Request) -> web.Response:
    return web.Response(text="<h1>Emma</h1>", content_type="text/html")


@described(book)
async def created(request: web.Request) -> web.Response:
    return web.json_response(await request.json(), status=201, headers={"Location": "/book"})


@described(book)
async def removed(_request: web.Request) -> web.Response:
    return web.Response(status=204)


@described(book)
async def moved(_request: web.Request) -> NoReturn:
    raise web.HTTPFound("/book")


@described(book)
async def not_a_number(_request: web.Request) -> web.Response:
    return web.Response(text='{"title": NaN}', content_type="application/json")


@described(book)
async def untitled(_request: web.Request) -> web.Response:
    return web.json_response({"secret": "in the fault"})


@described(lambda _request, _payload: None)  # type: ignore[arg-type,return-value]
async def undescribed(_request: web.Request) -> web.Response:
    return web.json_response({})


@described(book)
async def halved(_request: web.Request) -> web.Response:
    return web.json_response({"title": "Emma \ud83d, \\ud83d and \N{OPEN BOOK}"})


@described(book)
async def boundless(_request: web.Request) -> web.Response:
    return web.Response(text='{"title": 1e999}', content_type="application/json")


@described(book)
async def deep(_request: web.Request) -> web.Response:
    return web.Response(text="[" * 50_000 + "]" * 50_000, content_type="application/json")


@described(book)
async def late(_request: web.Request) -> NoReturn:
    raise TimeoutError


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"one")
    await response.write_eof()
    return response


async def broken(_request: web.Request) -> NoReturn:
    raise RuntimeError("a secret")


class Shelf(web.View):
    @described(book)
    async def get(self) -> web.Response:
        return web.json_response({"title": "a shelf"})

    async def post(self) -> web.Response:
        effects.append("posted")
        return web.json_response({})


class Desk:
    @described(book)
    async def show(self, _request: web.Request) -> web.Response:
        return web.json_response({"title": "of a method"})


async def beside(_request: web.Request) -> web.Response:
    return web.json_response({"title": "Beside"})


effects: list[str] = []
OWNERS_FAULTS = {"/untitled", "/undescribed"}
"""Where the plain answer says nothing of what is wrong with the other."""


def refusing(status: type[web.HTTPError], **given: Any) -> Callable[[web.Request], Any]:
    async def handler(_request: web.Request) -> NoReturn:
        raise status(**given)

    return handler


async def returned(_request: web.Request) -> web.Response:
    return web.json_response({"why": "no beds"}, status=418, headers={"X-Own": "yes"})


async def too_many(_request: web.Request) -> NoReturn:
    raise refused(
        web.HTTPTooManyRequests,
        HacError(
            code="slow_down",
            message="Slowly.",
            retryable=True,
            retry_after=9,
            recovery=Recovery(description="Wait.", actions=[EDIT]),
            extra={"x-limit": 3},
        ),
    )


def application(**given: Any) -> web.Application:
    hac = hac_middleware(name="Books", **{"describe": {beside: book}, **given})
    app = web.Application(middlewares=[hac])
    for path, handler in {
        "/book": show,
        "/same": same_for_all,
        "/squeezed": squeezed,
        "/page": page,
        "/moved": moved,
        "/nan": not_a_number,
        "/untitled": untitled,
        "/late": late,
        "/undescribed": undescribed,
        "/deep": deep,
        "/halved": halved,
        "/boundless": boundless,
        "/stream": stream,
        "/broken": broken,
        "/method": Desk().show,
        "/beside": beside,
        "/418": returned,
        "/429": too_many,
        "/bare429": refusing(web.HTTPTooManyRequests),
        "/soon429": refusing(
            web.HTTPTooManyRequests, headers={"Retry-After": formatdate(time() + 90, usegmt=True)}
        ),
        "/503": refusing(web.HTTPServiceUnavailable, headers={"Retry-After": "7"}),
        "/403": refusing(web.HTTPForbidden, text="Not on Sundays."),
        "/403json": refusing(web.HTTPForbidden, text='{"x": 1}', content_type="application/json"),
    }.items():
        app.router.add_get(path, handler)
    app.router.add_view("/shelf", Shelf)
    app.router.add_post("/book", created)
    app.router.add_delete("/book", removed)
    return app


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        TestServer(app) as server,
        aiohttp.ClientSession(server.make_url("/")) as session,
    ):
        yield session


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with served(application()) as session:
        yield session


async def error_of(response: aiohttp.ClientResponse) -> Any:
    held = await response.read()
    assert response.headers["Content-Type"] == MEDIA_TYPE
    assert check_document(held) == []
    assert json.loads(held).keys() == {"error"}
    return json.loads(held)["error"]


@pytest.mark.requirement("HAC-2.3-1", "HAC-2.3-2", "HAC-2.3-3", "HAC-2.5-1", "HAC-3.1-5")
async def test_a_described_handler_has_two_faces(
    client: aiohttp.ClientSession, shared_folder: Path
) -> None:
    async with client.get("/book") as plain, client.get("/book", headers=HAC) as told:
        assert await plain.read() == BODY
        document = await told.read()
    assert plain.headers["Content-Type"] == "application/json"
    assert told.headers["Content-Type"] == MEDIA_TYPE
    assert plain.headers["Vary"] == told.headers["Vary"] == "Accept, Authorization"
    assert plain.headers["ETag"] != told.headers["ETag"]
    assert "Last-Modified" in plain.headers
    assert "Last-Modified" not in told.headers
    for name in ("Cache-Control", "X-Own", "Set-Cookie"):
        assert told.headers[name] == plain.headers[name]
    HacSchemas(shared_folder).check(json.loads(document))
    assert bytes(msgspec.json.decode(document, type=dict[str, msgspec.Raw])["data"]) == BODY
    assert json.loads(document)["_hac"] == {
        "version": "1.0",
        "description": "The book Emma.",
        "actions": [
            {
                "rel": "edit",
                "method": "PUT",
                "href": "/book",
                "safety": {"mutability": "reversible", "blast_radius": "self"},
            }
        ],
    }


@pytest.mark.requirement("HAC-2.3-4", "HAC-2.3-5")
@pytest.mark.parametrize(
    ("path", "accept", "status", "media_type"),
    [
        ("/book", f"{MEDIA_TYPE};q=0.5, application/json", 200, "application/json"),
        ("/book", "*/*", 200, "application/json"),
        ("/book", "text/html", 200, "application/json"),
        ("/book", f"{MEDIA_TYPE};version=2", 406, MEDIA_TYPE),
        ("/book", f"{MEDIA_TYPE};version=2, */*;q=0.1", 200, "application/json"),
        ("/book", f"text/html, {MEDIA_TYPE};q=0.1", 200, MEDIA_TYPE),
        ("/shelf", MEDIA_TYPE, 200, MEDIA_TYPE),
        ("/method", MEDIA_TYPE, 200, MEDIA_TYPE),
        ("/beside", MEDIA_TYPE, 200, MEDIA_TYPE),
        ("/stream", MEDIA_TYPE, 406, MEDIA_TYPE),
        ("/stream", f"{MEDIA_TYPE}, */*;q=0.1", 200, "application/octet-stream"),
        ("/page", MEDIA_TYPE, 406, MEDIA_TYPE),
        ("/page", f"{MEDIA_TYPE}, text/html", 200, "text/html"),
        ("/page", "text/html", 200, "text/html"),
        ("/page", f"{MEDIA_TYPE};version=2, text/html", 406, MEDIA_TYPE),
    ],
)
async def test_each_is_answered_as_the_header_asks(
    client: aiohttp.ClientSession, path: str, accept: str, status: int, media_type: str
) -> None:
    async with client.get(path, headers={"Accept": accept}) as response:
        assert (response.status, response.content_type) == (status, media_type)
        if status == 406:
            assert (await error_of(response))["code"] == "not_acceptable"


async def test_several_lines_are_one_list(client: aiohttp.ClientSession) -> None:
    for lines, media_type in (
        (("application/json;q=0.5", MEDIA_TYPE), MEDIA_TYPE),
        (("application/json", f"{MEDIA_TYPE};q=0.9"), "application/json"),
    ):
        headers = [("Accept", line) for line in lines]
        async with client.get("/book", headers=headers) as response:
            assert response.content_type == media_type


async def test_nothing_is_done_for_who_could_not_be_answered(client: aiohttp.ClientSession) -> None:
    effects.clear()
    async with client.post("/shelf", headers=HAC) as response:
        assert (await error_of(response))["code"] == "not_acceptable"
    assert effects == []
    async with client.post("/shelf") as response:
        assert (response.status, effects) == (200, ["posted"])


@pytest.mark.requirement("HAC-2.5-1")
async def test_each_representation_has_a_separate_version(client: aiohttp.ClientSession) -> None:
    tags = []
    for path in ("/book", "/same"):
        for headers in ({}, HAC):
            async with client.get(path, headers=headers) as response:
                tags.append(response.headers["ETag"])
    assert len(set(tags)) == 4
    assert tags[2] == '"mine"'
    for path, plain, told in (("/book", *tags[:2]), ("/same", *tags[2:])):
        for headers, held, status in (
            (HAC, told, 304),
            (HAC, f'"x", W/{told}', 304),
            (HAC, "*", 304),
            (HAC, plain, 200),
            ({}, plain, 304),
            ({}, told, 200),
        ):
            asked = {**headers, "If-None-Match": held}
            async with client.get(path, headers=asked) as response:
                assert response.status == status, (path, asked)
                assert response.headers["Vary"].startswith(("Accept", "Origin, Accept"))
                if status == 304:
                    assert response.headers["ETag"] == (told if headers else plain)
                    assert await response.read() == b""


async def test_responses_that_are_the_same_for_every_caller_do_not_vary_by_caller(
    client: aiohttp.ClientSession,
) -> None:
    async with client.get("/same", headers=HAC) as response:
        assert response.headers["Vary"] == "Origin, Accept"


async def test_a_head_tells_of_the_face_that_a_get_would_have(
    client: aiohttp.ClientSession,
) -> None:
    for headers in ({}, HAC):
        async with (
            client.get("/book", headers=headers) as get,
            client.head("/book", headers=headers) as head,
        ):
            for name in ("Content-Type", "Content-Length", "ETag", "Vary"):
                assert head.headers[name] == get.headers[name]


async def test_a_squeezed_answer_is_wrapped_first(client: aiohttp.ClientSession) -> None:
    async with client.get("/squeezed", headers=HAC) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["ETag"].startswith("W/")
        assert check_document(await response.read()) == []


async def test_other_answers_keep_what_they_are(client: aiohttp.ClientSession) -> None:
    async with client.post("/book", json={"title": "New"}, headers=HAC) as response:
        assert (response.status, response.headers["Location"]) == (201, "/book")
        assert (await response.json(content_type=MEDIA_TYPE))["data"] == {"title": "New"}
        assert "ETag" not in response.headers
    async with client.delete("/book", headers=HAC) as response:
        assert (response.status, await response.read()) == (204, b"")
    for headers in ({}, HAC):
        async with client.get("/moved", headers=headers, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (302, "/book")
            assert response.headers["Vary"] == "Accept, Authorization"


@pytest.mark.requirement("HAC-3.1-1", "HAC-3.1-2")
@pytest.mark.parametrize(
    ("path", "told"),
    [("/halved", "Emma \ufffd, \\ud83d and \N{OPEN BOOK}"), ("/boundless", "inf")],
)
async def test_any_json_is_wrapped_as_it_is(
    client: aiohttp.ClientSession, path: str, told: str
) -> None:
    async with client.get(path) as response:
        plain = await response.read()
    async with client.get(path, headers=HAC) as response:
        assert response.status == 200
        wrapped = await response.read()
    assert wrapped.startswith(b'{"data":' + plain + b',"_hac":{')
    assert json.loads(wrapped)["_hac"]["description"] == f"The book {told}."


@pytest.mark.parametrize("path", ["/nan", "/deep"])
async def test_what_is_no_json_to_be_read_is_given_plain_to_who_takes_that(
    client: aiohttp.ClientSession, path: str
) -> None:
    headers = {"Accept": f"{MEDIA_TYPE}, application/json;q=0.5"}
    async with client.get(path, headers=headers) as response:
        assert (response.status, response.content_type) == (200, "application/json")
    async with client.get(path, headers=HAC) as response:
        assert (response.status, (await error_of(response))["code"]) == (406, "not_acceptable")


@pytest.mark.requirement("HAC-6.1-1", "HAC-6.1-7", "HAC-6.3-1", "HAC-6.3-2", "HAC-6.3-3")
@pytest.mark.parametrize(
    ("method", "path", "status", "code", "message"),
    [
        ("GET", "/nowhere", 404, "not_found", "Not Found."),
        ("PUT", "/book", 405, "method_not_allowed", "Method Not Allowed."),
        ("GET", "/403", 403, "forbidden", "Not on Sundays."),
        ("GET", "/403json", 403, "forbidden", "Forbidden."),
        ("GET", "/418", 418, "im_a_teapot", "I'm a Teapot."),
        ("GET", "/broken", 500, "internal_server_error", "Internal Server Error."),
        ("GET", "/untitled", 500, "internal_server_error", "Internal Server Error."),
        ("GET", "/undescribed", 500, "internal_server_error", "Internal Server Error."),
        ("GET", "/late", 504, "gateway_timeout", "Gateway Timeout."),
    ],
)
async def test_a_refusal_is_rendered_in_the_envelope(
    client: aiohttp.ClientSession, method: str, path: str, status: int, code: str, message: str
) -> None:
    accept = {"Accept": f"{MEDIA_TYPE}, application/json;q=0.9"}
    async with client.request(method, path, headers=accept) as response:
        error = await error_of(response)
        assert (response.status, error["code"], error["message"]) == (status, code, message)
        assert error["recovery"]["description"]
        assert "secret" not in json.dumps(error)
        assert response.headers["Vary"].startswith("Accept")
    async with client.request(method, path) as plain:
        assert plain.status == (200 if path in OWNERS_FAULTS else status)
        assert plain.content_type != MEDIA_TYPE


async def test_a_refusals_own_headers_are_kept(client: aiohttp.ClientSession) -> None:
    async with client.get("/418", headers={"Accept": f"{MEDIA_TYPE}, */*;q=0.1"}) as response:
        assert response.headers["X-Own"] == "yes"
    async with client.put("/book", headers=HAC) as response:
        assert response.headers["Allow"] == "DELETE,GET,HEAD,POST"
        (way_out,) = (await error_of(response))["recovery"]["actions"]
    async with client.request(way_out["method"], way_out["href"], headers=HAC) as response:
        assert response.status == 200


@pytest.mark.requirement("HAC-6.3-5", "HAC-6.1-4", "HAC-6.1-5")
@pytest.mark.parametrize(
    ("path", "lowest", "highest"),
    [("/429", 9, 9), ("/bare429", 60, 60), ("/soon429", 80, 90), ("/503", 7, 7)],
)
async def test_two_waits_in_a_row_are_announced_the_same_way(
    client: aiohttp.ClientSession, path: str, lowest: int, highest: int
) -> None:
    accept = {"Accept": f"{MEDIA_TYPE}, */*;q=0.1"}
    async with client.get(path, headers=accept) as response:
        error = await error_of(response)
        assert error["retryable"] is True
        assert lowest <= error["retry_after"] <= highest
        assert response.headers["Retry-After"] == str(error["retry_after"])


async def test_what_a_handler_refuses_is_sent_to_all_the_same_way(
    client: aiohttp.ClientSession,
) -> None:
    wide = {"Accept": f"{MEDIA_TYPE}, */*;q=0.1"}
    async with client.get("/429") as plain, client.get("/429", headers=wide) as told:
        assert await plain.read() == await told.read()
        assert plain.headers["Retry-After"] == told.headers["Retry-After"] == "9"
        assert plain.content_type == "application/json"
        assert (await error_of(told))["x-limit"] == 3


@pytest.mark.requirement("HAC-7.1-1", "HAC-8.3-1")
async def test_the_root_tells_what_there_is() -> None:
    profile = "https://books.example/profile"
    resources = [Resource(rel="books", href="/book", methods=["GET", "POST"])]
    app = application(description="Of books.", version="2.1", resources=resources, profile=profile)
    accept = {"Accept": f'{MEDIA_TYPE}; profile="{profile}"'}
    async with served(app) as client:
        async with client.get("/", headers=accept) as response:
            held = await response.read()
            assert response.headers["Content-Type"] == f'{MEDIA_TYPE}; profile="{profile}"'
            assert response.headers["Vary"] == "Accept"
            tag = response.headers["ETag"]
        assert check_document(held) == []
        assert json.loads(held)["_hac"] == {
            "name": "Books",
            "version": "2.1",
            "description": "Of books.",
            "resources": [{"rel": "books", "href": "/book", "methods": ["GET", "POST"]}],
        }
        async with client.get("/", headers={**accept, "If-None-Match": tag}) as response:
            assert response.status == 304
        async with client.get("/") as response:
            assert (response.status, response.headers["Vary"]) == (404, "Accept")
        async with client.post("/", headers=accept) as response:
            assert response.status == 404
        async with client.get("/book", headers=accept) as response:
            assert response.headers["Content-Type"] == f'{MEDIA_TYPE}; profile="{profile}"'


async def test_the_root_may_be_elsewhere_and_tell_each_caller_another() -> None:
    def resources(request: web.Request) -> list[Resource]:
        known = "Authorization" in request.headers
        return [Resource(rel="books", href="/book")] if known else []

    async with served(application(resources=resources, root="/api")) as client:
        for headers, count in ((HAC, 0), ({**HAC, "Authorization": "x"}, 1)):
            async with client.get("/api", headers=headers) as response:
                told = await response.json(content_type=MEDIA_TYPE)
                assert len(told["_hac"]["resources"]) == count
                assert response.headers["Vary"] == "Accept, Authorization"
        async with client.get("/", headers=HAC) as response:
            (way_out,) = (await error_of(response))["recovery"]["actions"]
            assert (response.status, way_out["href"]) == (404, "/api")


async def test_refusals_in_a_form_of_ones_own_can_be_explained() -> None:
    def explained(_request: web.Request, response: web.Response) -> HacError | None:
        if response.status != 418:
            return None
        return HacError(code="no_beds", message=json.loads(response.text or "")["why"])

    async with served(application(explained=explained)) as client:
        wide = {"Accept": f"{MEDIA_TYPE}, */*;q=0.1"}
        async with client.get("/418", headers=wide) as response:
            assert await error_of(response) == {"code": "no_beds", "message": "no beds"}
        async with client.get("/403", headers=wide) as response:
            assert (await error_of(response))["message"] == "Not on Sundays."


@pytest.mark.requirement("HAC-9.4-1")
async def test_serving_without_tls_beyond_this_machine_is_warned_about_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def warnings() -> list[str]:
        return [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]

    for url in ("", "https://books.example", "http://127.0.0.1:8090", "http://localhost"):
        hac_middleware(name="Books", url=url)
    assert warnings() == []
    hac_middleware(name="Books", url="http://books.example")
    assert ["http://books.example" in one for one in warnings()] == [True]

    caplog.clear()
    async with served(application()) as client, client.get("/book") as response:
        assert (response.status, warnings()) == (200, [])
    hac = hac_middleware(name="Books")
    for host in ("127.0.0.1", "::1", "192.0.2.7", "192.0.2.7"):
        asked = Transport(host).request
        await hac(asked, show)
    assert ["http://192.0.2.7" in one for one in warnings()] == [True]


class Transport:
    """A connection that came in at an address of this machine."""

    def __init__(self, host: str) -> None:
        self.host = host

    @property
    def request(self) -> web.Request:
        return make_mocked_request("GET", "/book", transport=self, app=web.Application())

    def get_extra_info(self, name: str, _default: Any = None) -> Any:
        return (self.host, 80) if name == "sockname" else None


def test_every_status_has_a_way_on(subtests: pytest.Subtests) -> None:
    cases: list[int] = [*range(400, 430), 451, 499, *range(500, 512), 599]
    for status in cases:
        with subtests.test(status=status):
            error = explain(status, here="/a|b", allowed=["GET"], retry_after=3)
            assert error.recovery is not None
            assert error.recovery.description
            assert error.code.isidentifier()
            assert (error.retry_after == 3) is error.retryable
