"""Threads, messages, actions and resources tell agents what they are and what may be done now."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.protocols.hac import MEDIA_TYPE
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.hac import ACCEPT, Faced, face
from tests.support.clients.threads import Talker, talking
from tests.support.sites.shop import RUTH, STOVE, Shopper, shopping

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLAIN = "application/json"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shopper]:
    """An agent of the shop's who may call actions and open threads."""
    async with shopping(tmp_path_factory.mktemp("shop")) as (shopper, _):
        yield await shopper.with_key("actions", "threads")


async def plain(talker: Talker, path: str) -> bytes:
    """The bytes of the plain answer."""
    async with talker.http.get(path, headers=talker.credentials) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == PLAIN
        assert "Accept" in response.headers["Vary"]
        return await response.read()


async def an_order(shop: Shopper) -> str:
    """The id of an order that was just placed."""
    items = [{"sku": STOVE, "quantity": 1}]
    placed = await shop.buy(items=items, store="Boise", email="kai@customer.example", total="67.84")
    return str(placed["id"])


def vary(faced: Faced) -> list[str]:
    return [one.strip() for one in faced.headers["Vary"].split(",")]


@pytest.mark.requirement(
    "HAC-3.2.1-1", "HAC-2.3-1", "HAC-2.3-2", "HAC-2.3-3", "HAC-2.5-1", "HAC-3.1-1", "HAC-3.1-2"
)
async def test_the_payload_is_byte_for_byte_that_of_the_plain_answer(shop: Shopper) -> None:
    talker = shop.talker
    opened = await face(talker, "POST", "/v1/threads", {"messages": ["Hi", "ünï\u2028code"]})
    thread_id = opened.data["id"]
    message = f"/v1/threads/{thread_id}/messages/{opened.data['messages'][0]['id']}"
    paths = (
        f"/v1/threads/{thread_id}",
        f"/v1/threads/{thread_id}/messages?limit=1",
        f"/v1/threads/{thread_id}/actors",
        f"/v1/threads/{thread_id}/runs",
        message,
        "/capabilities",
        "/capabilities/place_order",
        f"/orders/{await an_order(shop)}",
    )
    for path in paths:
        faced = await face(talker, "GET", path)
        assert vary(faced) == ["Accept", "Authorization"]
        assert faced.told["version"] == "1.0"
        assert faced.told["description"]
        body = await plain(talker, path)
        assert faced.raw.startswith(b'{"data":' + body + b',"_hac":{'), path


async def test_each_representation_has_a_separate_version(shop: Shopper) -> None:
    path = f"/orders/{await an_order(shop)}"
    faced = await face(shop.talker, "GET", path)
    tag = faced.headers["ETag"]
    told = await shop.talker.send("GET", path)
    assert told.headers["ETag"] != tag
    for held, status in ((tag, 304), (told.headers["ETag"], 200)):
        again = await face(shop.talker, "GET", path, headers=(ACCEPT, ("If-None-Match", held)))
        assert again.status == status
        assert again.headers["ETag"] == tag
    async with shop.talker.http.get(
        path, headers=[*shop.talker.credentials, ("If-None-Match", tag)]
    ) as response:
        assert response.status == 200


@pytest.mark.requirement("HAC-4.2-1", "HAC-9.1-1", "HAC-9.1-2")
async def test_a_thread_says_what_this_caller_may_do_with_it(tmp_path: Path) -> None:
    async with talking(tmp_path) as nobody:
        aya, ben = await nobody.with_key(), await nobody.with_key()
        opened = await face(nobody, "POST", "/v1/threads", {"messages": ["Hello?"]})
        path = f"/v1/threads/{opened.data['id']}"
        assert opened.rels == ["post-message", "edit", "add-actor", "delete"]
        assert "everyone with its id" in opened.told["description"]
        assert "claim" in (await face(aya, "GET", path)).rels

        claimed = await face(aya, "POST", path + "/claim")
        assert claimed.rels == ["post-message", "edit", "add-actor", "share", "delete"]
        assert "You own it." in claimed.told["description"]
        assert (await face(nobody, "GET", path)).status == 404
        assert (await face(ben, "GET", path)).status == 404

        share = claimed.action("share")
        link = (await aya.send(share["method"], share["href"], {"link": True, "may": "read"})).ok
        reading = await face(nobody.with_link(link["secret"]), "GET", path)
        assert reading.rels == []
        assert "not write" in reading.told["description"]
        assert opened.link("self") == path


@pytest.mark.requirement("HAC-4.1-1", "HAC-4.1-2", "HAC-4.1-3", "HAC-4.3-1", "HAC-5-2")
async def test_what_may_be_done_with_a_thread_is_done_by_following_it(tmp_path: Path) -> None:
    async with talking(tmp_path) as nobody:
        aya = await nobody.with_key()
        opened = await face(aya, "POST", "/v1/threads", {})
        said = await follow(aya, opened.action("post-message"), {"content": "What is open?"})
        assert said.rels == ["post-message", "edit", "delete"]
        changed = await follow(aya, said.action("edit"), {"metadata": {"seen": "yes"}})
        assert (changed.data["metadata"]["seen"], changed.rels) == ("yes", said.rels)
        assert said.link("up") == opened.link("self")
        waited = await face(
            aya,
            "POST",
            said.link("collection"),
            {"content": "And on Sunday?"},
            headers=(ACCEPT, ("Prefer", "wait=10")),
        )
        assert waited.data["replies"]
        assert "replies" in waited.told["description"]
        run = await face(aya, "GET", waited.link("run"))
        assert (run.data["status"], run.rels) == ("completed", [])
        runs = await face(aya, "GET", run.link("collection"))
        assert runs.link("item")
        noted = await follow(aya, opened.action("edit"), {"metadata": {"a": "b"}})
        assert noted.data["metadata"]["a"] == "b"
        joined = opened.action("add-actor")
        assert (await aya.send(joined["method"], joined["href"], {"id": "https://x.example"})).ok
        actors = await face(aya, "GET", opened.link("actors"))
        assert (len(actors.data["data"]), actors.rels) == (2, ["add-actor"])
        gone = await follow(aya, said.action("delete"))
        assert gone.data["deleted"]
        assert (await face(aya, "GET", gone.link("collection"))).status == 200
        closed = await follow(aya, noted.action("delete"))
        assert closed.rels == []
        assert (await face(aya, "GET", opened.link("self"))).status == 404


async def follow(talker: Talker, action: Any, body: Any = None) -> Faced:
    """Do what was told of."""
    taken = {one["name"] for one in action.get("fields", ())}
    assert body is None or body.keys() <= taken
    return await face(talker, action["method"], action["href"], body)


@pytest.mark.requirement("HAC-3.3-1", "HAC-3.3-2")
async def test_a_list_leads_to_its_pages_and_items_both_ways(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        opened = (await talker.open(*(f"m{i}" for i in range(5)))).ok
        at = f"/v1/threads/{opened['id']}/messages?limit=2&order=asc"
        first = await face(talker, "GET", at)
        assert "prev" not in first.links
        assert first.links.count("item") == 2
        second = await face(talker, "GET", first.link("next"))
        third = await face(talker, "GET", second.link("next"))
        seen = [one["content"][0] for page in (first, second, third) for one in page.data["data"]]
        assert seen[:5] == ["m0", "m1", "m2", "m3", "m4"]
        assert "next" not in third.links or len(seen) > 5
        back = await face(talker, "GET", third.link("prev"))
        assert back.data["data"] == second.data["data"]
        assert "next" in back.links
        start = await face(talker, "GET", back.link("prev"))
        assert start.data["data"] == first.data["data"]
        assert "prev" not in start.links
        one = await face(talker, "GET", first.link("item"))
        assert one.data["content"] == ["m0"]


@pytest.mark.requirement("HAC-4.3-2", "HAC-4.3-3", "HAC-5.5-1", "HAC-5.5-2", "HAC-5.3-2")
async def test_an_action_is_listed_with_safety_fields_and_needs(shop: Shopper) -> None:
    listed = await face(shop.talker, "GET", "/capabilities")
    assert {one["name"] for one in listed.data["data"]} >= {"place_order", "content_search"}
    order = listed.action("place-order")
    assert (order["method"], order["href"]) == ("POST", "/capabilities/place_order")
    assert order["safety"] == {
        "mutability": "reversible",
        "blast_radius": "self",
        "reversible_within": "P30D",
        "confirmation_recommended": True,
    }
    fields = {one["name"]: one for one in order["fields"]}
    assert fields["store"]["enum"] == ["Bend", "Portland", "Boise"]
    assert (fields["items"]["type"], fields["items"]["required"]) == ("array", True)
    assert fields["items"]["x-schema"]["maxItems"] == 20
    assert "required" not in fields["_confirm"]  # what it costs its arguments decide
    assert order["preconditions"] == ["The store has all items."]
    search = listed.action("content-search")
    assert [one["name"] for one in search["fields"] if one.get("required")] == ["query"]
    one = await face(shop.talker, "GET", "/capabilities/place_order")
    assert one.action("place-order") == order
    assert one.data["name"] == "place_order"
    cancel = listed.action("cancel-order")
    assert cancel["safety"] == {
        "mutability": "irreversible",
        "blast_radius": "self",
        "confirmation_recommended": True,
    }


async def test_who_may_not_call_an_action_is_not_told_how(shop: Shopper) -> None:
    other = await shop.talker.with_key("threads")
    listed = await face(other, "GET", "/capabilities")
    assert "place-order" not in listed.rels
    assert "place_order" in {one["name"] for one in listed.data["data"]}
    one = await face(other, "GET", "/capabilities/place_order")
    assert one.rels == []
    assert "may not call it" in one.told["description"]


async def test_a_resource_tells_what_is_open_of_it_and_that_works(shop: Shopper) -> None:
    order_id = await an_order(shop)
    faced = await face(shop.talker, "GET", f"/orders/{order_id}")
    assert faced.rels == ["cancel-order"]
    cancel = faced.action("cancel-order")
    known = {one["name"]: one["enum"] for one in cancel["fields"] if one.get("required")}
    assert known == {"order_id": [order_id]}
    assert (faced.link("self"), faced.link("help")) == (
        f"/orders/{order_id}",
        "/policies/returns",
    )
    done = await follow(shop.talker, cancel, {"order_id": order_id})
    assert done.data["status"] == "success"
    status = await face(shop.talker, "GET", done.link("status"))
    assert status.data["result"] == done.data["result"]
    again = await face(shop.talker, "GET", f"/orders/{order_id}")
    assert (again.data["state"], again.rels) == ("cancelled", [])


async def test_a_known_price_is_exact(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        faced = await face(buyer, "GET", "/bookings/7")
        add = faced.action("add-seats")
        assert add["safety"]["cost"] == {"amount": 10.00, "currency": "EUR"}
        assert b'"amount":10.00,' in faced.raw
        assert add["safety"]["reversible_within"] == "P3D"
        assert add["safety"]["confirmation_recommended"]
        fields = {one["name"]: one for one in add["fields"]}
        assert fields["seats"]["enum"] == [2]
        assert fields["_confirm"]["enum"] == [{"amount": "10.00", "currency": "EUR"}]
        body = {one["name"]: one["enum"][0] for one in add["fields"] if one.get("required")}
        assert (await follow(buyer, add, body)).data["result"] == {"seats": 2}


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/vnd.hac+json, application/json;q=0.9", MEDIA_TYPE),
        ("application/vnd.hac+json;q=0.5, application/json", PLAIN),
        ("application/json, application/vnd.hac+json;q=0", PLAIN),
        ("*/*", PLAIN),
        ("application/*", PLAIN),
        (None, PLAIN),
        ("APPLICATION/VND.HAC+JSON", MEDIA_TYPE),
        ('text/html;x="a,b", application/vnd.hac+json', MEDIA_TYPE),
        ("application/vnd.hac+json;version=1.0", MEDIA_TYPE),
        ("application/vnd.hac+json;version=2, */*;q=0.1", PLAIN),
    ],
)
async def test_the_accept_header_alone_decides_the_face(
    shop: Shopper, accept: str | None, kind: str
) -> None:
    headers = [] if accept is None else [("Accept", accept)]
    for method, path, body in (
        ("GET", "/capabilities", None),
        ("POST", "/capabilities/order_lookup", RUTH),
    ):
        async with shop.talker.http.request(
            method,
            path,
            data=body and json.dumps(body),
            headers=[*headers, *shop.talker.credentials, ("Content-Type", "application/json")],
        ) as response:
            assert response.status == 200
            assert response.headers["Content-Type"] == kind
            assert "Accept" in response.headers["Vary"]


@pytest.mark.requirement("HAC-2.3-4", "HAC-2.3-5")
async def test_what_has_no_second_face_says_what_there_is(shop: Shopper) -> None:
    talker = shop.talker
    for method, path in (
        ("GET", "/llms.txt"),
        ("GET", "/v1/models"),
        ("POST", "/agent/converse"),
        ("GET", "/about"),
        ("GET", "/health"),
    ):
        body = {"capability": "site_info", "query": "Who?"} if method == "POST" else None
        faced = await face(talker, method, path, body)
        assert (faced.status, faced.error["code"]) == (406, "not_acceptable"), path
        assert re.search(r"does not serve \S+\. Add .+ to Accept\.$", faced.error["message"])
        async with talker.http.request(
            method,
            path,
            json=body,
            headers=[("Accept", f"{MEDIA_TYPE}, */*;q=0.1"), *talker.credentials],
        ) as response:
            assert response.status == 200, path
            assert response.headers["Content-Type"] != MEDIA_TYPE


@pytest.mark.requirement("HAC-2.3-4", "HAC-2.3-5")
async def test_switched_off_nothing_has_a_second_face(tmp_path: Path) -> None:
    async with talking(tmp_path, "hac.enabled=false") as talker:
        for path, accept, status in (
            ("/capabilities", MEDIA_TYPE, 406),
            ("/capabilities", f"{MEDIA_TYPE}, */*;q=0.1", 200),
            ("/capabilities", f"{MEDIA_TYPE}, application/json;q=0.1", 200),
            ("/", MEDIA_TYPE, 406),
            ("/nowhere", MEDIA_TYPE, 404),
            ("/v1/nowhere", MEDIA_TYPE, 404),
        ):
            async with talker.http.get(path, headers=[("Accept", accept)]) as response:
                assert response.status == status, path
                assert response.headers["Content-Type"] != MEDIA_TYPE
        async with talker.http.get("/capabilities") as response:
            assert response.headers.getall("Vary") == ["Origin"]


async def test_a_further_agents_addresses_are_below_its_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("content", "books"):
        (site / name).mkdir(parents=True)
        (site / name / "facts.md").write_text("# Facts\n\nWe lend books.\n", "utf-8")
    toml = '[content]\nfolder = "content"\n[[agents]]\nname = "books"\ncontent.folder = "books"\n'
    (site / "desk.toml").write_text(toml, "utf-8")
    async with talking(tmp_path, site=site) as talker:
        found = await face(talker, "GET", "/books/")
        assert (await face(talker, "GET", "/books")).told == found.told
        places = {one["rel"]: one["href"] for one in found.told["resources"]}
        assert places["threads"] == "/books/v1/threads"
        assert "converse" not in places
        opened = await face(talker, "POST", places["threads"], {"messages": ["Hi"]})
        assert opened.link("self").startswith("/books/v1/threads/")
        assert (await face(talker, "GET", opened.link("messages"))).status == 200
        listed = await face(talker, "GET", places["capabilities"])
        search = listed.action("content-search")
        assert search["href"] == "/books/capabilities/content_search"
