"""Sealed values: who reads them, what is noted of that, and when they go."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.threads import DATABASE, THREADS, Talker, Told
from tests.support.desk.terminal import command
from tests.support.doubles.agent import Clock
from tests.support.plugins.sealed_values import guarded, part
from tests.support.store.erasure import MANUAL
from tests.support.store.secret_search import found_in

CODE = "Sesame-4711"
DAY = 24 * 60 * 60


async def tell_code(who: Talker, thread: str, code: str = CODE) -> str:
    """Tell the safe a code; id of the message."""
    return (await who.post(thread, [part(code={"safe": "s-1", "code": code})], headers=MANUAL)).id


def refs(who: Talker) -> list[str]:
    return [ref for (ref,) in who.rows("SELECT ref FROM sealed_values ORDER BY made_at, ref")]


async def read(who: Talker, ref: str) -> Told:
    return await who.send("GET", f"/v1/sealed/{ref}")


async def test_only_a_credential_for_it_reads_what_is_sealed(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guest:
        owner = await guest.with_key("threads")
        thread = (await owner.open()).id
        await tell_code(owner, thread)
        (ref,) = refs(guest)
        reader = await guest.with_key("sensitive")
        told = await read(reader, ref)
        assert told.ok == {
            "id": ref,
            "object": "sealed",
            "created_at": told.ok["created_at"],
            "thread_id": thread,
            "value": CODE,
        }
        assert told.headers["Cache-Control"] == "no-store"
        unknown = f"{ref[:-1]}{'0' if ref[-1] != '0' else '1'}"
        others = [
            guest,
            owner,
            *[await guest.with_key(s) for s in ("actions", "operator", "admin")],
        ]
        nothing = await read(reader, unknown)
        assert nothing.refusal == (404, "resource_not_found", "ref")
        assert (await read(reader, "anything")).body == nothing.body
        for other in others:
            refused = await read(other, ref)
            assert (refused.status, refused.body) == (404, nothing.body)
        # what it was made for is all that it opens of what others have said
        assert (await reader.read(thread)).status == 404
        noted = guest.rows("SELECT principal, object FROM audit WHERE action = 'sealed.read'")
        assert [row[1] for row in noted] == [f"sealed:{ref}"]
        assert noted[0][0].startswith("key:")
        log = await asyncio.to_thread(command, "audit", "verify", "--data", tmp_path / "data")
        assert log[0].startswith("The audit log is complete and unchanged")


async def test_what_cannot_be_noted_is_not_told(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guest:
        await tell_code(guest, (await guest.open()).id)
        (ref,) = refs(guest)
        reader = await guest.with_key("sensitive")
        with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as database:
            database.execute(
                "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, ''); END"
            )
            database.commit()
            told = await read(reader, ref)
            assert told.status >= 500
            assert CODE not in str(told.body)
            database.execute("DROP TRIGGER full")
            database.commit()
        assert (await read(reader, ref)).ok["value"] == CODE


async def test_a_value_that_was_moved_in_the_database_does_not_open(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guest:
        mine, theirs = [(await guest.open()).id for _ in range(2)]
        await tell_code(guest, mine)
        (ref,) = refs(guest)
        reader = await guest.with_key("sensitive")
        with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as database:
            database.execute("UPDATE sealed_values SET thread_id = ?", [theirs])
            database.commit()
        assert (await read(reader, ref)).refusal == (404, "resource_not_found", "ref")


@pytest.mark.parametrize("what", ["message", "thread", "erased", "erased on thread"])
async def test_what_is_sealed_goes_with_what_brought_it(tmp_path: Path, what: str) -> None:
    async with guarded(tmp_path) as guest:
        owner = await guest.with_key("threads")
        assert owner.key is not None
        thread = (await owner.open()).id
        message = await tell_code(owner, thread)
        other = (await guest.open()).id
        await tell_code(guest, other, "another code")
        assert len(refs(guest)) == 2
        match what:
            case "message":
                await owner.send("DELETE", f"{THREADS}/{thread}/messages/{message}")
            case "thread":
                await owner.send("DELETE", f"{THREADS}/{thread}")
            case _:
                whose = ["--actor", f"key:{owner.key.split('_')[1]}"]
                if what == "erased on thread":
                    whose = ["--thread", thread]
                told = await asyncio.to_thread(
                    command, "erase", "--data", tmp_path / "data", *whose
                )
                assert "       1  sealed values" in told
        left = guest.rows("SELECT thread_id FROM sealed_values")
        assert left == [(other,)]


async def test_what_is_sealed_goes_after_its_time(tmp_path: Path) -> None:
    clock = Clock()
    async with guarded(tmp_path, clock=clock) as guest:
        await tell_code(guest, (await guest.open()).id)
        clock.advance(89 * DAY)
        thread = (await guest.open()).id
        await tell_code(guest, thread)
    clock.advance(2 * DAY)
    async with guarded(tmp_path, clock=clock) as guest, asyncio.timeout(60):
        while len(refs(guest)) == 2:
            await guest.desk.store.settled()
        assert guest.rows("SELECT thread_id FROM sealed_values") == [(thread,)]
        while not (noted := _noted(guest)):
            await guest.desk.store.settled()
        assert noted == [("desk:sealed", 1)]


def _noted(guest: Talker) -> list[Any]:
    return guest.rows("SELECT object, count FROM audit WHERE action = 'retention'")


async def test_who_claims_a_thread_has_what_was_sealed_there(tmp_path: Path) -> None:
    async with guarded(tmp_path) as guest:
        thread = (await guest.open()).id
        await tell_code(guest, thread)
        assert guest.rows("SELECT principal FROM sealed_values") == [(None,)]
        owner = await guest.with_key("threads")
        assert (await owner.send("POST", f"{THREADS}/{thread}/claim")).status == 200
        ((principal,),) = guest.rows("SELECT principal FROM sealed_values")
        assert principal.startswith("key:")


async def test_another_data_key_opens_what_the_one_before_has_sealed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with guarded(tmp_path) as guest:
        await tell_code(guest, (await guest.open()).id)
        reader = await guest.with_key("sensitive")
    await asyncio.to_thread(command, "keys", "rotate-data", "--data", data)
    await asyncio.to_thread(command, "keys", "rotate-master", "--data", data)
    async with guarded(tmp_path) as guest:
        await tell_code(guest, (await guest.open()).id, "by the second key")
        again = Talker(guest.desk, data, guest.http, reader.key)
        told = {(await read(again, ref)).ok["value"] for ref in refs(guest)}
        assert told == {CODE, "by the second key"}
    (data / "master.key").unlink()
    reset = await asyncio.to_thread(command, "keys", "reset", "--data", data, "--yes")
    assert "       2  sealed values deleted; they could not be decrypted" in reset
    async with guarded(tmp_path) as guest:
        assert refs(guest) == []


async def test_a_further_agents_address_has_what_was_sealed_there_alone(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("content", "books"):
        (site / name).mkdir(parents=True)
        (site / name / "facts.md").write_text("# Facts\n\nHello is a greeting.\n", "utf-8")
    (site / "desk.toml").write_text(
        '[content]\nfolder = "content"\n'
        '[[agents]]\nname = "books"\n[agents.content]\nfolder = "books"\n',
        "utf-8",
    )
    async with guarded(tmp_path, site=site) as guest:
        await tell_code(guest, (await guest.open()).id)
        (ref,) = refs(guest)
        reader = await guest.with_key("sensitive")
        assert (await read(reader, ref)).status == 200
        elsewhere = await reader.send("GET", f"/books/v1/sealed/{ref}")
        assert elsewhere.refusal == (404, "resource_not_found", "ref")
        assert len(guest.rows("SELECT n FROM audit WHERE action = 'sealed.read'")) == 1


async def test_a_backup_holds_no_value_and_opens_with_the_master_key_alone(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup.db"
    async with guarded(tmp_path) as guest:
        thread = (await guest.open()).id
        await tell_code(guest, thread)
        reader = await guest.with_key("sensitive")
        await asyncio.to_thread(command, "store", "backup", "--data", data, backup)
        await guest.send("DELETE", f"{THREADS}/{thread}")
        assert refs(guest) == []
    assert found_in({"backup": backup.read_bytes()}, [CODE]) == set()
    for file in data.glob(f"{DATABASE}*"):
        file.unlink()
    await asyncio.to_thread(command, "store", "restore", "--data", data, backup)
    async with guarded(tmp_path) as guest:
        again = Talker(guest.desk, data, guest.http, reader.key)
        (ref,) = refs(guest)
        assert (await read(again, ref)).ok["value"] == CODE
