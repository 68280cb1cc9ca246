"""The site's resources stand at their own addresses, among its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.actions.faults import ActionsError
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.threads import Told, talking
from tests.support.desk.server import serving

FURTHER = """
[content]
folder = "content"
[[agents]]
name = "books"
actions = "lending"
[agents.content]
folder = "books"
"""
BROWSER = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]


def problem(told: Told) -> tuple[int, str, str | None]:
    """Status, code and param of a refusal in the form of problem details."""
    assert told.headers["Content-Type"] == "application/problem+json"
    assert told.body["status"] == told.status
    return told.status, told.body["code"], told.body.get("param")


async def test_a_resource_is_read_at_its_address_as_its_declaration_has_it(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        told = await buyer.send("GET", "/bookings/%37")
        assert told.ok == {"id": 7, "state": "open", "desk_notes": "", "late": None}
        assert told.headers["Content-Type"] == "application/json"
        assert told.headers["Cache-Control"] == "private, no-cache"
        assert told.headers.getall("Vary") == ["Accept, Authorization", "Origin"]
        assert (await talker.send("GET", "/hours")).ok == "9 to 17"

        tag = told.headers["ETag"]
        async with buyer.http.get(
            "/bookings/7", headers=[*buyer.credentials, ("If-None-Match", tag)]
        ) as again:
            assert (again.status, await again.read()) == (304, b"")
        other = await buyer.send("GET", "/bookings/9", headers=[("If-None-Match", tag)])
        assert other.ok["state"] == "over"
        async with buyer.http.head("/bookings/7", headers=buyer.credentials) as head:
            assert (head.status, head.headers["ETag"]) == (200, tag)


async def test_who_may_not_read_one_is_refused_as_where_actions_are_called(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer, other = await talker.with_key("actions"), await talker.with_key("threads")
        nobody = await talker.send("GET", "/bookings/7")
        assert problem(nobody) == (401, "not_authenticated", None)
        assert nobody.headers["WWW-Authenticate"].startswith("Bearer ")
        refused = await other.send("GET", "/bookings/7")
        assert problem(refused) == (403, "forbidden", None)
        assert 'scope="actions:booking"' in refused.headers["WWW-Authenticate"]
        for path in ("/bookings/404", "/bookings/7%2F8", "/bookings/%FF"):
            assert problem(await buyer.send("GET", path)) == (404, "resource_not_found", None), path
        wrong = await buyer.send("GET", "/bookings/x")
        assert problem(wrong) == (400, "invalid_request", "booking_id")
        posted = await buyer.send("POST", "/bookings/7", {})
        assert (posted.status, posted.headers["Allow"]) == (405, "GET, HEAD")
        async with talker.http.get("/bookings/7", headers=BROWSER) as page:
            assert (page.status, page.content_type) == (401, "text/html")
            assert "You have no access to this" in await page.text()


async def test_a_page_of_the_content_goes_before_a_resource(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    (site / "bookings").mkdir()
    (site / "bookings" / "terms.md").write_text("# Terms\n\nPay first.\n", "utf-8")
    async with talking(tmp_path, site=site) as talker:
        async with talker.http.get("/bookings/terms") as page:
            assert (page.status, page.content_type) == (200, "text/html")
        wanted = {"Accept": "application/vnd.ahp+json, text/html;q=0.5"}
        async with talker.http.get(
            "/bookings/terms", headers=wanted, allow_redirects=False
        ) as sent_on:
            assert sent_on.status in {200, 302}
        assert (await talker.send("GET", "/bookings/7")).status == 401
        hac = "application/vnd.hac+json"
        for accept, status in ((hac, 406), (f"{hac}, text/html;q=0.5", 200)):
            async with talker.http.get("/bookings/terms", headers={"Accept": accept}) as told:
                assert told.status == status


async def test_a_further_agents_resources_stand_below_its_name(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    for name in ("content", "books"):
        (site / name).mkdir()
        (site / name / "facts.md").write_text("# Facts\n\nWe lend books.\n", "utf-8")
    (site / "actions.py").rename(site / "lending.py")
    (site / "desk.toml").write_text(FURTHER, "utf-8")
    async with talking(tmp_path, site=site) as talker:
        assert (await talker.send("GET", "/books/hours")).ok == "9 to 17"
        assert problem(await talker.send("GET", "/books/bookings/7"))[0] == 401
        assert (await talker.send("GET", "/hours")).status == 404
        document = (await talker.send("GET", "/books/openapi.json")).ok
        assert "/books/hours" in document["paths"]


async def test_pages_of_other_sites_may_not_read_one(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        told = await talker.send("GET", "/hours", headers=[("Origin", "https://other.example")])
        assert "Access-Control-Allow-Origin" not in told.headers
    settings = 'cors.origins=["https://other.example"]'
    async with talking(tmp_path / "open", settings, site=tmp_path / "site") as talker:
        told = await talker.send("GET", "/hours", headers=[("Origin", "https://other.example")])
        assert told.headers["Access-Control-Allow-Origin"] == "https://other.example"


async def test_resources_stand_in_the_openapi_document(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        document = (await talker.send("GET", "/openapi.json")).ok
    read = document["paths"]["/bookings/{booking_id}"]["get"]
    assert read["operationId"] == "read_booking"
    assert read["summary"] == "A booking."
    assert read["parameters"][0]["schema"] == {"type": "integer"}
    assert read["security"] == [{"bearer": []}]
    assert document["paths"]["/hours"]["get"]["parameters"] == []
    assert "/ledger/{entry}" not in document["paths"]
    assert "booking.resource" in document["components"]["schemas"]


@pytest.mark.parametrize("path", ["/docs", "/llms.txt", "/metrics/{sku}", "/openapi.json"])
async def test_no_resource_takes_an_address_of_the_desk(tmp_path: Path, path: str) -> None:
    name = "sku: str" if "{" in path else ""
    body = f'@resource("{path}", open_to="anyone")\ndef lamp({name}) -> str:\n    """A lamp."""\n'
    site = make_site(tmp_path, body + '    return ""\n')
    with pytest.raises(ActionsError, match="which the desk uses itself; choose another"):
        async with serving(tmp_path / "data", folder=site):
            pytest.fail("it has started")
