"""The TypeScript client: its types are current, and its own tests pass against desks that run."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Delta
from tests.docs.snippets import blocks
from tests.support.access.keys import make_key
from tests.support.desk.server import SHOP, serving
from tests.support.doubles.agent import PacedAgent

BY_HAND = 200
"""The most lines that are not generated."""
CLIENT = SHOP.parent / "clients" / "typescript"

pytestmark = [pytest.mark.servers, pytest.mark.asyncio(loop_scope="module")]


class Shop(NamedTuple):
    """A demo shop that runs, and a key of it."""

    url: str
    key: str


async def run(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder and return what it printed; fail where it does."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed = (await process.communicate())[0].decode()
    assert process.returncode == 0, printed[-4000:]
    return printed


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with what its package.json names."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed here")
    folder = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    await run(folder, "npm", "ci", "--no-audit", "--no-fund", "--prefer-offline")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """The demo shop, of a copy of its folder."""
    folder = tmp_path_factory.mktemp("shop") / "shop"
    shutil.copytree(SHOP, folder, ignore=shutil.ignore_patterns(".desk", "shop.db*"))
    async with serving(folder / ".desk", folder=folder) as desk:
        yield Shop(desk.url, await make_key(desk.store, folder / ".desk", "threads", "actions"))


async def test_the_committed_types_are_those_of_the_shop(client: Path, shop: Shop) -> None:
    await run(client, "node", "generate.mjs", f"{shop.url}/openapi.json", "made.ts")
    assert (client / "made.ts").read_text() == (CLIENT / "src" / "schema.ts").read_text(), (
        "`make demo`, and `npm run generate` in examples/clients/typescript, write the types again"
    )


async def test_the_client_s_own_tests_pass(client: Path, shop: Shop, tmp_path: Path) -> None:
    agent = PacedAgent()
    agent.say(*map(Delta, ("One, ", "two, ", "three.")), Answer("One, two, three."))
    async with serving(tmp_path / "data", agent=agent) as streaming:
        addresses = {"DESK_URL": shop.url, "STREAMING_URL": streaming.url}
        await run(client, "npm", "test", **addresses, DESK_KEY=shop.key)


async def test_the_examples_of_the_readme_are_typed(client: Path) -> None:
    examples = [one.code for one in blocks(CLIENT / "README.md") if one.language == "typescript"]
    (client / "src" / "readme.ts").write_text("\n".join(examples))
    await run(client, "npm", "run", "build")


async def test_the_client_is_small_where_it_is_written_by_hand() -> None:
    by_hand = [one for one in (CLIENT / "src").glob("*.ts") if one.name != "schema.ts"]
    assert len(by_hand) == 3
    assert sum(len(one.read_text().splitlines()) for one in by_hand) <= BY_HAND


async def test_the_client_needs_no_package_where_it_runs() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    assert "dependencies" not in package
    for source in (CLIENT / "src").glob("*.ts"):
        imported = re.findall(r'from "([^"]+)"', source.read_text())
        assert [one for one in imported if not one.startswith("./")] == []
