"""A partner's endpoints are looked for once, not for each question."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families

from tests.support.clients.threads import Talker
from tests.support.desk.processes import free_ports
from tests.support.doubles.website import website
from tests.support.sites.partners import (
    BOOKSHOP,
    LIBRARY,
    PROTOCOLS,
    peer,
    serving_site,
    write_site,
)

WAIT = 20
QUESTION = "How long do you lend e-readers?"
OWN = {"ahp": 1, "aitp": 1, "a2a": 1, "mcp": 4}
"""The requests of a question itself: MCP begins a session for each."""


async def count_requests(operator: Talker) -> int:
    """Return how many requests a desk has answered, but for these counts."""
    async with operator.http.get("/metrics", headers=operator.credentials) as response:
        families = text_string_to_metric_families(await response.text())
    return sum(
        int(sample.value)
        for family in families
        for sample in family.samples
        if sample.name == "aitp_desk_requests_total" and sample.labels["route"] != "/metrics"
    )


async def ask(talker: Talker, operator: Talker) -> int:
    """Put the question; return how many requests the partner got."""
    before = await count_requests(operator)
    opened = await talker.open(QUESTION, wait=WAIT)
    assert "three weeks" in opened.ok["replies"][0]["content"][0]
    return await count_requests(operator) - before


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_second_question_looks_for_no_endpoints(tmp_path: Path, protocol: str) -> None:
    bookshop, port = write_site(tmp_path / "bookshop", BOOKSHOP), free_ports(1)
    site = write_site(
        tmp_path / "library", LIBRARY, peer(f"http://127.0.0.1:{port}", protocol=protocol)
    )
    async with serving_site(site) as talker:
        async with serving_site(bookshop, port=port) as partner:
            operator = await partner.with_key("operator")
            assert await ask(talker, operator) > OWN[protocol]
            later = [await ask(talker, operator) for _ in range(2)]
            assert later == [OWN[protocol]] * 2
        told = await talker.open(QUESTION, wait=WAIT)
        assert "cannot be reached now" in told.ok["replies"][0]["content"][0]
        # after a failure they are looked for again
        async with serving_site(bookshop, port=port) as partner:
            assert await ask(talker, await partner.with_key("operator")) > OWN[protocol]


async def test_a_stranger_is_not_led_to_what_the_partner_names_to_the_desk_alone(
    tmp_path: Path,
) -> None:
    async def describe(request: web.Request) -> web.Response:
        content = "/members.txt" if "Authorization" in request.headers else "/public.txt"
        manifest = {"ahp": "0.1", "modes": ["MODE1"], "endpoints": {"content": content}}
        return web.json_response(manifest)

    async with website() as books:
        books.handle("/.well-known/agent.json", describe)
        for page, weeks in (("members", "three weeks"), ("public", "some time")):
            text = f"# Books\n\nWe lend e-readers for {weeks}.\n"
            books.put(f"/{page}.txt", text, type="text/plain; charset=utf-8")
        site = write_site(tmp_path / "library", LIBRARY, peer(books.url, bearer_env="BOOKS"))
        async with serving_site(site, environment={"BOOKS": "secret-of-the-desk"}) as talker:
            known = await talker.with_key("threads", "actions")
            for caller, weeks in ((known, "three weeks"), (talker, "some time")) * 2:
                opened = await caller.open(QUESTION, wait=WAIT)
                assert weeks in opened.ok["replies"][0]["content"][0]
        # what was found is used again for each of the two
        assert books.paths().count("/.well-known/agent.json") == 2
