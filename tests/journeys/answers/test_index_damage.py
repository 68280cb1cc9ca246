"""Damage to the file that the content is indexed in: it is made again, and answers stay right."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk.knowledge.index.builder import FILE
from tests.support.clients.ahp import Visitor, visiting

QUESTIONS = (
    "How long do I have to return a book?",
    "What does gift wrapping cost?",
    "How long does shipping take?",
)
PAGES = ("/policies/returns", "/policies/shipping.md", "/llms-full.txt", "/")


def overwrite(file: Path) -> None:
    """Half of it, in place."""
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 4)
        opened.write(b"\xa5" * (size // 2))


def overwrite_here_and_there(file: Path) -> None:
    """Some bytes of every page but the first."""
    with file.open("r+b") as opened:
        for at in range(4096, file.stat().st_size, 4096):
            opened.seek(at + 2000)
            opened.write(b"\0\xff damaged")


def change_numbers(file: Path) -> None:
    """What the database takes for whole: passages that there are not, places past the end."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for column in ("numbers", "ends"):
            rows = connection.execute(f"SELECT stem, length({column}) FROM stem").fetchall()
            for stem, length in rows[:: 1 if column == "ends" else 2]:
                query = f"UPDATE stem SET {column} = ? WHERE stem = ?"
                connection.execute(query, (b"\xff" * length, stem))
        connection.execute("UPDATE called SET passage = passage + 1000000")


def change_a_word(file: Path) -> None:
    """What no check of the database finds."""
    at = file.read_bytes().index(b"gift wrap")
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(b"left wrap")


def cut_off(file: Path) -> None:
    """All but its first page, in its own file: cutting one that is mapped ends a process."""
    head = file.read_bytes()[:4096]
    file.unlink()
    file.write_bytes(head)


every_damage = pytest.mark.parametrize(
    "damage", [overwrite, overwrite_here_and_there, change_a_word, change_numbers, cut_off]
)
Damage = Callable[[Path], None]


async def everything(visitor: Visitor) -> list[tuple[int, str]]:
    """What is answered, and what the pages say, each with its status."""
    found: list[tuple[int, str]] = []
    for question in QUESTIONS:
        said = await visitor.ask(question)
        found.append((said.status, said.body.get("response", {}).get("answer", "")))
    for page in PAGES:
        async with visitor.http.get(page) as response:
            text = (await response.text()).replace(visitor.desk.url, "")
            found.append((response.status, text))
    return found


@pytest.mark.slow
@every_damage
async def test_a_desk_that_starts_over_a_damaged_index_makes_it_again(
    tmp_path: Path, damage: Damage
) -> None:
    data = tmp_path / "data"
    async with visiting(data) as visitor:
        whole = await everything(visitor)
        assert {status for status, _ in whole} == {200}
    damage(data / FILE)
    async with visiting(data) as visitor:
        assert await everything(visitor) == whole


@pytest.mark.slow
@every_damage
async def test_an_index_that_is_damaged_while_the_desk_serves_is_made_again(
    tmp_path: Path, damage: Damage
) -> None:
    data = tmp_path / "data"
    async with visiting(data, "cache.max_answers=0") as visitor:
        whole = await everything(visitor)
    async with visiting(data, "cache.max_answers=0") as visitor:
        damage(data / FILE)
        # until it is seen nothing worse comes of it than to be asked to come again
        assert {status for status, _ in await everything(visitor)} <= {200, 503}
        await visitor.desk.desk.knowledge.refresh()
        assert await everything(visitor) == whole
        assert not await visitor.desk.desk.knowledge.refresh()


async def test_an_index_that_is_only_touched_is_opened_again_once(tmp_path: Path) -> None:
    async with visiting(tmp_path / "data") as visitor:
        knowledge = visitor.desk.desk.knowledge
        whole = await everything(visitor)
        (tmp_path / "data" / FILE).touch()
        place = (tmp_path / "data" / FILE).stat().st_ino
        before = knowledge.editions
        await knowledge.refresh()
        assert knowledge.editions is not before
        assert (tmp_path / "data" / FILE).stat().st_ino == place
        assert not await knowledge.refresh()
        assert await everything(visitor) == whole
