"""`aitp-desk files`, and what `check` and `store` say of files in a bucket."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk.config.settings import DESK_FILE
from tests.support.clients.threads import DATABASE, talking
from tests.support.desk.command import SECONDS, Done, run_here
from tests.support.doubles.agent import Clock
from tests.support.store.postgres import PostgresServer
from tests.support.store.s3_process import S3Process

pytestmark = pytest.mark.servers

FILES = [b"Notes.", b"%PDF-" + bytes(1_000_000), b"More notes."]


class Owner:
    """The owner of a site whose files are in its database at first."""

    def __init__(self, site: Path, server: S3Process) -> None:
        self.site = site
        self.data = site / ".desk"
        self.server = server

    def use_bucket(self, *, name: str | None = None) -> None:
        lines = dict(line.split("=", 1) for line in self.server.settings)
        if name is not None:
            lines["files.store"] = f'"s3://{name}"'
        self.site.joinpath(DESK_FILE).write_text(
            "\n".join(f"{key} = {value}" for key, value in lines.items())
        )

    def run(self, *arguments: object) -> Done:
        return run_here("files", arguments[0], self.site, *arguments[1:])

    def ok(self, *arguments: object) -> list[str]:
        done = self.run(*arguments)
        assert (done.code, done.err) == (0, "")
        return done.out.splitlines()

    def rows(self, statement: str, database: Path | None = None) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(database or self.data / DATABASE)) as opened:
            return opened.execute(statement).fetchall()

    def contents(self, database: Path | None = None) -> list[bytes]:
        """The bytes of all files, in the order of their upload."""
        files = self.rows("SELECT id, object_key FROM files ORDER BY id", database)
        return [
            b"".join(
                part
                for (part,) in self.rows(
                    f"SELECT bytes FROM file_parts WHERE file_id = '{id_}' ORDER BY n", database
                )
                if isinstance(part, bytes)
            )
            if key is None
            else self.server.path(str(key)).read_bytes()
            for id_, key in files
        ]


@pytest.fixture
async def owner(tmp_path: Path, s3_server: S3Process) -> Owner:
    site = tmp_path / "site"
    site.mkdir()
    site.joinpath("index.md").write_text("# A shop\n\nIt sells maps.\n")
    async with talking(tmp_path, site=site) as talker:
        who = await talker.with_key("threads")
        for data in FILES:
            assert (await who.upload(data=data)).ok
    (tmp_path / "data").rename(site / ".desk")
    return Owner(site, s3_server)


def test_files_move_to_a_bucket_and_back(owner: Owner) -> None:
    owner.use_bucket()
    (moved,) = owner.ok("move")
    assert moved == f"Moved 3 files, 1.0 MB, to s3://desk-files/shop at {_host(owner)}."
    assert owner.rows("SELECT count(*) FROM file_parts") == [(0,)]
    assert len(owner.server.keys) == 3
    assert owner.contents() == FILES
    assert owner.ok("move")[0].startswith("Moved 0 files")
    assert owner.ok("check") == ["files      3, 1.0 MB: unchanged"]

    (moved,) = owner.ok("move", "--to-database")
    assert moved == "Moved 3 files, 1.0 MB, to the database."
    assert owner.contents() == FILES
    assert owner.rows("SELECT count(*) FROM file_objects") == [(0,)]
    assert owner.server.keys == set()
    owner.site.joinpath(DESK_FILE).unlink()
    assert owner.ok("check") == ["files      3, 1.0 MB: unchanged"]


def test_an_interrupted_move_goes_on(owner: Owner) -> None:
    owner.use_bucket()
    owner.server.pause()
    done = owner.run("move")
    assert (done.code, done.out) == (1, "")
    assert "did not answer within 2 seconds" in done.err
    assert owner.contents() == FILES
    owner.server.resume()
    assert owner.ok("move")[0].startswith("Moved 3 files")
    assert owner.contents() == FILES


def test_lost_and_changed_objects_are_told(owner: Owner) -> None:
    owner.use_bucket()
    owner.ok("move")
    lost, changed, _ = sorted(owner.server.keys)
    owner.server.path(lost).unlink()
    size = owner.server.path(changed).stat().st_size
    owner.server.path(changed).write_bytes(bytes(size))
    owner.server.kill()
    owner.server.start()
    done = owner.run("check")
    assert done.code == 1
    assert done.out.startswith("files      1, ")
    assert lost in done.err
    assert changed in done.err
    assert done.err.endswith("Lost or changed: 2 files.\n")
    back = owner.run("move", "--to-database")
    assert back.code == 1
    assert back.err.endswith("Not moved: 2 files.\n")
    assert owner.rows("SELECT count(*) FROM files WHERE object_key IS NULL") == [(1,)]


def test_a_backup_names_objects_or_includes_them(owner: Owner, tmp_path: Path) -> None:
    owner.use_bucket()
    owner.ok("move")
    backup, drill = tmp_path / "backup.db", tmp_path / "drill"
    done = run_here("store", "backup", "--data", owner.data, backup)
    assert "Files in a bucket are only named in it." in done.out
    assert owner.rows("SELECT count(*) FROM file_parts", backup) == [(0,)]
    whole = run_here("store", "check", "--data", owner.data)
    assert "files      0: unchanged; others in a bucket: 'aitp-desk files check" in whole.out

    assert owner.ok("include", backup) == [f"Included 3 files, 1.0 MB, in {backup}."]
    assert owner.ok("include", backup) == [f"Included 0 files, 0.0 MB, in {backup}."]
    assert owner.contents(backup) == FILES
    assert owner.rows("SELECT count(*) FROM file_objects", backup) == [(0,)]
    assert backup.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.glob("backup.db*")} == {"backup.db"}
    assert owner.contents() == FILES  # the bucket has what it had
    assert owner.ok("check") == ["files      3, 1.0 MB: unchanged"]

    drill.mkdir(mode=0o700)
    drill.joinpath("master.key").write_bytes(owner.data.joinpath("master.key").read_bytes())
    drill.joinpath("master.key").chmod(0o600)
    restored = run_here("store", "restore", "--data", drill, backup)
    assert restored.code == 0, restored.err
    assert owner.contents(drill / DATABASE) == FILES
    assert "files      3: unchanged\n" in run_here("store", "check", "--data", drill).out


def test_objects_that_no_file_has_are_counted_once_they_are_old(owner: Owner) -> None:
    owner.use_bucket()
    owner.ok("move")
    stray = owner.server.path("files/0000")
    stray.write_bytes(b"Of a database that was lost.")
    assert owner.ok("check") == ["files      3, 1.0 MB: unchanged"]
    os.utime(stray, (1_700_000_000, 1_700_000_000))
    owner.server.kill()
    owner.server.start()
    assert owner.ok("check")[1] == (
        "unknown    1 object below s3://desk-files/shop that no file has"
    )
    assert stray.exists()


async def test_a_copy_of_the_database_names_the_same_objects(
    owner: Owner, postgres: PostgresServer, tmp_path: Path
) -> None:
    owner.use_bucket()
    await asyncio.to_thread(owner.ok, "move")
    url = await postgres.make("with_objects")
    copy = ("store", "copy", "--data", owner.data)
    done = await asyncio.to_thread(run_here, *copy, "sqlite:desk.db", url)
    assert done.code == 0, done.err
    assert "files      0: unchanged; others in a bucket" in done.out
    there = f"store.url={url}"
    checked = await asyncio.to_thread(owner.ok, "check", "--set", there)
    assert checked == ["files      3, 1.0 MB: unchanged"]
    back = await asyncio.to_thread(owner.ok, "move", "--to-database", "--set", there)
    assert back == ["Moved 3 files, 1.0 MB, to the database."]
    assert owner.server.keys == set()
    done = await asyncio.to_thread(run_here, *copy, url, f"sqlite:{tmp_path}/back.db")
    assert done.code == 0, done.err
    assert owner.contents(tmp_path / "back.db") == FILES


async def test_erased_files_leave_the_bucket_with_a_serving_desk(
    owner: Owner, tmp_path: Path
) -> None:
    owner.use_bucket()
    await asyncio.to_thread(owner.ok, "move")
    ((uploader,),) = owner.rows("SELECT DISTINCT owner FROM files")
    erase = ("erase", "--data", owner.data, "--actor", uploader)
    done = await asyncio.to_thread(run_here, *erase)
    assert "A serving desk deletes erased files from the bucket within a minute." in done.out
    assert owner.rows("SELECT count(*) FROM files") == [(0,)]
    assert len(owner.server.keys) == 3
    owner.data.rename(tmp_path / "data")
    clock = Clock(time.time())
    async with talking(tmp_path, site=owner.site, clock=clock):
        pass  # the schedule begins
    clock.advance(61)
    async with talking(tmp_path, site=owner.site, clock=clock), asyncio.timeout(SECONDS):
        while await asyncio.to_thread(lambda: owner.server.keys):
            pass


def test_check_tries_the_bucket(owner: Owner) -> None:
    owner.use_bucket()
    good = run_here("check", owner.site)
    assert good.code == 0
    assert f"s3://desk-files/shop at {_host(owner)}: an object was written, read and" in good.out
    assert owner.server.keys == set()
    owner.use_bucket(name="another-bucket")
    absent = run_here("check", owner.site)
    assert absent.code == 1
    assert "files.store: An object cannot be written: s3://another-bucket" in absent.err
    assert "does not exist" in absent.err
    owner.use_bucket()
    owner.server.kill()
    away = run_here("check", owner.site)
    assert away.code == 1
    assert "does not answer" in away.err


def _host(owner: Owner) -> str:
    return f"127.0.0.1:{owner.server.port}"
