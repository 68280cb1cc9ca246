"""security.txt, the catalog of APIs, robots.txt and the sitemap, as they are served."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.clients.ahp import visiting

pytestmark = pytest.mark.asyncio

SECURITY = "/.well-known/security.txt"
CATALOG = "/.well-known/api-catalog"
MAIL = "site.contact.email=hello@isle.example"
LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'


def make_site(folder: Path) -> Path:
    site = folder / "site"
    site.mkdir()
    (site / "boats.md").write_text("# Boats\n\nA dinghy costs 20 EUR.\n", encoding="utf-8")
    return site


async def test_security_txt_is_served_where_the_site_has_a_contact(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    (site / "SECURITY.md").write_text("# Security\n\nTell us first.\n", encoding="utf-8")
    public = ("site.url=https://isle.example", MAIL)
    async with visiting(tmp_path / "data", *public, folder=site) as visitor:
        async with visitor.http.get(SECURITY) as response:
            assert response.status == 200
            assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
            fields = dict(
                line.split(": ", 1) for line in (await response.text()).splitlines() if line
            )
        async with visitor.http.get("/SECURITY") as response:
            assert response.status == 200
    assert fields.pop("Expires") > f"{datetime.now(UTC) + timedelta(days=80):%Y-%m-%dT%H:%M:%SZ}"
    assert fields == {
        "Contact": "mailto:hello@isle.example",
        "Preferred-Languages": "en",
        "Canonical": f"https://isle.example{SECURITY}",
        "Policy": "https://isle.example/SECURITY",
    }


async def test_without_a_contact_there_is_none_and_the_catalog_names_none(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=make_site(tmp_path)) as visitor:
        async with visitor.http.get(SECURITY) as response:
            assert response.status == 404
            assert (await response.json())["detail"] == "route_not_found"
        async with visitor.http.get(CATALOG) as response:
            assert "security.txt" not in await response.text()


async def test_the_owner_s_security_txt_wins_from_the_moment_it_is_there(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    own = "Contact: https://isle.example/report\nExpires: 2099-01-01T00:00:00Z\n"
    async with visiting(tmp_path / "data", MAIL, folder=site) as visitor:
        async with visitor.http.get(SECURITY) as response:
            assert "mailto:hello@isle.example" in await response.text()
        (site / ".well-known").mkdir()
        (site / SECURITY[1:]).write_text(own, encoding="utf-8")
        async with visitor.http.get(SECURITY) as response:
            assert await response.text() == own
        for path in ("/.well-known/security.md", "/.well-known/security"):
            async with visitor.http.get(path) as response:
                assert response.status == 404


@pytest.mark.parametrize("path", [CATALOG, "/.well-known/"])
@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, LINKSET),
        ("*/*", LINKSET),
        ("application/linkset+json", LINKSET),
        ("application/json", LINKSET),
        ("application/json, text/plain;q=0.9", LINKSET),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", "text/plain; charset=utf-8"),
    ],
)
async def test_the_catalog_is_a_set_of_links_and_a_text_for_people(
    tmp_path: Path, path: str, accept: str | None, expected: str
) -> None:
    headers = {} if accept is None else {"Accept": accept}
    async with visiting(tmp_path / "data", folder=make_site(tmp_path)) as visitor:
        async with visitor.http.get(path, headers=headers) as response:
            assert response.status == 200
            assert response.headers["Content-Type"] == expected
            assert response.headers["Vary"] == "Accept"
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            body, tag = await response.read(), response.headers["ETag"]
        async with visitor.http.head(path, headers=headers) as response:
            assert response.status == 200
            assert f'<{CATALOG}>; rel="api-catalog"' in response.headers.getall("Link")
            assert int(response.headers["Content-Length"]) == len(body)
        known = {**headers, "If-None-Match": tag}
        async with visitor.http.get(path, headers=known) as response:
            assert response.status == 304


async def test_the_sitemap_follows_the_content_and_its_dates(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path)
    async with visiting(tmp_path / "data", folder=site) as visitor:
        url = visitor.desk.url
        async with visitor.http.get("/sitemap.xml") as response:
            assert response.content_type == "application/xml"
            assert f"<loc>{url}/boats</loc>" in await response.text()
        (site / "knots & bends.md").write_text(
            "---\nupdated: 2026-05-01\n---\n# Knots\n\nA bowline holds.\n", encoding="utf-8"
        )
        assert await visitor.desk.desk.knowledge.refresh()
        async with visitor.http.get("/sitemap.xml") as response:
            text = await response.text()
    assert f"<loc>{url}/knots%20%26%20bends</loc><lastmod>2026-05-01</lastmod>" in text
