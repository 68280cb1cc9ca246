"""A site whose settings name a service that embeds texts."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpServer

from aitp_desk.agent.base import Answer, Turn, read_answer
from aitp_desk.app.site_agents import open_standalone_agent
from aitp_desk.config import ConfigError, load_config
from aitp_desk.knowledge.semantics.onnx import NEEDED, SWITCH
from tests.support.clients.threads import talking
from tests.support.doubles.embedding import SETTINGS, WordEmbedder, service_of

OF_THE_SERVICE = "numpy"
"""The one package that a site with a service needs."""
pytest.importorskip(OF_THE_SERVICE)

QUESTION = "How do I get my money for a jacket?"
SETTINGS_WITH_KEY = f"{SETTINGS}bearer_env = 'EMBEDDINGS_KEY'\n"


@pytest.fixture
def keys() -> list[str | None]:
    """The credentials that the service was shown."""
    return []


@pytest.fixture
async def site(
    tmp_path: Path,
    aiohttp_server: AiohttpServer,
    keys: list[str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder of a site, and its service in this process."""
    monkeypatch.delenv(SWITCH)
    of_prices = dict.fromkeys(("costs", "less", "spring"), "delivery")
    embedder = WordEmbedder({"money": "money back", "refund": "money back", **of_prices})

    server = await aiohttp_server(service_of(embedder, keys))
    folder = tmp_path / "site"
    (folder / "content").mkdir(parents=True)
    (folder / "desk.toml").write_text(
        SETTINGS_WITH_KEY.format(url=f"http://127.0.0.1:{server.port}/v1")
    )
    (folder / "content" / "jackets.md").write_text(
        "# Jackets\n\nA jacket costs money: how to get one for less is told in spring.\n"
    )
    (folder / "content" / "refunds.md").write_text(
        "# Refunds\n\nYou receive a refund within a week, whatever jacket you return.\n"
    )
    return folder


async def first_source(folder: Path, data: Path, *overrides: str) -> str:
    config = load_config(folder, overrides, port=0, data=data)
    async with open_standalone_agent(config, {"EMBEDDINGS_KEY": "secret"}) as answering:
        said = await read_answer(answering.agent, Turn(QUESTION, answering.site))
    assert isinstance(said, Answer)
    return said.sources[0].url.partition("#")[0]


async def test_passages_and_questions_are_embedded_by_the_service(
    site: Path, tmp_path: Path, keys: list[str | None]
) -> None:
    assert await first_source(site, tmp_path / "data") == "/refunds"
    assert {*keys} == {"Bearer secret"}


async def test_a_service_needs_no_local_model(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {*NEEDED} - {OF_THE_SERVICE}:
        monkeypatch.setitem(sys.modules, name, None)
    assert await first_source(site, tmp_path / "data") == "/refunds"


async def test_the_progress_is_reported_while_an_answer_waits(site: Path, tmp_path: Path) -> None:
    reports: list[tuple[int, int | None]] = []

    def report(done: int, of: int | None) -> None:
        reports.append((done, of))

    config = load_config(site, (), port=0, data=tmp_path / "data")
    async with open_standalone_agent(config, {"EMBEDDINGS_KEY": "secret"}, report=report):
        assert reports[0] == (0, None)


async def test_a_setting_turns_it_off(site: Path, tmp_path: Path, keys: list[str | None]) -> None:
    off = "content.meaning.enabled=false"
    assert await first_source(site, tmp_path / "data", off) == "/jackets"
    assert keys == []


async def test_the_start_report_names_the_model(site: Path, tmp_path: Path) -> None:
    async with talking(tmp_path, site=site) as talker:
        (line,) = [line for line in talker.desk.report if line.startswith("  meaning")]
    assert line.split()[1:4] == ["small", "at", line.split()[3]]


async def test_a_service_needs_its_address(site: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="endpoint also needs url and model"):
        await asyncio.to_thread(load_config, site, ('content.meaning.url=""',), data=tmp_path)
