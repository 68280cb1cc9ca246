"""A serving desk keeps enriched.jsonl up to date, where its owner wants that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.agent.enrichment import dispatch
from aitp_desk.app.server import RunningServer, open_server
from aitp_desk.config import load_config
from aitp_desk.config.sections.content.model import API_KEY
from aitp_desk.model.calls.schedule import StoredSchedule
from aitp_desk.store.reads.schedules import schedules
from tests.support.content.enrichment import PAGES, lines_of, write_site
from tests.support.desk.command import run
from tests.support.desk.first_start import begin_desk
from tests.support.doubles.messages_api import (
    KEY,
    Body,
    MessagesApi,
    Refuse,
    Reply,
    messages_api,
    say,
    use,
)

QUOTE = {
    "leave": "Employees whose spouse, child or parent dies receive five working days",
    "returns": "Goods that were not used come back within 30 days of delivery.",
}
SECRET = "my order number is 4711"


@pytest.fixture(autouse=True)
def polls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "POLL_SECONDS", 0.0)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


def sent_by(body: Body) -> list[Body]:
    """The passages of a request; none where it is a visitor's turn."""
    if body["tools"][0]["name"] != "write_questions":
        return []
    return [json.loads(block["text"]) for block in body["messages"][0]["content"]]


def reader(body: Body) -> Reply:
    """Writes one question for each passage, and answers visitors."""
    passages = sent_by(body)
    if not passages:
        return say("I do not know.")
    written = [
        {
            "id": one["id"],
            "summary": "",
            "questions": [{"ask": f"about {one['page']}?", "quote": QUOTE[one["page"]]}],
        }
        for one in passages
    ]
    return use("write_questions", passages=written)


@asynccontextmanager
async def serving(
    site: Path, api: MessagesApi, *settings: str, key: str = KEY
) -> AsyncIterator[RunningServer]:
    given = ("limits.enabled=false", "enrich.every_hours=1", *settings)
    config = load_config(site, given, port=0, data=site / ".desk")
    begin_desk(config)
    async with open_server(config, environment={**api.environment, API_KEY: key}) as desk:
        yield desk


async def schedule_of(
    desk: RunningServer, is_reached: Callable[[StoredSchedule], object]
) -> StoredSchedule:
    async with asyncio.timeout(60):
        while True:
            (found,) = [one for one in await schedules(desk.store) if one.name == "enrich"]
            if is_reached(found):
                return found
            await asyncio.sleep(0.02)


def pages_of(api: MessagesApi) -> list[str]:
    return [one["page"] for body in api.requests for one in sent_by(body)]


@pytest.mark.slow
async def test_only_what_changed_is_sent_and_nothing_of_threads(site: Path) -> None:
    async with messages_api(reader) as api, serving(site, api) as desk:
        async with (
            aiohttp.ClientSession(desk.url) as http,
            http.post(
                "/v1/threads",
                json={"messages": [{"role": "user", "content": [SECRET]}]},
                headers={"Prefer": "wait=5"},
            ) as response,
        ):
            assert response.status == 200
        first = await schedule_of(desk, lambda one: one.done_at)
        assert [line["page"] for line in lines_of(site)] == ["leave", "returns"]
        assert sorted(pages_of(api)) == ["leave", "returns"]
        (site / "leave.md").write_text(PAGES["leave.md"].replace("no form", "no other form"))
        await desk.desk.knowledge.replaced()
        code, _, err = await run("jobs", "run", "enrich", "--data", site / ".desk")
        assert code == 0, err
        await schedule_of(desk, lambda one: one.runs > first.runs and one.leased_by is None)
        assert sorted(pages_of(api)) == ["leave", "leave", "returns"]
        assert not any(SECRET in json.dumps(body) for body in api.requests if sent_by(body))


@pytest.mark.parametrize(
    ("settings", "key", "reason"),
    [
        ((), "sk-ant-other", "authentication_error"),
        (("model.day_tokens=500",), KEY, "model.day_tokens"),
    ],
)
async def test_why_a_run_failed_is_kept_and_nothing_is_written(
    site: Path, settings: tuple[str, ...], key: str, reason: str
) -> None:
    async with messages_api(reader) as api, serving(site, api, *settings, key=key) as desk:
        kept = await schedule_of(desk, lambda one: one.last_error)
    assert reason in (kept.last_error or "")
    assert not (site / "enriched.jsonl").exists()


@pytest.mark.slow
async def test_passages_whose_request_failed_are_sent_by_the_next_run(site: Path) -> None:
    replies = [Refuse(529, "overloaded_error")]
    script = lambda body: replies.pop() if replies else reader(body)  # noqa: E731
    async with messages_api(script) as api, serving(site, api) as desk:
        await schedule_of(desk, lambda one: one.done_at)
        assert not (site / "enriched.jsonl").exists()
        await run("jobs", "run", "enrich", "--data", site / ".desk")
        await schedule_of(desk, lambda one: one.did)
        assert len(lines_of(site)) == 2


async def test_a_run_costs_no_more_than_its_sum(site: Path) -> None:
    async with messages_api(reader) as api, serving(site, api, "enrich.run_dollars=0") as desk:
        await schedule_of(desk, lambda one: one.done_at)
        assert api.requests == []


async def test_without_a_key_nothing_is_scheduled(site: Path) -> None:
    config = load_config(site, ("enrich.every_hours=1",), port=0, data=site / ".desk")
    begin_desk(config)
    async with open_server(config) as desk:
        assert "enrich" not in [one.name for one in await schedules(desk.store)]
