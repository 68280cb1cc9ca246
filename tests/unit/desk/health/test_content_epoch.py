"""Changed content is taken up by all processes once one of them has."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from aitp_desk.desk.maintenance.content_epoch import share_content_changes
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.content import CONTENT_EPOCH
from tests.support.desk.first_start import begin_database

SELDOM = 600.0
SECONDS = 60


def texts(knowledge: Knowledge) -> list[str]:
    return [passage.text for passage in knowledge.library.passages]


async def test_what_one_process_takes_up_the_others_take_up_at_once(tmp_path: Path) -> None:
    site, data = tmp_path / "site", tmp_path / "data"
    site.mkdir()
    (site / "a.md").write_text("# A\n\nFirst.\n")
    begin_database(tmp_path / "desk.db")
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(tmp_path / "desk.db"))
        processes = []
        for _ in range(3):
            opened = open_knowledge(site, data=data, poll_seconds=SELDOM)
            processes.append(await stack.enter_async_context(opened))
            await stack.enter_async_context(share_content_changes(store, processes[-1:]))
        (site / "a.md").write_text("# A\n\nSecond.\n")
        others = [asyncio.create_task(one.replaced()) for one in processes[1:]]
        assert await processes[0].refresh()
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*others)
        assert all("Second." in texts(one)[0] for one in processes)
        async with asyncio.timeout(SECONDS):
            while await reads.epoch(store, CONTENT_EPOCH) < len(processes):
                await store.settled()
        assert await reads.epoch(store, CONTENT_EPOCH) == len(processes)
