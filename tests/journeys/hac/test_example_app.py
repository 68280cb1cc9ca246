"""The example application with HAC, and an agent that knows nothing of it but what it is told."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from yarl import URL

from aitp_desk.protocols.hac import MEDIA_TYPE
from aitp_desk.protocols.hac.linter import check_document
from examples.hac_app.library import Library, make_app
from tests.support.specs.hac_schemas import HacSchemas

KEY = {"Authorization": "Bearer of the library"}


class Agent:
    """Asks for HAC and does only what an answer offers, within the origin that it began at."""

    def __init__(self, session: aiohttp.ClientSession, begin: URL, schemas: HacSchemas) -> None:
        self.session, self.begin, self.schemas = session, begin, schemas
        self.headers = {"Accept": MEDIA_TYPE}

    async def ask(self, method: str, href: str, body: Any = None) -> tuple[int, Any]:
        url = self.begin.join(URL(href, encoded=True))
        assert url.origin() == self.begin.origin()
        async with self.session.request(
            method, url, json=body, headers=self.headers, allow_redirects=False
        ) as response:
            held = await response.read()
            assert response.headers["Vary"].startswith("Accept")
            if not held:
                return response.status, None
            assert response.headers["Content-Type"] == MEDIA_TYPE
            document = await response.json(content_type=None)
        assert check_document(held) == []
        self.schemas.check(document)
        return response.status, document

    async def do(self, action: Any, **values: Any) -> tuple[int, Any]:
        """Follow one action: fields of its address are put there, the others into the body."""
        names = re.findall(r"\{(\w+)\}", action["href"])
        href = re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), action["href"])
        body = {name: value for name, value in values.items() if name not in names}
        return await self.ask(action["method"], href, body or None)


@pytest.fixture
async def agent(shared_folder: Path) -> AsyncIterator[Agent]:
    async with (
        TestServer(make_app(Library(key="of the library"))) as server,
        aiohttp.ClientSession() as session,
    ):
        yield Agent(session, server.make_url("/"), HacSchemas(shared_folder))


def by_rel(entries: Any) -> dict[str, Any]:
    return {entry["rel"]: entry for entry in entries}


@pytest.mark.requirement("HAC-4.4-1", "HAC-6.2-1", "HAC-6.2-2", "HAC-6.3-4", "HAC-7.1-1")
async def test_an_agent_removes_a_member_by_following_its_links(agent: Agent) -> None:
    agent.headers |= KEY
    _, root = await agent.ask("GET", "/")
    members = by_rel(root["_hac"]["resources"])["members"]
    assert members["methods"] == ["GET"]
    _, listed = await agent.ask("GET", members["href"])
    ada = next(one for one in listed["data"] if one["name"] == "Ada")
    item = by_rel(listed["_hac"]["related"])["item"]
    _, shown = await agent.do({"method": "GET", "href": item["href"]}, id=ada["id"])
    delete = by_rel(shown["_hac"]["actions"])["delete"]
    assert delete["safety"] == {
        "mutability": "irreversible",
        "blast_radius": "self",
        "confirmation_recommended": True,
    }
    assert delete["preconditions"]

    status, refusal = await agent.do(delete)
    assert (status, refusal["error"]["code"]) == (409, "books_at_home")
    (way_out,) = refusal["error"]["recovery"]["actions"]
    (field,) = way_out["fields"]
    for loan in field["enum"]:
        status, returned = await agent.do(way_out, **{field["name"]: loan})
        assert (status, returned["data"]["id"]) == (200, loan)

    assert (await agent.do(delete)) == (204, None)
    status, gone = await agent.do({"method": "GET", "href": item["href"]}, id=ada["id"])
    assert (status, gone["error"]["message"]) == (404, f"There is no member {ada['id']}.")
    (index,) = gone["error"]["recovery"]["actions"]
    assert await agent.do(index) == (200, root)


@pytest.mark.requirement("HAC-9.1-1", "HAC-9.1-2")
async def test_a_caller_without_a_key_sees_nothing_that_needs_one(agent: Agent) -> None:
    _, root = await agent.ask("GET", "/")
    assert by_rel(root["_hac"]["resources"]).keys() == {"books"}
    _, books = await agent.ask("GET", "/books")
    assert "related" not in books["_hac"]
    status, refusal = await agent.ask("GET", "/members/7")
    assert (status, refusal["error"]["code"]) == (401, "librarians_only")
    (way_out,) = refusal["error"]["recovery"]["actions"]
    assert await agent.do(way_out) == (200, books)
    agent.headers |= KEY
    _, told = await agent.ask("GET", "/books")
    assert by_rel(told["_hac"]["related"]).keys() == {"members"}


async def test_what_can_be_done_changes_with_what_is(agent: Agent) -> None:
    agent.headers |= KEY
    _, loans = await agent.ask("GET", "/members/7/loans")
    renew = by_rel(loans["_hac"]["actions"])["renew"]
    assert renew["safety"]["cost"] == {
        "amount": 0.5,
        "currency": "EUR",
        "description": "The fee of one renewal",
    }
    assert renew["fields"][0]["enum"] == [1, 2]
    assert [(await agent.do(renew, loan=1))[0] for _ in range(3)] == [200, 200, 409]
    _, loans = await agent.ask("GET", "/members/7/loans")
    assert by_rel(loans["_hac"]["actions"])["renew"]["fields"][0]["enum"] == [2]

    _, shown = await agent.ask("GET", "/members/8")
    edit = by_rel(shown["_hac"]["actions"])["edit"]
    status, refusal = await agent.do(edit, name="")
    assert (status, refusal["error"]["code"]) == (400, "bad_request")
    status, renamed = await agent.do(edit, name="Grace H.")
    assert (status, renamed["data"]["name"]) == (200, "Grace H.")
    _, none = await agent.ask("GET", "/members/8/loans")
    assert none == {"data": [], "_hac": {**loans["_hac"], "related": none["_hac"]["related"]}} | {
        "_hac": {key: value for key, value in none["_hac"].items() if key != "actions"}
    }


async def test_a_program_that_knows_nothing_of_it_is_answered_as_ever(agent: Agent) -> None:
    agent.headers |= KEY
    for path in ("/books", "/members", "/members/7", "/members/7/loans"):
        _, told = await agent.ask("GET", path)
        async with agent.session.get(agent.begin.join(URL(path)), headers=KEY) as response:
            assert response.headers["Content-Type"] == "application/json; charset=utf-8"
            assert await response.json() == told["data"]
    async with agent.session.delete(agent.begin.join(URL("/members/7")), headers=KEY) as response:
        assert (response.status, response.content_type) == (409, "application/json")
        assert (await response.json())["error"]["code"] == "books_at_home"
