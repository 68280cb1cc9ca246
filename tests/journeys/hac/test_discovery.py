"""The root of each desk tells agents what there is, and browsers and AHP's agents what it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.protocols.base.discovery_links import MANIFEST_TYPE
from aitp_desk.protocols.hac import MEDIA_TYPE
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.hac import ACCEPT, Faced, face
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def places(faced: Faced) -> dict[str, str]:
    return {one["rel"]: one["href"] for one in faced.told["resources"]}


@pytest.mark.requirement(
    "HAC-7.1-1", "HAC-7.2-1", "HAC-7.2-2", "HAC-7.2-5", "HAC-7.2-6", "HAC-7.2-7", "HAC-7.2-9"
)
async def test_the_root_tells_what_there_is_and_every_place_answers(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    named = ('site.name="Lamps"', 'site.description="We sell lamps."')
    async with talking(tmp_path, *named, site=site) as talker:
        faced = await face(talker, "GET", "/")
        assert faced.body.keys() == {"_hac"}
        assert faced.told["name"] == "Lamps"
        assert faced.told["description"].startswith("We sell lamps. Lamps answers questions")
        assert faced.headers["Vary"] == "Accept, Authorization"
        assert places(faced)["threads"] == "/v1/threads"
        assert places(faced)["hours"] == "/hours"
        for one in faced.told["resources"]:
            assert one.get("methods") or "x-template" in one, one
            for method in one.get("methods", ()):
                body: Any = None if method == "GET" else {}
                async with talker.http.request(
                    method, one["href"], json=body, headers=[("Accept", f"{MEDIA_TYPE}, */*;q=0.1")]
                ) as response:
                    assert response.status in {200, 400}, one
                    if method == "GET":
                        assert response.status == 200, one
        buyer = await talker.with_key("actions")
        (bookings,) = (
            one
            for one in (await face(buyer, "GET", "/")).told["resources"]
            if one.get("x-template") == "/bookings/{booking_id}"
        )
        assert bookings["href"] == "/bookings"
        assert "methods" not in bookings  # nothing stands there itself
        there = bookings["x-template"].replace("{booking_id}", "7")
        assert (await face(buyer, "GET", there)).status == 200
        base = await face(buyer, "GET", "/bookings")
        assert base.status == 404
        assert "/bookings/{booking_id}" in base.error["recovery"]["description"]
        hidden = await face(talker, "GET", "/bookings")
        assert "booking_id" not in hidden.error["recovery"]["description"]


@pytest.mark.requirement("HAC-9.1-1", "HAC-9.1-2")
async def test_the_root_names_only_what_the_caller_may_use(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as nobody:
        buyer, operator = await nobody.with_key("actions"), await nobody.with_key("operator")
        talks = await nobody.with_key("threads")
        known = {
            who: places(await face(one, "GET", "/")).keys()
            for who, one in (
                ("nobody", nobody),
                ("buyer", buyer),
                ("operator", operator),
                ("talks", talks),
            )
        }
        assert known["nobody"] == known["talks"]
        assert not {"booking", "ledger", "cancel", "add-seats"} & known["nobody"]
        assert {"threads", "hours", "look", "content-search"} <= known["nobody"]
        assert {"booking", "cancel", "add-seats", "hours"} <= known["buyer"]
        assert "threads" in known["buyer"], "a key takes nothing away"
        assert "ledger" not in known["buyer"]
        assert {"threads", "booking", "ledger"} <= known["operator"]
        told = (await face(buyer, "GET", "/")).told["resources"]
        (booking,) = (one for one in told if one["rel"] == "booking")
        assert (booking["href"], booking["x-template"]) == ("/bookings", "/bookings/{booking_id}")


async def test_the_root_has_a_version_and_stays_a_page_and_a_manifest(talker: Talker) -> None:
    faced = await face(talker, "GET", "/")
    tag = faced.headers["ETag"]
    again = await face(talker, "GET", "/", headers=(ACCEPT, ("If-None-Match", tag)))
    assert (again.status, again.headers["ETag"]) == (304, tag)
    for accept, kind in (
        (BROWSER, "text/html"),
        ("text/markdown", "text/markdown"),
        (f"{MEDIA_TYPE};q=0.5, text/html", "text/html"),
        (f"{MEDIA_TYPE}, text/html;q=0.5", MEDIA_TYPE),
    ):
        async with talker.http.get("/", headers={"Accept": accept}, allow_redirects=False) as told:
            assert told.content_type == kind, accept
            assert "Accept" in told.headers["Vary"]
    accept = f"{MEDIA_TYPE};q=0.5, {MANIFEST_TYPE}"
    async with talker.http.get("/", headers={"Accept": accept}, allow_redirects=False) as told:
        assert (told.status, told.headers["Location"]) == (302, "/.well-known/agent.json")


async def test_disabled_calls_are_not_listed(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    async with talking(tmp_path, "rest.enabled=false", site=site) as talker:
        buyer = await talker.with_key("actions")
        known = places(await face(buyer, "GET", "/"))
        assert "booking" in known
        assert not {"capabilities", "cancel", "service-desc"} & known.keys()
        assert (await face(buyer, "GET", "/bookings/7")).rels == []
        refused = await face(buyer, "GET", "/capabilities")
        assert refused.status == 404


@pytest.mark.requirement("HAC-9.4-1")
async def test_hac_without_encryption_is_warned_of_at_the_start(tmp_path: Path) -> None:
    async def warned(name: str, *settings: str) -> bool:
        async with serving(tmp_path / name, *settings) as desk:
            return any("application/vnd.hac+json" in line for line in desk.report)

    assert await warned("a", 'site.url="http://desk.example.com"')
    assert not await warned("b", 'site.url="http://desk.example.com"', "hac.enabled=false")
    assert not await warned("c", 'site.url="https://desk.example.com"')
    assert not await warned("d")
