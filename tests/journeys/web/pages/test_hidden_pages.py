"""Pages whose addresses are the desk's own are told to their owner, those and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aitp_desk.knowledge.sources.loader import load_content
from aitp_desk.protocols.aitp.routes import make_routes as make_aitp_routes
from tests.support.clients.ahp import CONTENT, CONVERSE, Visitor, visiting

_OF_THREADS = tuple(
    re.sub(r"{\w+}", "x", route.path)
    for route in make_aitp_routes(1, 1).routes
    if not route.path.startswith("/.")  # of what is hidden no pages are made
)
_OF_THE_SITE = (
    *(CONVERSE, CONTENT, "/llms-full.txt", "/robots.txt", "/sitemap.xml"),
    *("/health", "/ready"),
)
_OF_NOBODY = ("/agent/smith", "/v1/intro", "/v2/threads", "/health/food", "/llms", "/assets/x")
_TOML = '[[agents]]\nname = "books"\n[agents.content]\nfolder = "books"\n'


def write_pages(folder: Path) -> set[str]:
    """A page at each of these addresses; their files."""
    files = {f"{address[1:]}.md" for address in (*_OF_THREADS, *_OF_THE_SITE, *_OF_NOBODY)}
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# A page\n\nWith a text.\n")
    return files


async def is_shown(visitor: Visitor, address: str) -> bool:
    async with visitor.http.get(address, headers={"Accept": "text/html"}) as response:
        return (response.status, response.content_type) == (200, "text/html")


@pytest.mark.parametrize("agent", ["", "books"])
async def test_only_a_page_that_is_not_shown_at_its_address_is_reported(
    tmp_path: Path, agent: str
) -> None:
    site = tmp_path / "site"
    files = write_pages(site / "content")
    write_pages(site / "books")
    (site / "desk.toml").write_text(f'[content]\nfolder = "content"\n{_TOML}')
    async with visiting(tmp_path / "data", folder=site) as visitor:
        prefix = f"/{agent}" if agent else ""
        hidden = {
            file
            for file in files
            if not await is_shown(visitor, f"{prefix}/{file.removesuffix('.md')}")
        }
        found = visitor.desk.desk.knowledge.editions.problems
    taken = {*_OF_THREADS, *(() if agent else _OF_THE_SITE)}
    assert hidden == {f"{address[1:]}.md" for address in taken}
    content = load_content(site / (agent or "content"), below=agent)
    assert {problem.source for problem in content.problems} == hidden
    assert agent or {problem.source for problem in found} == hidden
