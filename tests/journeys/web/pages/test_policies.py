"""What a browser is told of pages and of everything else: what is loaded, framed, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import load_config
from aitp_desk.web.export.site import export_site
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import SITE
from tests.support.http.connection import calling

pytestmark = pytest.mark.asyncio(loop_scope="module")

HTML = {"Accept": "text/html"}


@pytest.mark.parametrize("path", ["/", "/about", "/policies/returns", "/nowhere"])
async def test_every_page_has_its_policies(talker: Talker, path: str) -> None:
    async with talker.http.get(path, headers=HTML) as response:
        assert response.content_type == "text/html"
        headers = response.headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    for directive in ("script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"):
        assert directive in policy.split("; ")
    assert "unsafe" not in policy
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert {"camera=()", "geolocation=()"} <= set(headers["Permissions-Policy"].split(", "))


@pytest.mark.parametrize(
    "path",
    ["/llms.txt", "/about.md", "/.well-known/agent.json", "/v1/models", "/health", "/v1/nothing"],
)
async def test_whatever_is_no_page_loads_nothing_and_stands_in_no_frame(
    talker: Talker, path: str
) -> None:
    async with talker.http.get(path) as response:
        assert response.headers.getall("Content-Security-Policy") == [
            "default-src 'none'; frame-ancestors 'none'"
        ]
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in response.headers


async def test_encryption_is_demanded_where_the_site_has_it(tmp_path: Path, talker: Talker) -> None:
    async with talking(tmp_path, "site.url=https://desk.example") as encrypted:
        for desk, demanded in ((talker, []), (encrypted, ["max-age=31536000"])):
            for path in ("/", "/llms.txt", "/v1/models", "/v1/nothing", "/agent/converse"):
                async with desk.http.get(path) as response:
                    assert response.headers.getall("Strict-Transport-Security", []) == demanded
            async with calling(desk.desk) as line:  # what is no request is told it too
                line.writer.write(b"nothing\r\n\r\n")
                status, headers, _ = await line.hear()
                assert (status, "Strict-Transport-Security" in headers) == (400, bool(demanded))


async def test_an_exported_page_says_its_policy_itself(tmp_path: Path) -> None:
    export_site(load_config(SITE, data=tmp_path / "data"), tmp_path / "out")
    for page in ("index.html", "404.html", "policies/returns/index.html"):
        html = LexborHTMLParser((tmp_path / "out" / page).read_text(encoding="utf-8"))
        first, *_ = html.css("head meta[http-equiv]")
        assert first.attributes["http-equiv"] == "Content-Security-Policy"
        policy = (first.attributes["content"] or "").split("; ")
        assert policy[0] == "default-src 'none'"
        assert not any(part.startswith(("script-src", "frame-ancestors")) for part in policy)
        assert not html.css("script, [style], [onclick], link[href^=http][rel=stylesheet]")
        (referrer,) = html.css("head meta[name=referrer]")
        assert referrer.attributes["content"] == "no-referrer"
