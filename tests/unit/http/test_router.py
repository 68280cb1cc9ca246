"""From a method and a path to a row of a protocol's table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.desk.desk import Desk
from aitp_desk.http.router import DuplicateRoute, Router
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route


async def handle(_desk: Desk, _call: Call) -> Reply:
    return Reply(200)


def render(_error: DeskError, _headers: Mapping[str, str]) -> Reply:
    return Reply(500)


def gives_at(_desk: Desk, path: str) -> tuple[str, ...]:
    """What the one page is that the route has which takes every path."""
    return ("text/html",) if path == "/guides/boots" else ()


def protocol(name: str, *routes: str, owns: tuple[str, ...] = ()) -> ProtocolRoutes:
    """A protocol whose routes are written as ``GET /path``."""
    rows = []
    for route in routes:
        method, path = route.split(" ")
        kind: Literal["GET", "POST"] = "POST" if method == "POST" else "GET"
        rows.append(Route(kind, path, handle, counted=None, gives_at=gives_at))
    return ProtocolRoutes(name, tuple(rows), owns=owns, render_error=render)


TABLE = Router(
    [
        protocol(
            "threads",
            "POST /v1/threads",
            "GET /v1/threads/{id}",
            "POST /v1/threads/{id}",
            "GET /v1/threads/{id}/messages",
            owns=("/v1/",),
        ),
        protocol("other", "POST /v1/other/{a}/{b}", owns=("/v1/other/",)),
        # takes every path, and so comes last
        protocol("pages", "GET /", "GET /assets/{name}", "GET /{path:.*}", owns=("/",)),
    ]
)


def test_a_request_finds_its_route(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str, dict[str, str]]] = [
        ("POST", "/v1/threads", "/v1/threads", {}),
        ("GET", "/v1/threads/t1", "/v1/threads/{id}", {"id": "t1"}),
        ("HEAD", "/v1/threads/t1", "/v1/threads/{id}", {"id": "t1"}),
        ("GET", "/v1/threads/t1/messages", "/v1/threads/{id}/messages", {"id": "t1"}),
        ("GET", "/v1/threads/a%2fb", "/v1/threads/{id}", {"id": "a/b"}),
        ("GET", "/v1/threads/%2e%2e", "/v1/threads/{id}", {"id": ".."}),
        ("GET", "/v1/threads/%00%0a", "/v1/threads/{id}", {"id": "\x00\n"}),
        ("GET", "/v1/threads/%ff", "/v1/threads/{id}", {"id": "\ufffd"}),
        ("POST", "/v1/other/1/2", "/v1/other/{a}/{b}", {"a": "1", "b": "2"}),
        ("GET", "/", "/", {}),
        ("GET", "/assets/desk.css", "/assets/{name}", {"name": "desk.css"}),
        ("GET", "/guides/boots", "/{path:.*}", {"path": "guides/boots"}),
        ("GET", "//", "/{path:.*}", {"path": "/"}),
        # a path with too much or too little of a route is no route of it
        ("GET", "/v1/threads/", "/{path:.*}", {"path": "v1/threads/"}),
        ("GET", "/v1/threads/t1/", "/{path:.*}", {"path": "v1/threads/t1/"}),
    ]
    for method, path, template, params in cases:
        with subtests.test(method=method, path=path, template=template, params=params):
            found = TABLE.find(method, path)
            assert found is not None
            assert (found[1].path, found[2]) == (template, params)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/threads/t1", ("GET", "HEAD", "POST")),
        ("DELETE", "/v1/threads", ("POST",)),
        ("POST", "/v1/threads/t1/messages", ("GET", "HEAD")),
        # not a page, though a later route takes every path
        ("GET", "/v1/threads", ("POST",)),
        ("GET", "/v1/other/1/2", ("POST",)),
        ("POST", "/", ("GET", "HEAD")),
        ("POST", "/guides/boots", ("GET", "HEAD")),
        ("POST", "/guides/none", ()),
        ("OPTIONS", "*", ()),
        ("CONNECT", "other.example:443", ()),
    ],
)
def test_a_method_that_is_not_served_finds_nothing_but_what_is(
    method: str, path: str, allowed: tuple[str, ...]
) -> None:
    assert TABLE.find(method, path) is None
    assert TABLE.methods(path, cast(Desk, None)) == allowed


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("/v1/threads/t1", "threads"),
        ("/v1/nothing", "threads"),
        ("/v1/other/x", "other"),
        ("/v1", "pages"),
        ("/", "pages"),
        ("*", "pages"),
        ("other.example:443", "pages"),
        ("", "pages"),
    ],
)
def test_the_longest_prefix_decides_in_whose_form_an_address_is_refused(
    path: str, owner: str
) -> None:
    assert TABLE.owner(path).name == owner


@given(st.sampled_from(["GET", "POST", "PUT", "BREW"]), st.text(max_size=30))
def test_any_request_has_an_owner_and_no_fault(method: str, path: str) -> None:
    assert TABLE.owner(path).name in {"threads", "pages", "other"}
    found = TABLE.find(method, path)
    assert found is None or found[1].method == method


def test_a_route_that_two_protocols_claim_is_a_fault_of_the_program() -> None:
    for path in ("/a", "/a/{b}"):
        with pytest.raises(DuplicateRoute, match="GET /a"):
            Router([protocol("one", f"GET {path}"), protocol("two", f"GET {path}")])
