"""Insights in a terminal, while a desk serves."""

from __future__ import annotations

from pathlib import Path

from tests.support.clients.threads import THREADS, talking
from tests.support.desk.command import run


async def test_the_outcomes_of_questions_are_printed_as_csv(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        opened = (await talker.open("How much does gift wrapping cost?", wait=10)).ok
        path = f"{THREADS}/{opened['id']}/messages/latest/feedback"
        assert (await talker.send("POST", path, {"rating": "up"})).ok
        await talker.open("Do you repair canoes?", wait=10)
        data = ("--data", tmp_path / "data")
        code, (head, *_, last), _ = await run("insights", "--days", "2", *data)
        assert code == 0
        assert head == "date,questions,answered,refused,asked_back,handed,up,down"
        assert last.partition(",")[2] == "2,1,1,0,0,1,0"
        _, pages, _ = await run("insights", "--table", "pages", *data)
        assert pages[0] == "page,times"
        assert pages[1].endswith("gift-wrapping,1")
        assert (await run("insights", "--days", "91", *data))[0] == 2
