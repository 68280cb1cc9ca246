"""A site agent asks a partner for what the site itself does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.clients.threads import Talker
from tests.support.sites.partners import (
    BOOKSHOP,
    LIBRARY,
    PROTOCOLS,
    peer,
    serving_site,
    write_site,
)

WAIT = 20
LIMIT = 20
KNOWN_THERE = "How long do you lend e-readers?"
UNKNOWN = "Who painted the ceiling of the e-readers room in Vienna?"


@pytest.fixture
def bookshop(tmp_path: Path) -> Path:
    return write_site(tmp_path / "bookshop", BOOKSHOP)


async def ask(talker: Talker, question: str) -> list[str]:
    opened = await talker.open(question, wait=WAIT)
    content: list[str] = opened.ok["replies"][0]["content"]
    return content


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_partner_answers_with_its_name_and_sources(
    bookshop: Path, tmp_path: Path, protocol: str
) -> None:
    async with serving_site(bookshop) as partner:
        toml = peer(
            partner.desk.url, title="Norwood Books", topics=["e-readers"], protocol=protocol
        )
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            content = await ask(talker, KNOWN_THERE)
            assert content[0].startswith("**Norwood Books**: ")
            assert "three weeks" in content[0]
            assert f"{partner.desk.url}/page" in "".join(content)


async def test_a_visitor_over_nlweb_is_told_the_partners_pages(
    bookshop: Path, tmp_path: Path
) -> None:
    async with serving_site(bookshop) as partner:
        toml = peer(partner.desk.url, title="Norwood Books", topics=["e-readers"])
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            asked = {"query": KNOWN_THERE, "mode": "generate", "streaming": False}
            told = (await talker.send("POST", "/ask", asked)).ok
    assert told["nlws"]["answer"].startswith("**Norwood Books**: ")
    (page,) = told["nlws"]["items"]
    assert page["url"].startswith(f"{partner.desk.url}/page")
    assert page["site"] == partner.desk.url.removeprefix("http://")
    assert page["schema_object"]["@type"] == "WebPage"


async def test_the_sites_own_answer_comes_first(bookshop: Path, tmp_path: Path) -> None:
    async with serving_site(bookshop) as partner:
        toml = peer(partner.desk.url)
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            content = await ask(talker, "When does the library open?")
            assert "nine in the morning" in content[0]
            assert partner.counts()["messages"] == 0


async def test_a_question_on_no_topic_of_the_partner_is_not_passed_on(
    bookshop: Path, tmp_path: Path
) -> None:
    async with serving_site(bookshop) as partner:
        toml = peer(partner.desk.url, topics=["gift cards"])
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            assert "three weeks" not in (await ask(talker, KNOWN_THERE))[0]
            assert "four years" in (await ask(talker, "How long is a gift card valid?"))[0]


async def test_a_partner_that_is_down_is_named_and_the_own_answer_stays(tmp_path: Path) -> None:
    toml = peer("http://127.0.0.1:9", title="Norwood Books")
    async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
        own = write_site(tmp_path / "alone", LIBRARY)
        async with serving_site(own) as alone:
            (said,) = await ask(alone, KNOWN_THERE)
        content = await ask(talker, KNOWN_THERE)
        assert said in content[0]
        assert "Norwood Books cannot be reached now" in content[0]


async def test_a_visitor_over_ahp_is_answered_as_well(bookshop: Path, tmp_path: Path) -> None:
    async with serving_site(bookshop) as partner:
        toml = peer(partner.desk.url, title="Norwood Books")
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            body = {"ahp": "0.1", "capability": "content_search", "query": KNOWN_THERE}
            told = await talker.send("POST", CONVERSE, body)
            assert "**Norwood Books**: " in told.ok["response"]["answer"]
            sources = told.ok["response"]["sources"]
            assert sources[0]["url"].startswith(partner.desk.url)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_partner_that_asks_without_end_uses_up_its_own_limit_alone(
    bookshop: Path, tmp_path: Path, protocol: str
) -> None:
    limits = ("limits.enabled=true", f"limits.authenticated_per_minute={LIMIT}")
    async with serving_site(bookshop, *limits) as partner:
        own, other = await partner.with_key("threads"), await partner.with_key("threads")
        toml = peer(partner.desk.url, bearer_env="BOOKS_TOKEN", protocol=protocol)
        environment = {"BOOKS_TOKEN": str(own.key)}
        site = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(site, environment=environment) as library:
            talker = await library.with_key("threads", "actions")
            said = "\n".join(await ask(talker, KNOWN_THERE))
            assert "three weeks" in said
            for _ in range(LIMIT):
                said = "\n".join(await ask(talker, KNOWN_THERE))
                if "three weeks" not in said:
                    break
        assert "Nothing was done at books" in said
        assert "three weeks" in "\n".join(await ask(other, KNOWN_THERE))
