"""An owner has a model read the passages, through the Messages API and its batches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from aitp_desk.agent.enrichment import dispatch
from aitp_desk.config.sections.content.model import API_KEY, API_URL
from tests.support.content.enrichment import PAGES, lines_of, write_site
from tests.support.desk.command import run
from tests.support.doubles.chat_api import VARIABLE, Server, chat_api
from tests.support.doubles.messages_api import (
    KEY,
    Body,
    MessagesApi,
    Refuse,
    Reply,
    Script,
    messages_api,
    say,
    use,
)

QUOTES = {
    "leave": "Employees whose spouse, child or parent dies receive five working days",
    "returns": "Goods that were not used come back within 30 days of delivery.",
}


def passages_in(body: Body) -> list[Body]:
    """The passages of a request, as the model reads them."""
    return [json.loads(block["text"]) for block in body["messages"][0]["content"]]


def reader(body: Body) -> Reply:
    """Writes one question for each passage."""
    written = [
        {
            "id": passage["id"],
            "summary": "",
            "questions": [{"ask": f"about {passage['page']}?", "quote": QUOTES[passage["page"]]}],
        }
        for passage in passages_in(body)
    ]
    return use("write_questions", passages=written)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "site")


@pytest.fixture(autouse=True)
def one_passage_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aitp_desk.agent.enrichment.request._MOST_TOGETHER", 1)
    monkeypatch.setattr(dispatch, "POLL_SECONDS", 0.0)


@asynccontextmanager
async def api_of(script: Script, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MessagesApi]:
    async with messages_api(script) as api:
        monkeypatch.setenv(API_KEY, KEY)
        monkeypatch.setenv(API_URL, api.url)
        yield api


@pytest.mark.parametrize("options", [(), ("--no-batch",)])
async def test_each_passage_is_sent_once_and_its_questions_are_kept(
    site: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    async with api_of(reader, monkeypatch) as api:
        api.polls = 2
        code, out, err = await run("enrich", site, "--yes", *options)
        assert code == 0, err
        assert out[0].startswith("2 passages in 2 requests to claude-haiku")
        assert "$" in out[0]
        assert out[-1] == "All passages are enriched."
        assert [line["page"] for line in lines_of(site)] == ["leave", "returns"]
        assert len(api.requests) == 2
        await run("enrich", site, "--yes", *options)
        assert len(api.requests) == 2
        (site / "leave.md").write_text(PAGES["leave.md"].replace("no form", "no other form"))
        await run("enrich", site, "--yes", *options)
        assert [passage["page"] for passage in passages_in(api.requests[-1])] == ["leave"]
        assert len(api.requests) == 3


async def test_a_model_behind_chat_completions_reads_the_passages(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat_api(reader, Server(refuses={"tool_choice": "tool_choice: no"})) as api:
        monkeypatch.setenv(VARIABLE, KEY)
        (site / "desk.toml").write_text(
            f'[model]\nprovider = "openai"\nname = "qwen3"\nurl = "{api.url}/v1"\n'
            f'key_env = "{VARIABLE}"\n'
        )
        code, out, err = await run("enrich", site, "--yes")
        assert code == 0, err
        assert out[0].startswith("2 passages in 2 requests to qwen3")
        assert out[-1] == "All passages are enriched."
        assert [line["page"] for line in lines_of(site)] == ["leave", "returns"]
        assert {body["model"] for body in api.bodies} == {"qwen3"}


async def test_nothing_is_sent_without_consent(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_of(reader, monkeypatch) as api:
        code, out, _ = await run("enrich", site, "--limit", 1)
        assert code == 1
        assert out[0].startswith("1 passage in 1 request to claude-haiku")
        assert "less than $0.01" in out[0]
        assert api.requests == []


async def test_without_a_key_the_owner_learns_what_to_do(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(API_KEY, raising=False)
    code, out, err = await run("enrich", site, "--yes")
    assert code == 1
    assert err == [
        f"{API_KEY} is not set. Without a model, write the passages to a file with --requests."
    ]
    assert out[0].startswith("2 passages in 2 requests to ")


async def test_a_batch_that_was_sent_before_a_kill_is_taken_and_not_sent_again(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*_: object) -> int:
        raise KeyboardInterrupt

    async with api_of(reader, monkeypatch) as api:
        with monkeypatch.context() as patched:
            patched.setattr(dispatch.Batches, "collect", killed)
            await run("enrich", site, "--yes")
        assert not (site / "enriched.jsonl").exists()
        _, out, _ = await run("enrich", site, "--yes")
        assert out[0] == "Taking the results of a batch that was sent before."
        assert len(lines_of(site)) == 2
        assert len(api.batches) == 1


async def test_a_batch_whose_id_was_not_learnt_is_found(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api_of(reader, monkeypatch) as api:
        await run("enrich", site, "--yes")
        (site / "enriched.jsonl").unlink()
        pending = dispatch.PendingBatches(creating="2026-11-01T00:00:00+00:00")
        (site / ".desk" / dispatch.BATCHES).write_bytes(msgspec.json.encode(pending))
        await run("enrich", site, "--yes")
        assert len(lines_of(site)) == 2
        assert len(api.batches) == 1


async def test_replies_before_a_failure_are_kept(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: Body) -> Reply:
        if passages_in(body)[0]["page"] == "returns":
            return Refuse(401, "authentication_error")
        return reader(body)

    monkeypatch.setattr(dispatch, "AT_ONCE", 1)
    async with api_of(script, monkeypatch):
        code, _, err = await run("enrich", site, "--yes", "--no-batch")
    assert code == 1
    assert err[-1] == f"The model's API failed: authentication_error. Check {API_KEY}."
    assert [line["page"] for line in lines_of(site)] == ["leave"]


async def test_a_journal_of_a_killed_run_is_read_by_the_next(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api_of(reader, monkeypatch) as api:
        with monkeypatch.context() as patched:
            patched.setattr(dispatch.Journal, "read", lambda _: [])
            patched.setattr(dispatch.Journal, "clear", lambda _: None)
            await run("enrich", site, "--yes", "--no-batch")
        assert not (site / "enriched.jsonl").exists()
        await run("enrich", site, "--yes", "--no-batch")
        assert len(lines_of(site)) == 2
        assert len(api.requests) == 2


@pytest.mark.slow
async def test_a_busy_api_is_asked_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: set[str] = set()

    def script(body: Body) -> Reply:
        page = passages_in(body)[0]["page"]
        if page in refused:
            return reader(body)
        refused.add(page)
        return Refuse(529, "overloaded_error", {"retry-after": "0"})

    async with api_of(script, monkeypatch):
        code, _, err = await run("enrich", site, "--yes", "--no-batch")
    assert code == 0, err
    assert len(lines_of(site)) == 2


@pytest.mark.parametrize("options", [(), ("--no-batch",)])
@pytest.mark.parametrize(
    "reply",
    [
        say("I would rather not."),
        use("write_questions", passages="none"),
        use("write_questions", passages=[{"id": "0" * 20, "summary": "", "questions": []}, 7]),
    ],
)
async def test_a_reply_that_is_none_leaves_the_passage_to_the_next_run(
    site: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply, options: tuple[str, ...]
) -> None:
    async with api_of(lambda _: reply, monkeypatch):
        code, out, err = await run("enrich", site, "--yes", *options)
    assert code == 0, err
    assert out[-1] == "Left to enrich: 2 passages."
    assert not (site / "enriched.jsonl").exists()
