"""Every command and every snippet of README.md and docs/ does what its page says."""

from __future__ import annotations

import asyncio
import json
import shutil
import tomllib
from pathlib import Path

import pytest

from aitp_desk.config import load_config
from tests.docs.snippets import EXAMPLES, PAGES, ROOT, blocks, commands, fits, links, run_in_order
from tests.support.desk.server import SHOP, serving

NOT_HERE = ("make ", "git clone")
"""Commands that set up a checkout: `test_newcomer.py` runs those."""


@pytest.mark.servers
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + "/" + page.name)
async def test_the_commands_of_a_page_print_what_it_says(page: Path, tmp_path: Path) -> None:
    todo = [
        (block, command)
        for block in blocks(page)
        if block.language == "console"
        for command in commands(block)
        if not command.line.startswith(NOT_HERE)
    ]
    demo = tmp_path / "examples" / "shop"
    shutil.copytree(SHOP, demo, ignore=shutil.ignore_patterns(".desk", "shop.db*"))
    for beside in ("clients", "hac_app", "openapi", "systemd"):
        shutil.copytree(ROOT / "examples" / beside, tmp_path / "examples" / beside)
    async with serving(demo / ".desk", "limits.enabled=true", folder=demo) as desk:
        printed = await asyncio.to_thread(
            run_in_order, [command for _, command in todo], desk.url, tmp_path
        )
    for (block, command), output in zip(todo, printed, strict=True):
        assert fits(command.prints, output), (
            f"{block.page}:{block.line}\n$ {command.line}\n"
            f"says:\n{command.prints}\nprinted:\n{output}"
        )


@pytest.mark.parametrize(
    "page", [*PAGES, *EXAMPLES], ids=lambda page: page.parent.name + "/" + page.name
)
def test_the_other_snippets_of_a_page_can_be_read(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page)):
        match block.language:
            case "toml":
                folder = tmp_path / str(number)
                agents = tomllib.loads(block.code).get("agents", ())
                for content in ("content", *(agent["content"]["folder"] for agent in agents)):
                    (folder / content).mkdir(parents=True)
                (folder / "desk.toml").write_text(block.code, encoding="utf-8")
                assert load_config(folder).folder == folder
            case "json":
                json.loads(block.code)
            case "python":
                compile(block.code, f"{block.page}:{block.line}", "exec")
            case "typescript":
                pass  # the client's own test compiles it
            case language:
                known = {"console", "text", "markdown", "html", "apache", "nginx", "caddy"}
                assert language in known, f"{block.page}:{block.line}: a fence names its language"


@pytest.mark.parametrize(
    "page", [*PAGES, *EXAMPLES], ids=lambda page: page.parent.name + "/" + page.name
)
def test_the_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path = target.partition("#")[0]
        assert (page.parent / path).exists(), f"{page.name} links to {target}"
