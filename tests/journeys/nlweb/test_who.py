"""Which site agents answer, where they are announced, and what else is at these addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.config import ConfigError
from tests.support.clients.nlweb import ask, post
from tests.support.clients.threads import talking

TOML = """
[site]
name = "Camp"
description = "Gear for trips."
[content]
folder = "content"
[[agents]]
name = "books"
title = "Book room"
description = "Old books."
[agents.content]
folder = "books"
"""
FACTS = {
    "content": "The shop opens at nine in the morning.",
    "books": "The oldest book is a herbal of 1597.",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with two agents, which know one fact each."""
    folder = tmp_path / "site"
    for name, fact in FACTS.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "facts.md").write_text(f"# Facts\n\n{fact}\n", "utf-8")
    (folder / "desk.toml").write_text(TOML, "utf-8")
    return folder


def read_by_package(listed: Any) -> None:
    """Hold a response to the model of the reference implementation, where that is installed."""
    models = pytest.importorskip("nlweb_core.protocol.models")
    models.WhoResponse.model_validate(listed)


async def test_the_site_agents_are_listed_the_fittest_first(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        url = talker.desk.url
        listed = (await ask(talker, "/who")).ok
        assert listed["_meta"] == {"response_type": "answer", "version": "0.1", "result_count": 2}
        own, books = listed["results"]
        assert (own["protocol"], own["endpoint"], own["score"]) == ("http", f"{url}/ask", 100)
        assert own["definition"]["description"] == own["description"] == "Gear for trips."
        assert (books["endpoint"], books["url"]) == (f"{url}/books/ask", f"{url}/books/ask")
        assert (books["name"], books["site"]) == ("Book room", "books")
        read_by_package(listed)
        assert [one["resource"]["data"] for one in listed["content"]] == listed["results"]
        sought = (await ask(talker, "/who", query="herbal book")).ok["results"]
        assert [(one["site"], one["score"]) for one in sought] == [
            ("books", 100),
            (own["site"], 0),
        ]
        asked = {"query": {"text": "herbal book"}, "meta": {"max_results": 1}}
        found = (await post(talker, asked, "/who")).ok
        assert found["results"] == sought[:1]
        assert found["_meta"]["result_count"] == 1
        assert (await post(talker, {"query": 7}, "/who")).refusal[:2] == (400, "INVALID_REQUEST")


async def test_each_agent_answers_for_its_own_content(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        asked: dict[str, Any] = {"streaming": "false", "mode": "generate"}
        herbal = "What is the oldest book?"
        told = (await ask(talker, "/books/ask", query=herbal, **asked)).ok
        assert "1597" in told["nlws"]["answer"]
        assert told["results"][0]["url"] == f"{talker.desk.url}/books/facts"
        assert told["results"][0]["site"] == "books"
        assert "1597" not in (await ask(talker, query=herbal, **asked)).ok["nlws"]["answer"]
        host = talker.desk.url.partition("://")[2]
        for named in ("all", "Camp", "desk", host, f"books,{host}", talker.desk.url):
            assert (await ask(talker, query="shop", site=named, **asked)).status == 200
        refused = await ask(talker, query=herbal, site="books", **asked)
        assert refused.refusal == (404, "AGENT_NOT_FOUND", "site")
        assert (await ask(talker, "/books/ask", query=herbal, site="books", **asked)).status == 200
        other = await ask(talker, "/books/ask", query=herbal, site=host, **asked)
        assert other.refusal == (404, "AGENT_NOT_FOUND", "site")


async def test_it_is_announced_and_can_be_switched_off(tmp_path: Path, site: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        url = talker.desk.url
        manifest = (await talker.send("GET", "/.well-known/agent.json")).ok
        assert manifest["links"]["nlweb"] == f"{url}/ask"
        declared = (await talker.send("GET", "/agents.json")).ok["capabilities"]
        found = {one["id"]: one["endpoint"] for one in declared if "nlweb" in one["id"]}
        assert found == {"nlweb": f"{url}/ask", "nlweb-books": f"{url}/books/ask"}
    async with talking(tmp_path, "nlweb.enabled=false", site=site) as talker:
        manifest = (await talker.send("GET", "/.well-known/agent.json")).ok
        assert "nlweb" not in manifest["links"]
        declared = (await talker.send("GET", "/agents.json")).ok["capabilities"]
        assert not [one for one in declared if "nlweb" in one["id"]]
        for path in ("/ask?query=a", "/who", "/books/ask?query=a"):
            assert (await talker.send("GET", path)).status == 404


async def test_a_page_of_the_content_keeps_its_address(tmp_path: Path, site: Path) -> None:
    for name in ("ask", "who"):
        (site / "content" / f"{name}.md").write_text(f"# Page {name}\n\nOf people.\n", "utf-8")
    (site / "books" / "ask.md").write_text("# Page books\n\nOf books.\n", "utf-8")
    async with talking(tmp_path, site=site) as talker:
        for path, name in (("/ask", "ask"), ("/who", "who"), ("/books/ask", "books")):
            async with talker.http.get(path, headers={"Accept": "text/html"}) as page:
                assert (page.status, page.content_type) == (200, "text/html")
                assert f"Page {name}" in await page.text()
        told = (await ask(talker, query="people", streaming="false")).ok
        assert told["results"][0]["url"].startswith(talker.desk.url)
        assert (await ask(talker, "/who", query="people")).ok["results"]


@pytest.mark.parametrize("name", ["ask", "who"])
async def test_no_agent_takes_the_name_of_an_address(tmp_path: Path, site: Path, name: str) -> None:
    (site / "desk.toml").write_text(TOML.replace('"books"', f'"{name}"', 1), "utf-8")
    with pytest.raises(ConfigError):
        async with talking(tmp_path, site=site):
            pass
