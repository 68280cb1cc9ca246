"""What has been kept for as long as the site's owner wants goes, and says that it went."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.store.reads.audit_log import audit_rows
from aitp_desk.store.units.privacy.retention import drop_old_calls
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.desk.terminal import command
from tests.support.doubles.agent import Clock
from tests.support.doubles.callback_receiver import receiving
from tests.support.sites.orders import Research
from tests.support.sites.orders import write_site as write_lamps
from tests.support.store.erasure import MANUAL, converse, found, mark
from tests.support.store.integrity import check_whole

HOUR = 60 * 60
DAY = 24 * HOUR
SETTINGS = ("retention.threads_days=30", "retention.files_days=10", "retention.audit_days=20")


async def leave(talker: Talker, name: str) -> tuple[str, str]:
    """Say something on a thread and in a session, and upload something; ids of thread and file."""
    thread = (await talker.open(mark(f"said-{name}"), headers=MANUAL)).id
    file = (await talker.upload(data=mark(f"file-{name}").encode())).id
    await converse(talker, mark(f"asked-{name}"))
    await talker.desk.store.settled()
    return thread, file


@pytest.mark.sqlite
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

    clock.advance(2 * HOUR)  # it was looked for a moment ago what has had its time
    async with talking(tmp_path, *SETTINGS, clock=clock) as talker:
        who = Talker(talker.desk, data, talker.http, who.key)
        async with asyncio.timeout(60):
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
        assert whole == "The audit log is complete and unchanged: 3 rows."
    await asyncio.to_thread(command, "erase", "--data", data, "--free-space")
    assert found(data, *old, *new) == set(new)
    check_whole(data / DATABASE)


@pytest.mark.sqlite
async def test_calls_on_no_thread_go_with_their_tickets_when_they_have_long_been_over(
    tmp_path: Path,
) -> None:
    clock, data, site = Clock(), tmp_path / "data", write_site(tmp_path)
    wishes = {name: mark(f"wish-{name}") for name in ("old", "open", "new")}
    words = mark("answer-old")
    polls: dict[str, str] = {}

    async def ask(who: Talker, name: str) -> str:
        told = await who.send("POST", "/capabilities/custom_quote", {"wish": wishes[name]})
        polls[name] = told.body["poll"]
        return str(told.body["id"])

    async def ticket_of(who: Talker, call_id: str) -> str:
        async with asyncio.timeout(60):
            while call_id not in (tickets := dict(who.rows("SELECT call_id, id FROM tickets"))):
                await who.desk.store.settled()
        return str(tickets[call_id])

    async def answer(anna: Operator, who: Talker, call_id: str, words: str) -> None:
        ticket = await ticket_of(who, call_id)
        shown = await anna.send("POST", f"tickets/{ticket}/answer", {"words": words})
        assert shown.ok["state"] == "answered"

    async with talking(tmp_path, site=site, clock=clock) as talker:
        who = await talker.with_key("actions")
        async with operating(talker.desk, data) as anna:
            await answer(anna, who, await ask(who, "old"), words)
            await ticket_of(who, await ask(who, "open"))
        clock.advance(31 * DAY)
        async with operating(talker.desk, data, "ben") as ben:
            await answer(ben, who, await ask(who, "new"), "Nine euros.")
    assert found(data, *wishes.values(), words) == {*wishes.values(), words}

    settings = "retention.calls_days=30"
    clock.advance(2 * HOUR)
    async with talking(tmp_path, settings, site=site, clock=clock) as talker:
        who = Talker(talker.desk, data, talker.http, who.key)
        async with asyncio.timeout(60):
            while (await who.send("GET", polls["old"])).status == 200:
                await talker.desk.store.settled()
        assert (await who.send("GET", polls["open"])).ok["status"] in {"pending", "expired"}
        assert (await who.send("GET", polls["new"])).ok["result"] is not None
        async with asyncio.timeout(60):
            while ("retention", "desk:calls", 1) not in await noted(talker):
                await talker.desk.store.settled()
        assert len(who.rows("SELECT id FROM tickets")) == 2
    await asyncio.to_thread(command, "erase", "--data", data, "--free-space")
    assert found(data, *wishes.values(), words) == {wishes["open"], wishes["new"]}
    check_whole(data / DATABASE)


async def test_a_call_stays_until_its_end_was_told(tmp_path: Path) -> None:
    clock, site, research = Clock(), write_lamps(tmp_path), Research()
    research.go_on.set()
    settings = ("egress.allow_loopback=true",)
    async with (
        receiving() as receiver,
        talking(tmp_path, *settings, site=site, clock=clock, actions=(research.offered,)) as talker,
    ):
        receiver.behave(500)
        who, store = await talker.with_key("actions"), talker.desk.store
        body = {"topic": "moths", "_callback_url": receiver.url}
        told = await who.send("POST", "/capabilities/research", body)
        assert told.status == 202
        await receiver.told(1)
        later = int(clock()) + 100 * DAY
        assert await store.run(drop_old_calls, before=later, limit=10) == 0
        clock.advance(60)
        await receiver.told(2)
        async with asyncio.timeout(60):
            while not await store.run(drop_old_calls, before=later, limit=10):
                await store.settled()
        assert (await who.send("GET", told.body["poll"])).status == 404


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
