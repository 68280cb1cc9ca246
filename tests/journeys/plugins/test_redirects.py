"""Links of capabilities that lead people elsewhere: to where the carrier tells of a parcel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio
from aiohttp import web
from yarl import URL

from aitp_desk.capability import (
    Capability,
    Effect,
    Forbidden,
    Job,
    Keep,
    Onward,
    Part,
    Redirect,
    Refuse,
    Request,
    Say,
    Schema,
    Start,
    Take,
    Verdict,
    Visit,
    Work,
    document_of,
)
from aitp_desk.desk.plugins.discovery import load_plugin
from aitp_desk.testing import Guest, open_desk
from tests.support.doubles.website import Website, website

pytestmark = pytest.mark.asyncio(loop_scope="module")

BROWSER = {"Accept": "text/html"}


class Parcel(msgspec.Struct, frozen=True):
    number: str
    carrier: str = ""


class Parcels(Capability):
    """Leads to the page of a parcel, which its carrier makes when it is asked for first."""

    slug = "parcels"

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"track": Parcel}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Parcels")),)

    def judge(self, part: Part, context: object) -> Verdict:
        return Take((Keep(f"parcel:{part.content.number}", part.content, expected_version=0),))

    def jobs(self) -> Mapping[str, Work]:
        return {"tell": Work(self.tell)}

    async def tell(self, job: Job) -> Sequence[Effect]:
        return (Say(f"Somebody looks at {job.ref}."),)

    def redirects(self) -> Mapping[str, Redirect]:
        return {"where": self.where, "astray": self.astray}

    async def where(self, visit: Visit) -> Onward | Refuse:
        record = await visit.read(f"parcel:{visit.ref}")
        if record is None:
            return Refuse(Forbidden("Nobody has sent such a parcel."))
        kept = await visit.read(f"page:{visit.ref}")
        if kept is not None:
            return Onward(kept.value)
        answer = await visit.send(Request(url=record.value["carrier"], method="POST"))
        page = answer.body.decode()
        effects = (
            Keep(f"page:{visit.ref}", page, expected_version=0, outlives=True),
            Start("tell", ref=visit.ref),
        )
        return Onward(page, effects, record.thread_id)

    async def astray(self, visit: Visit) -> Onward:
        return Onward(f"https://carrier.example/\r\nX-Own: {visit.ref}")


class Carrier:
    """Makes a page for each parcel, and counts how many it has made."""

    def __init__(self, site: Website) -> None:
        self.made = 0
        self.url = f"{site.url}/parcels"
        site.handle("/parcels", self.make)

    async def make(self, request: web.Request) -> web.StreamResponse:
        self.made += 1
        await asyncio.sleep(0)
        return web.Response(text=f"https://carrier.example/{self.made}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def carrier() -> AsyncIterator[Carrier]:
    async with website() as site:
        yield Carrier(site)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest() -> AsyncIterator[Guest]:
    settings = ("capabilities.parcels={}", "egress.allow_loopback=true")
    async with open_desk(*settings, capabilities={"parcels": Parcels}) as one:
        yield one


async def send(guest: Guest, number: str, carrier: str) -> str:
    thread_id = await guest.open()
    url = f"{guest.url}/capabilities/parcels/v1/schema.json"
    await guest.say(thread_id, {"$schema": url, "track": {"number": number, "carrier": carrier}})
    return thread_id


async def follow(
    guest: Guest, path: str, headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str], str]:
    url = f"{guest.url}/capabilities/parcels/{path}"
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.get(URL(url, encoded=True), allow_redirects=False) as response,
    ):
        return response.status, response.headers, await response.text()


async def test_a_link_redirects_and_its_result_is_written_first(
    guest: Guest, carrier: Carrier
) -> None:
    thread_id = await send(guest, "P-1", carrier.url)
    status, headers, body = await follow(guest, "where/P-1", BROWSER)
    assert (status, body) == (303, "")
    assert headers["Location"] == f"https://carrier.example/{carrier.made}"
    assert headers["Cache-Control"] == "no-store"
    *_, told = await guest.wait(thread_id, 2)
    assert told == ["Somebody looks at P-1."]


async def test_who_follows_it_at_once_and_again_is_led_to_the_same(
    guest: Guest, carrier: Carrier
) -> None:
    await send(guest, "P-2", carrier.url)
    led = await asyncio.gather(*(follow(guest, "where/P-2") for _ in range(3)))
    (_, headers, _) = await follow(guest, "where/P-2")
    assert {headers["Location"] for _, headers, _ in led} == {headers["Location"]}


async def test_a_failed_link_is_explained_on_a_page_and_to_programs_in_json(
    guest: Guest,
) -> None:
    status, headers, body = await follow(guest, "where/none", BROWSER)
    assert (status, headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    assert "Nobody has sent such a parcel." in body
    status, headers, body = await follow(guest, "where/none")
    assert (status, headers["Content-Type"]) == (403, "application/json")
    assert msgspec.json.decode(body)["error"]["message"] == "Nobody has sent such a parcel."


@pytest.mark.parametrize("path", ["where/" + "x" * 201, "where/%0a", "other/P-1", "where/P-1/on"])
async def test_other_addresses_lead_nowhere(guest: Guest, path: str) -> None:
    assert (await follow(guest, path))[0] == 404


async def test_where_the_other_server_is_away_it_is_opened_later(guest: Guest) -> None:
    await send(guest, "P-3", "https://10.0.0.1/")
    status, headers, body = await follow(guest, "where/P-3", BROWSER)
    assert (status, headers["Retry-After"]) == (503, "5")
    assert "This cannot be opened now: 10.0.0.1" in body


async def test_what_is_no_address_is_a_fault_and_nobody_is_led_there(guest: Guest) -> None:
    status, headers, _ = await follow(guest, "astray/1")
    assert status == 500
    assert "X-Own" not in headers


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("where", "x", "the redirect 'where' is 'x'; it must be a function that resolves a link."),
        ("calls", len, "a redirect is named 'calls', which is reserved for schemas or calls"),
        ("v2", len, "a redirect is named 'v2', which is reserved for schemas or calls"),
        ("No", len, "a job, round, hook, redirect or action is named 'No'"),
    ],
)
async def test_what_cannot_be_served_is_reported_at_the_start(
    name: str, given: Any, why: str
) -> None:
    kind = type("Kind", (Parcels,), {"redirects": lambda _: {name: given}})
    with pytest.raises(ValueError, match=why.replace("'", ".")):
        load_plugin(kind, {}, "https://desk.example")
