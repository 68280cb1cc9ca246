"""Every error over every protocol, held against the table in docs/protocols/errors.md."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, get_args

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import Site
from aitp_desk.model import errors
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.a2a.errors_wire import (
    render_http_error,
    render_http_error_03,
    render_rpc_error,
)
from aitp_desk.protocols.ahp.error_wire import render_error as render_ahp
from aitp_desk.protocols.aitp.wire import render_error as render_aitp
from aitp_desk.protocols.base.protocol import Reply
from aitp_desk.protocols.health.routes import make_routes as make_health_routes
from aitp_desk.protocols.mcp.routes import render_error as render_mcp
from aitp_desk.protocols.nlweb.wire import render_error as render_nlweb
from aitp_desk.protocols.oauth.wire import render_error as render_oauth
from aitp_desk.protocols.openapi.wire import render_error as render_openapi
from aitp_desk.web.console.wire import render_error as render_console
from aitp_desk.web.pages.routes import PagesHandlers
from tests.docs.tables.errors import promised_errors
from tests.support.payments.methods import TOLD
from tests.support.protocols.refusals import CLASSES, make_error

UNPAID = {"price": TOLD["price"], "payment": TOLD}
"""What stands next to a refusal because something has to be paid first."""
MESSAGE = 'This is wrong: <b>"&"</b> \u2028. That would be right.'
PAGES = PagesHandlers(Site(url="https://desk.example"), render_json=render_aitp)
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

OAUTH_CODES = {
    errors.UnsupportedGrant: "unsupported_grant_type",
    errors.InvalidScope: "invalid_scope",
    errors.InvalidTarget: "invalid_target",
    errors.InvalidClientMetadata: "invalid_client_metadata",
    errors.UnknownClient: "invalid_client",
    errors.NotAuthenticated: "invalid_token",
    errors.TokenRefused: "invalid_token",
    errors.Forbidden: "access_denied",
    errors.ScopeMissing: "access_denied",
    errors.RateLimited: "temporarily_unavailable",
    errors.Unavailable: "temporarily_unavailable",
    errors.StoreBusy: "temporarily_unavailable",
    errors.InternalError: "server_error",
}
"""What OAuth 2.0 calls them; whatever is not here is an ``invalid_request``."""


def every_error(test: Callable[[type[DeskError]], None]) -> Callable[[], None]:
    """Hold every error against a test, which says of which class it fails."""

    def test_all() -> None:
        for made in CLASSES:
            try:
                test(made)
            except AssertionError as error:
                error.add_note(made.__name__)
                raise

    test_all.__name__, test_all.__doc__ = test.__name__, test.__doc__
    return test_all


def make(made: type[DeskError]) -> DeskError:
    return make_error(made, MESSAGE)


def headers_of(error: DeskError) -> list[tuple[str, str]]:
    """The headers that the page promises."""
    headers = []
    if error.retry_after is not None:
        headers.append(("Retry-After", str(error.retry_after)))
    if isinstance(error, errors.NotAuthenticated):
        wrong = ', error="invalid_token"' if isinstance(error, errors.TokenRefused) else ""
        headers.append(("WWW-Authenticate", f'Bearer realm="aitp-desk"{wrong}'))
        headers.append(("WWW-Authenticate", 'AITP-HMAC-SHA256 realm="aitp-desk"'))
    if isinstance(error, errors.ScopeMissing):
        wrong = 'error="insufficient_scope", scope="threads"'
        headers.append(("WWW-Authenticate", f'Bearer realm="aitp-desk", {wrong}'))
    if isinstance(error, errors.MethodNotAllowed):
        headers.append(("Allow", "GET, HEAD"))
    if isinstance(error, errors.IdempotencyConflict):
        headers.append(("x-should-retry", "false"))
    return headers


def read(reply: Reply, error: DeskError) -> Any:
    """The body of a refusal in JSON, after a look at what all protocols share."""
    assert reply.status == promised_errors()[error.kind.value].status
    assert reply.content_type == "application/json"
    assert list(reply.headers) == headers_of(error)
    return json.loads(reply.body)


def test_the_table_has_every_kind_once_and_no_other() -> None:
    assert list(promised_errors()) == [kind.value for kind in ErrorKind]
    assert all(row.meaning for row in promised_errors().values())


def test_every_kind_has_an_error_and_every_error_stands_in_the_tree_of_its_module() -> None:
    assert {made.kind for made in CLASSES} == set(ErrorKind)
    tree = str(errors.__doc__)
    assert [made.__name__ for made in CLASSES if f"─ {made.__name__} " not in tree] == []
    assert {made.__module__ for made in CLASSES} == {errors.__name__}


@every_error
def test_threads(made: type[DeskError]) -> None:
    error = make(made)
    row = promised_errors()[error.kind.value]
    expected: dict[str, Any] = {
        "message": MESSAGE,
        "type": row.threads_type,
        "param": error.param,
        "code": row.kind,
    }
    if isinstance(error, errors.PaymentRequired):
        expected |= UNPAID
    assert read(render_aitp(error, {}), error) == {"error": expected}


@every_error
def test_the_console(made: type[DeskError]) -> None:
    error = make(made)
    reply = render_console(error, {})
    row = promised_errors()[error.kind.value]
    assert (reply.status, reply.content_type) == (row.status, "application/json")
    shared = [header for header in headers_of(error) if header[0] != "WWW-Authenticate"]
    if isinstance(error, errors.NotAuthenticated):
        shared.append(("WWW-Authenticate", 'Cookie realm="aitp-desk console"'))
    assert list(reply.headers) == shared
    assert json.loads(reply.body) == {
        "error": {"code": row.kind, "message": MESSAGE, "param": error.param}
    }


@every_error
def test_ahp(made: type[DeskError]) -> None:
    error = make(made)
    row = promised_errors()[error.kind.value]
    body = read(render_ahp(error, {}), error)
    expected: dict[str, Any] = {"status": "error", "code": row.ahp_code, "message": MESSAGE}
    if row.ahp_detail is not None:
        expected["detail"] = row.ahp_detail
    if error.param is not None:
        expected["param"] = error.param
    if error.retry_after is not None:
        expected["retry_after"] = error.retry_after
    match error:
        case errors.UnknownAction():
            expected["available_capabilities"] = ["a", "b"]
        case errors.UnsupportedType():
            expected["available_types"] = ["text/answer"]
        case errors.RateLimited():
            expected["scope"] = "ip"
        case errors.PaymentRequired():
            expected |= UNPAID
        case errors.UnknownVersion():
            expected |= {"supported": ["0.1"], "manifest": "/.well-known/agent.json"}
        case _:
            pass
    assert body == expected


@every_error
def test_calls(made: type[DeskError]) -> None:
    """RFC 9457."""
    error = make(made)
    row = promised_errors()[error.kind.value]
    status = 404 if made is errors.UnknownAction else row.status
    reply = render_openapi(error, {})
    assert (reply.status, reply.content_type) == (status, "application/problem+json")
    assert list(reply.headers) == headers_of(error)
    body = json.loads(reply.body)
    expected = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": MESSAGE,
        "code": row.kind,
    }
    for member in ("param", "retry_after"):
        if (value := getattr(error, member)) is not None:
            expected[member] = value
    match error:
        case errors.ConsentMissing():
            expected["price"] = {"amount": "29.99", "currency": "EUR"}
        case errors.PaymentRequired():
            expected |= UNPAID
        case errors.UnknownAction():
            expected["available_capabilities"] = ["a", "b"]
        case errors.UnsupportedType():
            expected["available_types"] = ["text/answer"]
        case _:
            pass
    assert body == expected


@every_error
def test_nlweb(made: type[DeskError]) -> None:
    error = make(made)
    row = promised_errors()[error.kind.value]
    code = "INTERNAL_ERROR" if row.kind == "internal" else row.kind.upper()
    expected: dict[str, Any] = {"code": code, "message": MESSAGE}
    for member in ("param", "retry_after"):
        if (value := getattr(error, member)) is not None:
            expected[member] = value
    assert read(render_nlweb(error, {}), error) == {
        "_meta": {"response_type": "Failure", "version": "0.54"},
        "error": expected,
    }


@every_error
def test_tokens(made: type[DeskError]) -> None:
    error = make(made)
    reply = render_oauth(error, {})
    expected = [*headers_of(error), ("Pragma", "no-cache")]
    if made is errors.UnknownClient:
        expected[:2] = [("WWW-Authenticate", 'Basic realm="aitp-desk"')]
    assert reply.status == promised_errors()[error.kind.value].status
    assert list(reply.headers) == expected
    body = json.loads(reply.body)
    assert body.keys() == {"error", "error_description"}
    assert body["error"] == OAUTH_CODES.get(made, "invalid_request")
    # the characters that RFC 6749, section 5.2, allows
    assert re.fullmatch(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+", body["error_description"])
    assert "That would be right." in body["error_description"]


@every_error
def test_pages_for_a_browser(made: type[DeskError]) -> None:
    error = make(made)
    row = promised_errors()[error.kind.value]
    reply = PAGES.render_error(error, BROWSER)
    assert reply.status == row.status
    assert reply.content_type == "text/html; charset=utf-8"
    headers = dict(reply.headers)
    assert set(reply.headers) >= set(headers_of(error))
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    page = LexborHTMLParser(reply.body.decode())
    heading = page.css_first("h1")
    assert heading is not None
    assert heading.text(strip=True) == row.page
    main = page.css_first("main")
    assert main is not None
    assert "That would be right." in main.text()
    assert main.css_first("b") is None  # the message is text, whatever it holds
    assert page.css_first(".ahp-notice") is not None
    assert page.css_first('link[rel="agent-manifest"]') is not None


@every_error
def test_pages_and_follows_for_everyone_else(made: type[DeskError]) -> None:
    error = make(made)
    for accept in (None, "*/*", "application/json", "text/html;q=0.1, */*"):
        headers = {} if accept is None else {"Accept": accept}
        told = render_aitp(error, headers)
        varied = msgspec.structs.replace(told, headers=(*told.headers, ("Vary", "Accept")))
        assert PAGES.render_error(error, headers) == varied
        health = make_health_routes(render_aitp).render_error(error, headers)
        assert health == render_aitp(error, headers)


@every_error
def test_mcp_gives_an_error_of_json_rpc_that_names_the_kind(made: type[DeskError]) -> None:
    error = make(made)
    row = promised_errors()[error.kind.value]
    reply = render_mcp(error, {})
    assert (reply.status, reply.content_type) == (row.status, "application/json")
    assert list(reply.headers) == headers_of(error)
    body = json.loads(reply.body)
    assert body.keys() == {"jsonrpc", "id", "error"}
    assert (body["jsonrpc"], body["id"]) == ("2.0", None)
    assert body["error"]["message"] == MESSAGE
    assert body["error"]["code"] in {-32600, -32601, -32603, -32010}
    expected = {"code": row.kind}
    for member in ("param", "retry_after"):
        if (value := getattr(error, member)) is not None:
            expected[member] = value
    assert body["error"]["data"] == expected


@pytest.mark.parametrize("render", [render_ahp, render_aitp, render_openapi])
def test_further_help_is_reported_where_there_is_any(
    render: Callable[[DeskError, dict[str, str]], Reply],
) -> None:
    recovery = errors.Recovery("Ask for less.", ("stock",))
    body = json.loads(render(errors.PreconditionFailed(MESSAGE, recovery=recovery), {}).body)
    assert body.get("error", body)["recovery"] == {
        "description": "Ask for less.",
        "actions": ["stock"],
    }


@pytest.mark.parametrize("scope", get_args(errors.LimitScope))
def test_the_scope_of_a_limit_is_named_where_ahps_list_has_a_word_for_it(
    scope: errors.LimitScope,
) -> None:
    error = errors.RateLimited(MESSAGE, scope=scope, retry_after=42)
    has_word = scope in {"ip", "agent", "session", "session_tokens"}
    assert json.loads(render_ahp(error, {}).body).get("scope") == (scope if has_word else None)


@pytest.mark.parametrize(
    "render", [render_ahp, render_aitp, render_openapi, render_mcp, PAGES.render_error]
)
def test_where_waiting_does_not_help_the_header_says_that_there_is_nothing_to_wait_for(
    render: Callable[[DeskError, dict[str, str]], Reply],
) -> None:
    error = errors.RateLimited(MESSAGE, scope="session_tokens", retry_after=None)
    reply = render(error, {})
    assert dict(reply.headers)["Retry-After"] == "0"
    if render is render_ahp:
        assert json.loads(reply.body)["retry_after"] is None


A2A_CODES = {
    errors.TaskNotFound: (-32001, "TASK_NOT_FOUND", 404),
    errors.TaskNotCancelable: (-32002, "TASK_NOT_CANCELABLE", 400),
    errors.TaskIsOver: (-32004, "UNSUPPORTED_OPERATION", 400),
    errors.UnsupportedMedia: (-32005, "CONTENT_TYPE_NOT_SUPPORTED", 415),
    errors.UnknownVersion: (-32009, "VERSION_NOT_SUPPORTED", 400),
    errors.InvalidRequest: (-32602, "INVALID_PARAMS", 400),
    errors.RouteNotFound: (-32601, "METHOD_NOT_FOUND", 404),
    errors.InternalError: (-32603, "INTERNAL_ERROR", 500),
}
"""What A2A has a code for."""


@every_error
def test_over_a2a(made: type[DeskError]) -> None:
    error = make(made)
    called, plain, old = (
        render(error, {}) for render in (render_rpc_error, render_http_error, render_http_error_03)
    )
    assert {tuple(reply.headers) for reply in (called, plain, old)} == {tuple(headers_of(error))}
    said = json.loads(called.body)
    assert said.keys() == {"jsonrpc", "id", "error"}
    assert said["error"]["message"] == error.message
    told = json.loads(plain.body)["error"]
    assert (told["code"], told["message"]) == (plain.status, error.message)
    assert told["details"] == said["error"]["data"]
    reason = told["details"][0]["reason"]
    named = json.loads(old.body)
    assert named["error"] == told
    assert named["type"].endswith("Error")
    assert called.status in {200, promised_errors()[error.kind.value].status}
    if made in A2A_CODES:
        assert (said["error"]["code"], reason, plain.status) == A2A_CODES[made]
