"""Lists of pages over AHP: of what a search finds, of a folder, of all; and small facts as data."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.ahp import Said, Visitor, visiting
from tests.support.desk.server import SHOP

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEED = "application/feed"
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def feed_of(said: Said) -> dict[str, Any]:
    """The payload of a list, after a look at its form (AHP 0.1, appendix C.2)."""
    response = said.body["response"]
    assert response["content_type"] == said.body["meta"]["content_type"] == FEED
    payload: dict[str, Any] = response["payload"]
    assert payload.keys() == {"total", "items", "next_cursor"}
    assert len(payload["items"]) <= payload["total"]
    for item in payload["items"]:
        assert item.keys() == {
            "title", "url", "description", "published_at", "thumbnail_url", "metadata",
        }  # fmt: skip
        assert item["url"].startswith(("http://", "https://"))
        assert item["published_at"] is None or RFC_3339.fullmatch(item["published_at"])
        assert isinstance(item["metadata"], dict)
    return payload


def blog(folder: Path, posts: int) -> Path:
    """A site with so many posts, one a day."""
    (folder / "blog").mkdir(parents=True)
    for number in range(1, posts + 1):
        front = f"title: Post {number}\ndate: 2026-{1 + number // 28:02}-{1 + number % 28:02}"
        page = f"---\n{front}\ntags: [herons]\n---\nHerons were seen {number} times.\n"
        (folder / "blog" / f"post-{number}.md").write_text(page)
    (folder / "about.md").write_text("# About\n\nA site on birds.\n")
    return folder


@pytest.mark.requirement("AHP-6.6-1", "AHP-6.6-6", "AHP-C.2-8")
async def test_a_search_is_given_as_a_list_to_who_prefers_lists(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=SHOP) as visitor:
        said = await visitor.ask("hiking boots", accept_types=[FEED, "text/answer"])
        payload = feed_of(said)
        by_title = {item["title"]: item for item in payload["items"]}
        first = by_title["Corvane Cascade Mid Boot"]
        assert payload["items"][0]["title"] == "How to choose hiking boots"
        assert first["published_at"] == "2026-01-20T00:00:00Z"
        assert first["metadata"]["tags"] == ["boots", "footwear", "waterproof"]
        assert first["title"] in said.answer
        assert said.body["response"]["sources"]
        for item in payload["items"]:
            async with visitor.http.get(item["url"]) as response:
                assert response.status == 200
        urls = [item["url"].partition("#")[0] for item in payload["items"]]
        assert len(set(urls)) == len(urls)


async def test_a_search_that_finds_nothing_is_an_empty_list_that_says_so(visitor: Visitor) -> None:
    said = await visitor.ask("Who won the chess championship on Mars?", accept_types=[FEED])
    assert feed_of(said) == {"total": 0, "items": [], "next_cursor": None}
    assert "found nothing" in said.answer
    assert said.body["response"]["sources"] == []


async def test_a_follow_up_is_listed_by_what_was_said_before(visitor: Visitor) -> None:
    said = await visitor.ask("What does gift wrapping cost?", accept_types=[FEED])
    again = await visitor.ask(
        "And how long does that take?", session_id=said.session_id, accept_types=[FEED]
    )
    assert feed_of(again)["items"][0]["title"] == "Gift wrapping"


async def test_a_long_list_is_read_to_its_end_by_its_cursors(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=blog(tmp_path / "site", 45)) as visitor:
        for capability, query in (("list_pages", "the blog"), ("content_search", "herons")):
            titles: list[str] = []
            cursor: str | None = query
            pages = 0
            while cursor is not None:
                said = await visitor.ask(cursor, capability, accept_types=[FEED])
                payload = feed_of(said)
                assert payload["total"] == 45
                behind = re.search(r"; and (\d+) more\.", said.answer)
                # five of a page are named
                assert int(behind[1] if behind else 0) == 40 - len(titles)
                titles += [item["title"] for item in payload["items"]]
                cursor = payload["next_cursor"]
                pages += 1
            assert pages == 3
            assert len(titles) == len(set(titles)) == 45
        beyond = await visitor.ask("after:9000 the blog", "list_pages", accept_types=[FEED])
        assert feed_of(beyond)["items"] == []
        assert "no more" in beyond.answer


async def test_a_folder_is_listed_with_its_newest_page_first(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=blog(tmp_path / "site", 5)) as visitor:
        for query in ("What is in the blog?", "blog", "/blog/"):
            said = await visitor.ask(query, "list_pages", accept_types=[FEED])
            items = feed_of(said)["items"]
            assert [item["title"] for item in items] == [f"Post {n}" for n in (5, 4, 3, 2, 1)]
            moments = [datetime.fromisoformat(item["published_at"]) for item in items]
            assert moments == sorted(moments, reverse=True)


@pytest.mark.parametrize("query", ["norddeutsche häfen", "What is in Norddeutsche Häfen?"])
async def test_a_folder_is_called_as_it_is_and_not_as_its_address_is_written(
    tmp_path: Path, query: str
) -> None:
    folder = blog(tmp_path / "site", 1)
    for name in ("Norddeutsche Häfen", "★"):
        (folder / name).mkdir()
        (folder / name / "page.md").write_text(f"# {name} here\n\nShips land here.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        said = await visitor.ask(query, "list_pages", accept_types=[FEED])
        (item,) = feed_of(said)["items"]
        assert item["metadata"]["folder"] == "Norddeutsche Häfen"
        assert item["url"] == f"{visitor.desk.url}/Norddeutsche%20H%C3%A4fen/page"
        assert said.answer.startswith("One page in Norddeutsche Häfen")
        unknown = await visitor.ask("recipes for soup", "list_pages", accept_types=[FEED])
        assert "Its folders: Norddeutsche Häfen, blog, ★." in unknown.answer
        async with visitor.http.get("/llms.txt") as response:
            content = await response.text()
    headings = [line for line in content.splitlines() if line.startswith("## ")]
    assert headings == ["## Pages", "## Norddeutsche Häfen", "## Blog", "## ★", "## Optional"]


async def test_all_pages_are_listed_where_no_folder_is_named_and_those_of_a_tag_where_one_is(
    tmp_path: Path,
) -> None:
    async with visiting(tmp_path / "data", folder=blog(tmp_path / "site", 3)) as visitor:
        everything = await visitor.ask("all pages", "list_pages", accept_types=[FEED])
        assert feed_of(everything)["total"] == 4
        tagged = await visitor.ask("heron", "list_pages", accept_types=[FEED])
        assert feed_of(tagged)["total"] == 3
        unknown = await visitor.ask("recipes for soup", "list_pages", accept_types=[FEED])
        assert feed_of(unknown)["total"] == 0
        assert "Its folders: blog." in unknown.answer


@pytest.mark.requirement("AHP-4.3-6", "AHP-6.6-4", "AHP-6.6-11")
@pytest.mark.parametrize("accepted", [None, ["text/answer"], ["media/video"], []])
async def test_a_client_without_lists_gets_words_and_the_type_it_missed(
    visitor: Visitor, accepted: list[str] | None
) -> None:
    context: dict[str, Any] = {} if accepted is None else {"accept_types": accepted}
    said = await visitor.ask("policies", "list_pages", **context)
    assert said.body["response"]["content_type"] == "text/answer"
    assert "payload" not in said.body["response"]
    assert said.body["meta"]["fallback_from"] == FEED
    assert "Returns" in said.answer
    assert "Shipping" in said.answer


async def test_only_what_falls_back_says_so_in_the_manifest(visitor: Visitor) -> None:
    async with visitor.http.get("/.well-known/agent.json") as response:
        capabilities = (await response.json())["capabilities"]
    told = {c["name"]: c.get("accept_fallback", False) for c in capabilities}
    assert told == {
        "site_info": False, "content_search": False, "contact": False, "list_pages": True,
    }  # fmt: skip


@pytest.mark.requirement("AHP-C.2-6", "AHP-C.2-7")
async def test_who_the_site_is_and_how_to_reach_it_are_given_as_data(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data", folder=SHOP) as visitor:
        said = await visitor.ask("Who are you?", "site_info", accept_types=["application/data"])
        payload = said.body["response"]["payload"]
        assert payload["schema"] == "https://schema.org/WebSite"
        assert payload["data"]["name"] == "Trailhead Outfitters"
        assert "Trailhead Outfitters" in said.answer
        said = await visitor.ask("How?", "contact", accept_types=["application/data"])
        assert said.body["response"]["payload"] == {
            "schema": "https://schema.org/ContactPoint",
            "data": {
                "email": "hello@trailhead.example",
                "telephone": "+1 541 555 0137",
                "url": f"{visitor.desk.url}/contact",
            },
        }
        assert "hello@trailhead.example" in said.answer


async def test_a_list_that_was_given_before_is_given_again_from_memory(visitor: Visitor) -> None:
    first = await visitor.ask("gift wrapping", accept_types=[FEED])
    again = await visitor.ask("Gift  wrapping", accept_types=[FEED])
    text = await visitor.ask("Gift wrapping", accept_types=["text/answer"])
    assert (first.is_cached, again.is_cached, text.is_cached) == (False, True, False)
    assert again.body["response"] == first.body["response"]
    assert text.body["response"]["content_type"] == "text/answer"
