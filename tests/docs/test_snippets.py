"""Every command and every snippet of README.md and docs/ does what its page says."""

from __future__ import annotations

import asyncio
import json
import shutil
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from aitp_desk.config import load_config
from tests.docs.snippets import (
    DEMO_URL,
    EXAMPLES,
    PAGES,
    PORTS,
    PROGRAMS,
    ROOT,
    Block,
    Command,
    File,
    blocks,
    fits,
    links,
    moved,
    run_in_order,
    steps,
)
from tests.support.desk.first_start import begin_index, keep_index
from tests.support.desk.fork_server import write_command
from tests.support.desk.processes import free_ports
from tests.support.desk.server import SHOP, serving

NOT_HERE = ("make ", "git clone", "pip install")
"""Commands that set up. `test_newcomer.py` runs all of the README, `test_installation.py` pip."""
NOT_THERE = shutil.ignore_patterns(".desk", "shop.db*", "node_modules", "dist", "__pycache__")
"""What a checkout's folder of examples has only after it was used."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of commands: of the two hundred `aitp-desk` that the pages have, none imports it."""
    folder = tmp_path_factory.mktemp("programs")
    write_command(folder / "aitp-desk", "aitp_desk")
    return folder, PROGRAMS


@pytest.mark.servers
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES[1:] if "```console" in page.read_text(encoding="utf-8")],
    ids=lambda page: page.parent.name + "/" + page.name,
)
async def test_the_commands_of_a_page_print_what_it_says(
    page: Path, programs: tuple[Path, Path], tmp_path: Path
) -> None:
    todo = steps(page, NOT_HERE)
    demo = tmp_path / "examples" / "shop"
    shutil.copytree(SHOP, demo, ignore=shutil.ignore_patterns(".desk", "shop.db*"))
    for beside in ("clients", "hac_app", "openapi", "systemd"):
        shutil.copytree(ROOT / "examples" / beside, tmp_path / "examples" / beside)
    first = free_ports(len(PORTS) - 1)
    ports = {port: first + number for number, port in enumerate(PORTS[1:])}
    begin_index(demo / ".desk", SHOP)
    async with serving(demo / ".desk", "limits.enabled=true", folder=demo) as desk:
        keep_index(demo / ".desk", SHOP)
        printed = await asyncio.to_thread(
            run_in_order, [step for _, step in todo], desk.url, tmp_path, ports, programs
        )
    compare(todo, printed)


@pytest.mark.servers
@pytest.mark.parametrize(
    "page", [page for page in EXAMPLES if steps(page)], ids=lambda page: page.parent.name
)
def test_the_commands_of_a_tutorial_print_what_it_says(
    page: Path, programs: tuple[Path, Path], tmp_path: Path
) -> None:
    first = free_ports(len(PORTS))
    ports = {port: first + number for number, port in enumerate(PORTS)}
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=NOT_THERE)
    for file in (tmp_path / "examples").rglob("*"):
        with suppress(UnicodeDecodeError, IsADirectoryError):
            file.write_text(moved(file.read_text("utf-8"), ports), "utf-8")
    todo = steps(page, NOT_HERE)
    printed = run_in_order([step for _, step in todo], DEMO_URL, tmp_path, ports, programs)
    compare(todo, printed)


def compare(todo: list[tuple[Block, Command | File]], printed: list[str]) -> None:
    """Assert that each step of a page printed what the page says."""
    for (block, step), output in zip(todo, printed, strict=True):
        says, line = ("", "") if isinstance(step, File) else (step.prints, step.line)
        assert fits(says, output), (
            f"{block.page}:{block.line}\n$ {line}\nsays:\n{says}\nprinted:\n{output}"
        )


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.parent.name)
def test_a_tutorial_shows_the_files_of_its_folder(page: Path) -> None:
    shown: dict[str, str] = {}
    for block in blocks(page):
        if block.file:
            shown[block.file.name] = shown.get(block.file.name, "") + block.file.text
    for name, text in shown.items():
        assert text == (page.parent / name).read_text("utf-8"), f"{page.parent.name}/{name}"


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
