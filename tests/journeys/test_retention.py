"""What has been kept for as long as the site's owner wants goes, and says that it went."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aitp_desk.store.audit_log import audit_rows
from tests.contract.whole import check_whole
from tests.doubles import Clock
from tests.erasing import MANUAL, command, converse, found, mark
from tests.talking import DATABASE, Talker, talking

DAY = 24 * 60 * 60
SETTINGS = ("retention.threads_days=30", "retention.files_days=10", "retention.audit_days=20")


async def leave(talker: Talker, name: str) -> tuple[str, str]:
    """Say something on a thread and in a session, and upload something; ids of thread and file."""
    thread = (await talker.open(mark(f"said-{name}"), headers=MANUAL)).id
    file = (await talker.upload(data=mark(f"file-{name}").encode())).id
    await converse(talker, mark(f"asked-{name}"))
    await talker.desk.store.settled()
    return thread, file


async def test_what_is_older_than_the_owner_wants_goes(tmp_path: Path) -> None:
    clock, data = Clock(), tmp_path / "data"
    kinds = ("said", "file", "asked")
    old, new = ([mark(f"{kind}-{name}") for kind in kinds] for name in ("old", "new"))
    async with talking(tmp_path, clock=clock) as talker:
        who = await talker.with_key("threads")
        first = await leave(who, "old")
        gone = (await who.open("Deleted.", headers=MANUAL)).id
        assert (await who.send("DELETE", f"/v1/threads/{gone}")).status == 200
        clock.advance(31 * DAY)
        second = await leave(who, "new")
    assert found(data, *old, *new) == {*old, *new}

    async with talking(tmp_path, *SETTINGS, clock=clock) as talker:
        who = Talker(talker.desk, data, talker.http, who.key)
        async with asyncio.timeout(20):
            while (await who.read(first[0])).status == 200:
                await talker.desk.store.settled()
            while ("log.trimmed", "log:1", 1) not in await noted(talker):
                await talker.desk.store.settled()
        assert (await who.send("GET", f"/v1/files/{first[1]}")).status == 404
        assert await who.texts(second[0]) == [mark("said-new")]
        assert (await who.send("GET", f"/v1/files/{second[1]}")).status == 200
        assert await noted(talker) == [
            ("retention", "desk:threads", 2),
            ("retention", "desk:files", 1),
            ("log.trimmed", "log:1", 1),
        ]
        whole, *_ = await asyncio.to_thread(command, "audit", "verify", "--data", data)
        assert whole == "The audit log is whole: 3 rows."
    await asyncio.to_thread(command, "erase", "--data", data, "--free-space")
    assert found(data, *old, *new) == set(new)
    check_whole(data / DATABASE)


async def noted(talker: Talker) -> list[tuple[str, str, int]]:
    """What the audit log says, in short."""
    rows = [row async for row in audit_rows(talker.desk.store)]
    return [(row.action, row.object, row.count) for row in rows]


async def test_nothing_goes_by_itself_unless_the_owner_wants_it(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, clock=clock) as talker:
        who = await talker.with_key("threads")
        thread, file = await leave(who, "old")
        clock.advance(10_000 * DAY)
        assert await who.texts(thread) == [mark("said-old")]
        assert (await who.send("GET", f"/v1/files/{file}")).status == 200
