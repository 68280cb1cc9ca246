"""An aiohttp site of another owner, with `announce` and without, asked over HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.middleware import add_to_page, announce
from aitp_desk.protocols.base.discovery_links import link_header, write_head_tags, write_notice

PAGE = (
    "<!doctype html>\n<html><head><title>Old books</title></head>"
    "<body><h1>Grüße</h1></body></html>\n"
)
HTML = {"Content-Type": "text/html; charset=utf-8"}
PLAIN = {"Accept-Encoding": "identity"}
AGENT = {"Accept": "application/agent+json"}
DRAWN = """<!doctype html>
<html lang="en"><head><title>The API of our shop</title></head>
<body><div id="swagger-ui"></div>
<script>document.getElementById("swagger-ui").innerHTML = "<body></body>";</script>
</body></html>
"""
TAGS, NOTICE = write_head_tags().encode(), write_notice(hidden=True).encode()
FILE = b"<html><head></head><body>from a file</body></html>"


async def page(_request: web.Request) -> web.Response:
    return web.Response(text=PAGE, content_type="text/html", headers={"ETag": '"one"'})


async def drawn(_request: web.Request) -> web.Response:
    return web.Response(text=DRAWN, content_type="text/html")


async def squeezed(_request: web.Request) -> web.Response:
    response = web.Response(text=PAGE * 20, content_type="text/html")
    response.enable_compression(web.ContentCoding.gzip)
    return response


async def raised(_request: web.Request) -> NoReturn:
    raise web.HTTPGone(text=PAGE, content_type="text/html")


async def moved(_request: web.Request) -> NoReturn:
    raise web.HTTPFound("/page")


async def broken(_request: web.Request) -> NoReturn:
    raise RuntimeError("a fault of the site's own")


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers=HTML)
    await response.prepare(request)
    await response.write(b"<html><head></head><body>streamed")
    await response.write(b"</body></html>")
    return response


async def told_length(_request: web.Request) -> web.Response:
    body = PAGE.encode()
    return web.Response(body=body, headers={**HTML, "Content-Length": str(len(body))})


async def head_of_page(_request: web.Request) -> web.Response:
    return web.Response(headers={**HTML, "Content-Length": str(len(PAGE.encode()))})


async def linked(_request: web.Request) -> web.Response:
    return web.Response(text="ok", headers={"Link": '</next>; rel="next"'})


async def announced_already(_request: web.Request) -> web.Response:
    return web.Response(text="ok", headers={"Link": link_header("https://desk.example")})


async def socket(request: web.Request) -> web.WebSocketResponse:
    connection = web.WebSocketResponse()
    await connection.prepare(request)
    await connection.send_str("hello")
    await connection.close()
    return connection


async def manifest(_request: web.Request) -> web.Response:
    return web.json_response({"ahp": "0.1"})


@asynccontextmanager
async def site(tmp_path: Path, *, url: str = "") -> AsyncIterator[aiohttp.ClientSession]:
    """The site, and a client whose addresses are its own and who follows no redirect."""
    (tmp_path / "file.html").write_bytes(FILE)
    app = web.Application()
    app.router.add_get("/page", page)
    app.router.add_get("/api/docs", drawn)
    app.router.add_get("/squeezed", squeezed)
    app.router.add_get("/raised", raised)
    app.router.add_get("/moved", moved)
    app.router.add_get("/broken", broken)
    app.router.add_get("/stream", stream)
    app.router.add_get("/told-length", told_length)
    app.router.add_get("/own-head", page, allow_head=False)
    app.router.add_head("/own-head", head_of_page)
    app.router.add_get("/linked", linked)
    app.router.add_get("/announced", announced_already)
    app.router.add_get("/.well-known/agent.json", manifest)
    app.router.add_get("/socket", socket)
    app.router.add_static("/files", tmp_path)
    shop = web.Application()
    shop.router.add_get("/page", page)
    app.add_subapp("/shop", shop)
    announce(app, url=url)
    async with TestServer(app) as server, aiohttp.ClientSession(server.make_url("/")) as client:
        yield client


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async with site(tmp_path) as client:
        yield client


@pytest.mark.requirement("AHP-3.2-3")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/page", 200),
        ("HEAD", "/page", 200),
        ("GET", "/raised", 410),
        ("GET", "/moved", 302),
        ("GET", "/broken", 500),
        ("GET", "/nowhere", 404),
        ("POST", "/page", 405),
        ("GET", "/stream", 200),
        ("GET", "/files/file.html", 200),
        ("GET", "/.well-known/agent.json", 200),
    ],
)
async def test_every_response_of_the_site_names_the_manifest(
    client: aiohttp.ClientSession, method: str, path: str, status: int
) -> None:
    async with client.request(method, path, allow_redirects=False) as response:
        assert response.status == status
        assert response.headers.getall("Link") == [link_header()]


async def test_a_link_of_the_site_s_own_stays_and_a_manifest_is_named_once(
    client: aiohttp.ClientSession,
) -> None:
    async with client.get("/linked") as response:
        assert response.headers.getall("Link") == ['</next>; rel="next"', link_header()]
    async with client.get("/announced") as response:
        assert response.headers.getall("Link") == [link_header("https://desk.example")]


@pytest.mark.requirement("AHP-3.2-1", "AHP-3.2-2")
@pytest.mark.parametrize("path", ["/page", "/nowhere", "/stream", "/broken"])
@pytest.mark.parametrize("url", ["", "https://desk.example"])
async def test_who_asks_for_the_manifest_is_sent_there_from_every_address(
    tmp_path: Path, path: str, url: str
) -> None:
    async with (
        site(tmp_path, url=url) as client,
        client.get(path, headers=AGENT, allow_redirects=False) as response,
    ):
        assert response.status == 302
        assert response.headers["Location"] == f"{url}/.well-known/agent.json"
        assert response.headers["Vary"] == "Accept"


async def test_the_manifest_s_own_address_and_what_is_posted_are_not_redirected(
    client: aiohttp.ClientSession,
) -> None:
    async with client.get("/page", headers=AGENT) as response:
        assert (response.status, await response.json()) == (200, {"ahp": "0.1"})
    async with client.post("/page", headers=AGENT, allow_redirects=False) as response:
        assert response.status == 405
    browser = {"Accept": "text/html,application/agent+json;q=0.9,*/*;q=0.8"}
    async with client.get("/page", headers=browser) as response:
        assert response.content_type == "text/html"


@pytest.mark.requirement("AHP-3.4-4", "AHP-3.4-6")
async def test_api_documentation_that_a_script_draws_has_the_notice_where_the_script_leaves_it(
    client: aiohttp.ClientSession,
) -> None:
    async with client.get("/api/docs", headers=PLAIN) as response:
        text = await response.text()
    assert (
        text.replace(write_head_tags() + "\n", "").replace(write_notice(hidden=True) + "\n", "")
        == DRAWN
    )
    read = LexborHTMLParser(text)
    assert read.css_first("#swagger-ui .ahp-notice") is None
    assert read.css_first("body > section.ahp-notice") is not None


@pytest.mark.requirement("AHP-3.3-1", "AHP-3.4-1", "AHP-3.4-5", "AHPW-2.4.1-1")
@pytest.mark.parametrize("path", ["/page", "/raised", "/told-length"])
async def test_a_page_has_tags_and_notice_and_is_else_what_it_was(
    client: aiohttp.ClientSession, path: str
) -> None:
    async with client.get(path, headers=PLAIN) as response:
        body = await response.read()
        assert response.headers["Content-Length"] == str(len(body))
    text = body.decode()
    assert (
        text.replace(write_head_tags() + "\n", "").replace(write_notice(hidden=True) + "\n", "")
        == PAGE
    )
    read = LexborHTMLParser(text)
    assert read.css_first('head link[rel="agent-manifest"]') is not None
    found = read.css_first("body > section.ahp-notice[hidden]")
    assert found is not None
    assert "POST /agent/converse" in found.text()


async def test_a_page_keeps_its_version_and_head_tells_the_length_of_get(
    client: aiohttp.ClientSession,
) -> None:
    async with client.get("/page", headers=PLAIN) as got:
        assert got.headers["ETag"] == '"one"'
        async with client.head("/page", headers=PLAIN) as asked:
            assert (asked.status, await asked.read()) == (200, b"")
            assert asked.headers["Content-Length"] == got.headers["Content-Length"]
    async with client.head("/own-head") as asked:
        assert asked.status == 200
        assert "Content-Length" not in asked.headers


async def test_what_the_server_compresses_is_added_to_before(client: aiohttp.ClientSession) -> None:
    async with client.get("/squeezed", headers={"Accept-Encoding": "gzip"}) as response:
        assert response.headers["Content-Encoding"] == "gzip"
        body = await response.read()
    assert body.count(TAGS) == 1
    assert body.count(NOTICE) == 1


async def test_streams_and_files_are_sent_as_they_are(client: aiohttp.ClientSession) -> None:
    async with client.get("/stream") as response:
        assert await response.read() == b"<html><head></head><body>streamed</body></html>"
    async with client.get("/files/file.html") as response:
        assert await response.read() == FILE
    async with client.get("/files/file.html", headers={"Range": "bytes=6-11"}) as response:
        assert (response.status, await response.read()) == (206, FILE[6:12])


async def test_web_sockets_and_applications_below_work_and_name_the_manifest(
    client: aiohttp.ClientSession,
) -> None:
    async with client.ws_connect("/socket") as connection:
        assert await connection.receive_str() == "hello"
    async with client.get("/shop/page") as response:
        assert response.headers.getall("Link") == [link_header()]
        assert (await response.read()).count(NOTICE) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/xhtml+xml"},
        {**HTML, "Content-Encoding": "br"},
        {**HTML, "Content-Range": "bytes 0-9/100"},
        {**HTML, "Repr-Digest": "sha-256=:YWJj:"},
        {**HTML, "Accept-Ranges": "bytes"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
async def test_what_is_no_whole_page_of_html_is_sent_as_it_is(headers: dict[str, str]) -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(body=PAGE.encode(), headers=headers)

    app = web.Application()
    app.router.add_get("/", handler)
    announce(app)
    async with (
        TestServer(app) as server,
        aiohttp.ClientSession(server.make_url("/"), auto_decompress=False) as client,
        client.get("/") as response,
    ):
        assert await response.read() == PAGE.encode()
        assert "Link" in response.headers


def test_tags_and_notice_go_where_head_and_body_end(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bytes, bytes]] = [
        (b"<p>a fragment</p>", b"<p>a fragment</p>"),
        (b"", b""),
        (b"<head></head><p>", b"<head>T</head><p>"),
        (b"<body>x</body>", b"<body>xN</body>"),
        (b"<HEAD></HEAD ><BODY></BODY\n>", b"<HEAD>T</HEAD ><BODY>N</BODY\n>"),
        (
            b"<head><!-- </head> --><script>'</head>'</script></head><body>",
            b"<head><!-- </head> --><script>'</head>'</script>T</head><body>",
        ),
        (
            b"<head></head><body><pre>&lt;/body></pre><textarea></body></textarea></body>",
            b"<head>T</head><body><pre>&lt;/body></pre><textarea></body></textarea>N</body>",
        ),
        (b"<!--> <head></head>", b"<!--> <head>T</head>"),
        (
            b"<head><meta content='say </head> last'></head><body title = \"</body>\"><p></body>",
            b"<head><meta content='say </head> last'>T</head><body title = \"</body>\"><p>N</body>",
        ),
        (
            b"<head><link href=it's><script src='</script>'></head></script></head>",
            b"<head><link href=it's><script src='</script>'></head></script>T</head>",
        ),
        (
            b"<head></head><body></body><a title='</body>",
            b"<head>T</head><body>N</body><a title='</body>",
        ),
        (
            b"<head></head><body></body><!-- </body> -->",
            b"<head>T</head><body>N</body><!-- </body> -->",
        ),
        (
            b"<head><script>never closed</head><body></body>",
            b"<head><script>never closed</head><body></body>",
        ),
        ("<head></head>".encode("utf-16"), "<head></head>".encode("utf-16")),
        (
            b'<head><link rel="agent-manifest" href="/x"></head><body></body>',
            b'<head><link rel="agent-manifest" href="/x"></head><body>N</body>',
        ),
        (
            b'<head></head><body><div class="ahp-notice"></div></body>',
            b'<head>T</head><body><div class="ahp-notice"></div></body>',
        ),
    ]
    for written, expected in cases:
        with subtests.test(written=written, expected=expected):
            assert add_to_page(written, b"T", b"N") == expected


def test_what_was_added_to_once_is_not_added_to_again() -> None:
    once = add_to_page(PAGE.encode(), TAGS, NOTICE)
    assert once.count(NOTICE) == 1
    assert add_to_page(once, TAGS, NOTICE) is once


def test_a_page_of_a_million_signs_is_read_in_one_pass() -> None:
    for piece in (
        b"<script",
        b"<a ",
        b'<a b="',
        b"<a b='\">",
        b"<a b=",
        b"<",
        b"</body ",
        b"<title>",
    ):
        nested = piece * (1_000_000 // len(piece)) + b"<!-- </head>"
        assert add_to_page(nested, TAGS, NOTICE) is nested


@pytest.mark.slow
def test_a_site_that_announces_a_desk_loads_nothing_of_it() -> None:
    program = (
        "import sys; import aitp_desk.middleware\n"
        "print(sorted(name for name in sys.modules if name.startswith('aitp_desk')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(
        [
            "aitp_desk",
            "aitp_desk.middleware",
            "aitp_desk.protocols",
            "aitp_desk.protocols.base",
            "aitp_desk.protocols.base.accept",
            "aitp_desk.protocols.base.discovery_links",
        ]
    )
