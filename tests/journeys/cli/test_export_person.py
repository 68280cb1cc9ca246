"""Everything that a desk stores of a person is in the archive, and nothing of another."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.support.clients.threads import talking
from tests.support.desk.server import SITE
from tests.support.desk.terminal import command
from tests.support.doubles.agent import ScriptedAgent
from tests.support.store.erasure import (
    MANUAL,
    PLACES,
    converse,
    leave_words,
    mark,
    principal_of,
    quote,
)


async def export(to: Path, *of: object, exit_code: int = 0) -> list[str]:
    data = ("--data", to.parent / "data", "--to", to)
    return await asyncio.to_thread(command, "export-person", SITE, *of, *data, exit_code=exit_code)


def read_archive(path: Path) -> tuple[str, list[dict[str, Any]], bytes]:
    """The index, the records, and the bytes of all files."""
    with ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(set(names)) == len(names)
        now = time.localtime()[0]
        assert {one.date_time[0] for one in archive.infolist()} <= {now, now - 1}
        lines = [
            line
            for name in names
            if name.endswith(".jsonl")
            for line in archive.read(name).splitlines()
        ]
        files = [archive.read(name) for name in names if name.startswith("files/")]
        return archive.read("index.txt").decode(), list(map(json.loads, lines)), b"".join(files)


async def test_every_word_of_a_person_is_in_the_archive_and_none_of_another(
    tmp_path: Path,
) -> None:
    archive = tmp_path / "aya.zip"
    async with talking(tmp_path, agent=ScriptedAgent(quote)) as talker:
        who, other = await talker.with_key("threads"), await talker.with_key("threads")
        await leave_words(who, other)
        await converse(who, mark("first-turn"))
        session = (await converse(who, mark("first-turn")))["session_id"]
        await converse(who, mark("later-turn"), session)
        await converse(who, mark("asked-back"), session)
        alone = (await other.open(mark("of-another-alone"), wait=20)).id
        await talker.desk.store.settled()
        person = await principal_of(who)

        (line,) = await export(archive, "--actor", person)
        index, records, files = read_archive(archive)
        assert line == f"Wrote {len(records)} records about {person} to {archive}."
        assert archive.stat().st_mode & 0o777 == 0o600
        told = json.dumps(records).encode() + files
        assert [place for place in PLACES if mark(place).encode() not in told] == []
        for foreign in ("of-another-alone", "of-another-too"):
            assert mark(foreign) not in json.dumps(records)
        said = [one for one in records if one["kind"] == "message"]
        assert mark("of-another") not in json.dumps(said)
        assert alone not in json.dumps(records)
        assert who.key is not None
        assert who.key.rpartition("_")[2] not in json.dumps(records)
        for kind in ("message", "reply", "file", "run", "step", "note", "ticket"):
            count = sum(one["kind"] == kind for one in records)
            assert f"{count:>8}  {kind}" in index

        kept = archive.read_bytes()
        (line,) = await export(archive, "--actor", person, exit_code=1)
        assert line == f"{archive} exists already. Name a new file."
        assert archive.read_bytes() == kept


async def test_a_visitor_without_a_credential_is_named_by_their_thread(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        thread = (await talker.open("What does shipping cost?", wait=20)).id
        await talker.open("Do you sell lamps?", wait=20)
        await export(tmp_path / "visitor.zip", "--thread", thread)
        _, records, _ = read_archive(tmp_path / "visitor.zip")
        (message,) = [one for one in records if one["kind"] == "message"]
        assert message["content"] == ["What does shipping cost?"]
        assert {one.get("thread_id", thread) for one in records} == {thread}
        _, line = await export(tmp_path / "nobody.zip", "--thread", "thread_x")
        assert line == f"Wrote 0 records about all visitors on thread_x to {tmp_path}/nobody.zip."


async def test_replies_after_a_person_left_are_not_exported(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(quote)) as talker:
        owner, guest = await talker.with_key("threads"), await talker.with_key("threads")
        thread = (await owner.open(headers=MANUAL)).id
        person = await principal_of(guest)
        path = f"/v1/threads/{thread}/actors"
        (await owner.send("POST", path, {"id": "ben", "principal": person})).ok  # noqa: B018
        await guest.post(thread, mark("while-here"), wait=20)
        (await owner.send("DELETE", f"{path}/ben")).ok  # noqa: B018
        await owner.post(thread, mark("afterwards"), wait=20)
        await export(tmp_path / "ben.zip", "--actor", person)
        _, records, _ = read_archive(tmp_path / "ben.zip")
        assert {one["kind"] for one in records} >= {"message", "reply", "participation"}
        assert mark("while-here") in json.dumps(records)
        assert mark("afterwards") not in json.dumps(records)


def test_an_archive_that_cannot_be_completed_is_deleted(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    done = command(
        "export-person",
        SITE,
        "--actor",
        "key:1",
        "--data",
        missing,
        "--to",
        tmp_path / "a.zip",
        exit_code=1,
    )
    assert "there is no" in str(done)
    assert not (tmp_path / "a.zip").exists()
