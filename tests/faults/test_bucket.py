"""A bucket that stops, is slow, refuses, is full or damaged; desks that are killed meanwhile."""

from __future__ import annotations

import asyncio
import io
import random
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from hashlib import sha256
from pathlib import Path

import aiohttp
import pytest

from aitp_desk.config.settings import StoreSettings
from aitp_desk.store.contents.kinds import open_contents
from aitp_desk.store.engine.engines import open_store
from tests.faults.databases import FaultDatabase, fault_database
from tests.support.clients.threads import DATABASE, Talker, Told, talking
from tests.support.desk.command import Served, serving_command
from tests.support.desk.server import SITE
from tests.support.store.integrity import check_whole
from tests.support.store.s3_process import ACCESS_KEY, S3Process

pytestmark = pytest.mark.servers

SECONDS = 60
UNLIMITED = ("--set", "limits.enabled=false", "--set", "files.anonymous=true")
LARGE = 4 * 1024 * 1024
HOURS = 2 * 60 * 60
UPLOADS = 20
"""After how many files a desk is killed."""


@asynccontextmanager
async def owning(folder: Path, server: S3Process) -> AsyncIterator[Talker]:
    """A desk that keeps its files in the server's bucket, and a caller with a key."""
    async with talking(folder, *server.settings) as talker:
        yield await talker.with_key("threads")


async def upload_large(who: Talker, data: bytes) -> str:
    form = aiohttp.FormData({"purpose": "assistants"})
    form.add_field("file", io.BytesIO(data), filename="../../etc/passwd")
    async with who.http.post("/v1/files", data=form, headers=who.credentials) as uploaded:
        assert uploaded.status == 200
        return str((await uploaded.json())["id"])


async def download(who: Talker, file: str) -> tuple[int, bytes]:
    path = f"/v1/files/{file}/content"
    headers = dict(who.credentials)
    async with who.http.get(path, headers=headers) as response:
        return response.status, await response.read()


async def files_part(who: Talker) -> tuple[str, str, str]:
    """State of the desk, state of its part, and why."""
    told = (await (await who.with_key("operator")).send("GET", "/ready")).body
    (part,) = [one for one in told["components"] if one["name"] == "files"]
    return told["status"], part["status"], part.get("reason", "")


def check_unavailable(told: Told) -> None:
    assert told.refusal == (503, "unavailable", None)
    assert int(told.headers["Retry-After"]) > 0


async def test_a_file_is_uploaded_read_and_deleted(tmp_path: Path, s3_server: S3Process) -> None:
    async with owning(tmp_path, s3_server) as who:
        data = random.Random(1).randbytes(LARGE)
        file = await upload_large(who, b"%PDF-" + data)
        (key,) = s3_server.keys
        assert "passwd" not in key
        assert file not in key
        assert await download(who, file) == (200, b"%PDF-" + data)
        assert who.rows("SELECT count(*) FROM file_parts") == [(0,)]
        assert await files_part(who) == ("up", "up", "")
        assert (await (await who.with_key("threads")).send("GET", f"/v1/files/{file}")).refusal == (
            404,
            "file_not_found",
            "file_id",
        )


@pytest.mark.parametrize("fault", ["stopped", "paused", "refuses"])
async def test_only_files_are_unavailable_while_the_bucket_is(
    tmp_path: Path, s3_server: S3Process, fault: str
) -> None:
    async with owning(tmp_path, s3_server) as who:
        thread = (await who.open()).id
        file = (await who.upload()).id
        if fault == "paused":
            s3_server.pause()
        else:
            s3_server.kill()
        if fault == "refuses":
            s3_server.start(secret="another-secret-000000000000000000001")
        told = await asyncio.gather(
            who.upload(), who.send("GET", f"/v1/files/{file}/content"), a2a_message(who)
        )
        check_unavailable(told[0])
        check_unavailable(told[1])
        (info, *_) = told[2].body["error"]["data"]
        assert (info["reason"], info["metadata"]) == ("UNAVAILABLE", {"retryAfter": "10"})
        assert (await who.send("GET", f"/v1/files/{file}")).id == file
        assert (await who.post(thread, "Do you have maps?", wait=20)).ok
        attached = [{"file_id": file}]
        assert (await who.post(thread, "Look.", attachments=attached, wait=20)).ok
        assert (await who.texts(thread))[-2] == "Look."  # and it was answered
        state, part, reason = await files_part(who)
        assert (state, part) == ("degraded", "down")
        assert ("refuses the access key" in reason) == (fault == "refuses")
        if fault == "paused":
            s3_server.resume()
        else:
            s3_server.kill()
            s3_server.start()
        assert await download(who, file) == (200, b"Notes.")
        assert (await who.upload()).ok
        assert await files_part(who) == ("up", "up", "")


async def a2a_message(who: Talker) -> Told:
    """Send a file over A2A."""
    part = {"kind": "file", "file": {"name": "notes.txt", "bytes": "Tm90ZXMu"}}
    message = {"kind": "message", "role": "user", "messageId": "m1", "parts": [part]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    return await who.send("POST", "/a2a", body)


async def test_a_full_bucket_refuses_what_it_has_no_space_for(
    tmp_path: Path, s3_server: S3Process
) -> None:
    s3_server.kill()
    s3_server.start(most_bytes=1000)
    async with owning(tmp_path, s3_server) as who:
        check_unavailable(await who.upload(data=b"x" * 2000))
        file = (await who.upload()).id
        assert await download(who, file) == (200, b"Notes.")


async def test_a_damaged_object_is_not_sent_to_its_end(
    tmp_path: Path, s3_server: S3Process
) -> None:
    async with owning(tmp_path, s3_server) as who:
        data = b"%PDF-" + bytes(LARGE)
        file = await upload_large(who, data)
        (key,) = s3_server.keys
        s3_server.path(key).write_bytes(data[:-1] + b"\1")
        with pytest.raises(aiohttp.ClientPayloadError):
            await download(who, file)
        s3_server.path(key).unlink()
        s3_server.kill()
        s3_server.start()
        check_unavailable(await who.send("GET", f"/v1/files/{file}/content"))


async def test_a_download_that_is_cut_does_not_look_whole(
    tmp_path: Path, s3_server: S3Process
) -> None:
    async with owning(tmp_path, s3_server) as who:
        size = 9 * LARGE
        more = f"files.max_bytes={size + 100}"
        async with talking(tmp_path / "large", *s3_server.settings, more) as large:
            other = await large.with_key("threads")
            file = await upload_large(other, b"%PDF-" + bytes(size))
            path, headers = f"/v1/files/{file}/content", dict(other.credentials)
            async with other.http.get(path, headers=headers) as response:
                assert await response.content.readexactly(5) == b"%PDF-"
                s3_server.kill()
                with pytest.raises(aiohttp.ClientPayloadError):
                    await response.read()
        assert (await who.open("Hello.")).ok


async def test_a_desk_says_that_its_settings_name_no_bucket(
    tmp_path: Path, s3_server: S3Process
) -> None:
    async with owning(tmp_path, s3_server) as who:
        file, key = (await who.upload()).id, who.key
    async with talking(tmp_path) as talker:
        who = Talker(talker.desk, tmp_path / "data", talker.http, key)
        check_unavailable(await who.send("GET", f"/v1/files/{file}/content"))
        state, part, reason = await files_part(who)
        assert (state, part) == ("degraded", "down")
        assert "in a bucket that files.store does not name" in reason
        kept = (await who.upload(data=b"In the database.")).id
        assert await download(who, kept) == (200, b"In the database.")


def served(
    data: Path, server: S3Process, url: str = "sqlite:desk.db"
) -> AbstractAsyncContextManager[Served]:
    given = (f"store.url={url}", *server.settings)
    settings = [part for setting in given for part in ("--set", setting)]
    return serving_command(SITE, data, *UNLIMITED, *settings)


def objects(data: Path) -> int:
    """How many objects are recorded."""
    with closing(sqlite3.connect(f"{(data / DATABASE).as_uri()}?mode=ro", uri=True)) as database:
        count: int = database.execute("SELECT count(*) FROM file_objects").fetchone()[0]
        return count


async def sweep(data: Path, server: S3Process, *, after: int, url: str = "sqlite:desk.db") -> int:
    """Delete what no file has, so many seconds from now; return how many objects."""
    async with open_store(StoreSettings(url=url), data) as store:
        contents = open_contents(
            server.files,
            store,
            folder=Path(),
            environment=ACCESS_KEY,
            clock=lambda: time.time() + after,
        )
        return await contents.delete_unneeded()


async def test_a_kill_between_object_and_row_leaves_neither(
    tmp_path: Path, s3_server: S3Process
) -> None:
    data = tmp_path / "data"
    async with served(data, s3_server) as desk, aiohttp.ClientSession(desk.url) as http:
        s3_server.pause()
        upload = asyncio.create_task(http.post("/v1/files", data=form(b"Notes.")))
        with closing(sqlite3.connect(data / DATABASE, isolation_level=None)) as other:
            async with asyncio.timeout(SECONDS):
                while not await asyncio.to_thread(objects, data):
                    pass
            other.execute("BEGIN IMMEDIATE")
            s3_server.resume()
            async with asyncio.timeout(SECONDS):
                while not await asyncio.to_thread(lambda: s3_server.keys):
                    pass
            desk.process.kill()
            with pytest.raises(aiohttp.ClientError):
                await upload
    assert await sweep(data, s3_server, after=0) == 0  # it might still be committed
    assert len(s3_server.keys) == 1
    assert await sweep(data, s3_server, after=HOURS) == 1
    assert s3_server.keys == set()
    check_whole(data / DATABASE)


async def test_what_was_deleted_before_a_kill_is_deleted_after_it(
    tmp_path: Path, s3_server: S3Process
) -> None:
    data = tmp_path / "data"
    async with served(data, s3_server) as desk, aiohttp.ClientSession(desk.url) as http:
        async with http.post("/v1/files", data=form(b"Notes.")) as uploaded:
            file = (await uploaded.json())["id"]
        s3_server.pause()
        async with http.delete(f"/v1/files/{file}") as deleted:
            assert deleted.status == 200
        desk.process.kill()
        await desk.process.wait()
    s3_server.resume()
    assert len(s3_server.keys) == 1
    assert await sweep(data, s3_server, after=0) == 1
    assert s3_server.keys == set()


@pytest.mark.parametrize("on_postgres", [False, True], ids=["sqlite", "postgres"])
async def test_kills_under_load_lose_no_file_and_leave_no_object(
    tmp_path: Path, s3_server: S3Process, on_postgres: bool
) -> None:
    data = tmp_path / "data"
    with fault_database(tmp_path, data, on_postgres=on_postgres) as database:
        await database.begin()
        await kill_under_load(data, s3_server, database)


async def kill_under_load(data: Path, s3_server: S3Process, database: FaultDatabase) -> None:
    chance = random.Random(7)
    kept: dict[str, bytes] = {}
    deleted: set[str] = set()
    news: asyncio.Queue[None] = asyncio.Queue()

    async def load(desk: Served, name: str) -> None:
        async with aiohttp.ClientSession(desk.url) as http:
            number = 0
            while True:
                number += 1
                text = f"{name} {number} ".encode() * chance.randint(1, 20_000)
                async with http.post("/v1/files", data=form(text)) as uploaded:
                    assert uploaded.status == 200
                    file = (await uploaded.json())["id"]
                kept[file] = sha256(text).digest()
                news.put_nowait(None)
                if number % 3 == 0:
                    del kept[file]
                    async with http.delete(f"/v1/files/{file}") as gone:
                        assert gone.status == 200
                    deleted.add(file)

    for kill in range(3):
        async with served(data, s3_server, database.url) as desk:
            clients = [asyncio.create_task(load(desk, f"{kill}-{n}")) for n in range(4)]
            async with asyncio.timeout(SECONDS):
                for _ in range(UPLOADS):
                    await news.get()
            desk.process.kill()
            ends = await asyncio.gather(*clients, return_exceptions=True)
            assert all(isinstance(end, aiohttp.ClientError) for end in ends), ends
    async with (
        served(data, s3_server, database.url) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        for file, digest in kept.items():
            async with http.get(f"/v1/files/{file}/content") as response:
                assert response.status == 200
                assert sha256(await response.read()).digest() == digest
        for file in deleted:
            async with http.get(f"/v1/files/{file}") as response:
                assert response.status == 404
        await desk.stop()
    await sweep(data, s3_server, after=HOURS, url=database.url)
    named = {key for (key,) in await database.rows("SELECT object_key FROM files")}
    rows = {key for (key,) in await database.rows("SELECT key FROM file_objects")}
    assert s3_server.keys == named == rows
    check_whole(await database.snapshot())


def form(data: bytes) -> aiohttp.FormData:
    form = aiohttp.FormData({"purpose": "assistants"})
    form.add_field("file", data, filename="notes.txt")
    return form
