"""What owners learn: figures by the day, open questions, marks, and the export."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.clients.operator import API, Operator, browsing, new_name, operating
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import Clock

DAY = 24 * 3600
KNOWN = "How much does gift wrapping cost?"
UNKNOWN = "Do you repair canoes?"


class Ground(msgspec.Struct, frozen=True):
    """A desk whose clock is set, a visitor, and the data folder."""

    talker: Talker
    clock: Clock
    data: Path

    async def ask(self, question: str, **rated: Any) -> str:
        """Ask on a new thread, and rate the answer; the thread's id."""
        opened = (await self.talker.open(question, wait=10)).ok
        if rated:
            path = f"{THREADS}/{opened['id']}/messages/latest/feedback"
            assert (await self.talker.send("POST", path, rated)).ok
        id_: str = opened["id"]
        return id_

    async def insights(self, path: str = "insights", **body: Any) -> Any:
        """What an operator who signs in now is answered."""
        async with operating(self.talker.desk, self.data, new_name()) as anna:
            return await (anna.post(path, **body) if body else anna.get(path))

    async def questions(self, query: str = "") -> list[dict[str, Any]]:
        """The open questions."""
        found: list[dict[str, Any]] = (await self.insights(f"insights/questions{query}"))["data"]
        return found


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    clock = Clock()
    async with talking(tmp_path, "tickets.people=on_request", clock=clock) as talker:
        yield Ground(talker, clock, tmp_path / "data")


async def export(
    anna: Operator, desk_url: str, query: str, delimiter: str = ","
) -> list[list[str]]:
    """A table as a spreadsheet reads it, also one in whose language a comma is decimal."""
    import aiohttp

    async with (
        aiohttp.ClientSession(desk_url) as http,
        http.get(f"{API}/insights/export?{query}", headers=anna.headers) as answer,
    ):
        assert answer.status == 200
        assert answer.content_type == "text/csv"
        assert "attachment" in answer.headers["Content-Disposition"]
        text = (await answer.read()).decode("utf-8-sig")
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))


async def test_the_outcomes_of_questions_are_counted_by_the_day(ground: Ground) -> None:
    await ground.ask(KNOWN, rating="up")
    ground.clock.advance(DAY)
    await ground.ask(KNOWN, rating="down")
    await ground.ask(UNKNOWN)
    await ground.ask("I want to talk to a person.")
    query = {"ahp": "0.1", "capability": "content_search", "query": KNOWN}
    assert (await ground.talker.send("POST", CONVERSE, query)).ok
    await ground.talker.desk.store.settled()
    found = await ground.insights("insights?days=2")
    first, second = found["days"]
    assert (first["questions"], first["answered"], first["up"]) == (1, 1, 1)
    date = second.pop("date")
    assert date > first["date"]
    assert second == {
        "questions": 4,
        "answered": 2,
        "refused": 1,
        "asked_back": 0,
        "handed": 1,
        "up": 0,
        "down": 1,
    }
    pages = {one["name"]: one for one in found["pages"]}
    wrapping = next(name for name in pages if "gift" in name)
    assert pages[wrapping]["times"] == 3
    assert pages[wrapping]["title"] == "Gift wrapping"
    assert len((await ground.insights())["days"]) == 30


async def test_refused_and_rated_down_questions_are_grouped_by_their_words(ground: Ground) -> None:
    await ground.ask(UNKNOWN)
    await ground.ask("do you repair canoes", rating="down", reason="You did once.")
    await ground.ask("Which canoes do you repair?")
    await ground.ask(KNOWN, rating="down", reason="Which card?")
    await ground.ask(KNOWN, rating="up")
    first, second = await ground.questions()
    wordings = {one.casefold().rstrip("?") for one in (first["question"], *first["others"])}
    assert wordings == {"do you repair canoes", "which canoes do you repair"}
    assert (first["refused"], first["down"], first["reasons"]) == (2, 1, ["You did once."])
    assert (second["question"], second["refused"], second["down"]) == (KNOWN, 0, 1)
    assert second["reasons"] == ["Which card?"]


async def test_a_marked_question_is_open_again_when_it_is_asked_on_a_later_day(
    ground: Ground,
) -> None:
    await ground.ask(UNKNOWN)
    found = await ground.insights("insights/questions")
    page = found["pages"][0]["path"]
    mark = {"questions": [UNKNOWN], "page": page}
    await ground.insights("insights/answered", **mark)
    assert await ground.questions() == []
    await ground.ask(UNKNOWN)
    assert await ground.questions() == []
    await ground.insights("insights/answered", questions=[UNKNOWN], page=None)
    assert [one["refused"] for one in await ground.questions()] == [2]
    await ground.insights("insights/answered", **mark)
    ground.clock.advance(DAY)
    assert await ground.questions() == []
    await ground.ask("do you repair canoes?")
    (again,) = await ground.questions()
    assert (again["question"], again["refused"]) == ("do you repair canoes?", 1)
    kept = str(ground.talker.rows("SELECT * FROM answered_questions"))
    assert "canoes" not in kept
    assert page in kept
    audited = ground.talker.rows("SELECT principal, action FROM audit")
    assert [action for _, action in audited].count("questions.answered") == 3


async def test_what_cannot_be_marked_is_refused(ground: Ground) -> None:
    async with operating(ground.talker.desk, ground.data) as anna:
        for body, param in (
            ({"questions": ["Hm?"], "page": "/none"}, "page"),
            ({"questions": ["Hm?"], "page": "/about", "agent": "none"}, "agent"),
            ({"questions": [], "page": "/about"}, None),
        ):
            refused = await anna.send("POST", "insights/answered", body)
            assert refused.refusal == (400, "invalid_request", param)
        refused = await anna.send("GET", "insights?days=91")
        assert refused.refusal == (400, "invalid_request", "days")
    async with browsing(ground.talker.desk) as nobody:
        for path in ("insights", "insights/questions", "insights/export"):
            assert (await nobody.send("GET", path)).status == 401


async def test_what_is_deleted_is_no_question_any_more(ground: Ground) -> None:
    thread = await ground.ask(UNKNOWN, rating="down", reason="My name is Aya.")
    assert len(await ground.questions()) == 1
    assert (await ground.talker.send("DELETE", f"{THREADS}/{thread}")).ok
    assert await ground.questions() == []
    assert (await ground.insights("insights?days=1"))["days"][0]["questions"] == 0


async def test_a_spreadsheet_takes_no_cell_for_a_formula(ground: Ground) -> None:
    for begin in "=+-@＝":  # the last one is full-width
        await ground.ask(f"{begin}HYPERLINK canoes{ord(begin)} z{ord(begin)}")
    await ground.ask(KNOWN, rating="down", reason="=1+1")
    url = ground.talker.desk.url
    async with operating(ground.talker.desk, ground.data) as anna:
        head, *rows = await export(anna, url, "table=questions")
        assert head[:4] == ["question", "refused", "rated_down", "last"]
        assert len(rows) == 6
        assert not any(cell.startswith(("=", "+", "-", "@", "＝")) for row in rows for cell in row)
        assert any(row[0].startswith("'=HYPERLINK") for row in rows)
        head, *days = await export(anna, url, "days=7")
        assert head[0] == "date"
        assert len(days) == 7
        assert days[-1][1] == "6"
        pages = await export(anna, url, "days=7&table=pages")
        assert pages[0] == ["page", "times"]
        assert await export(anna, url, "days=7&table=actions") == [["action", "times"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
async def test_no_text_becomes_a_cell_with_a_formula(ground: Ground, delimiter: str) -> None:
    for number, end in enumerate((";=1+1", ';"=1+1"', "\t=1+1", "\n=1+1", "; +1", ";@SUM(1)")):
        await ground.ask(f"Do you repair {'canoes' * (number + 1)}{end}")
    await ground.ask(KNOWN, rating="down", reason='Hm;=1+1\n"=2+2";-3')
    await ground.ask(KNOWN, rating="down", reason="=4+4")
    async with operating(ground.talker.desk, ground.data) as anna:
        rows = await export(anna, ground.talker.desk.url, "table=questions", delimiter)
    cells = [cell.lstrip() for row in rows for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    assert any("canoes" in cell for cell in cells)
