"""What a desk keeps: backed up, put back and checked, as its owner does it at a terminal."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.auth.keys.master_key import KEY_FILE
from aitp_desk.store.engine import sqlite_backup as sqlite_copying
from aitp_desk.store.engine.lock import lock_data_folder
from aitp_desk.store.engine.migration import SCHEMA, load_migrations, migrate
from tests.support.clients.threads import THREADS, talking
from tests.support.desk.command import run, run_here
from tests.support.desk.terminal import command

COMMANDS = import_module("aitp_desk.cli.arguments")
SAID = ("Do you ship to Canada?", "And to Mexico?")


class Kept:
    """A data folder with a bit of everything, and a backup of it from while its desk served."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.backup = folder / "backup.db"
        self.told: list[str] = []
        self.key = ""
        self.thread: Any = None
        self.file_id = ""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    found = Kept(tmp_path_factory.mktemp("store"))

    async def fill() -> None:
        async with talking(found.data.parent) as anybody:
            owner = await anybody.with_key("threads")
            assert owner.key is not None
            found.key = owner.key
            opened = await owner.open(SAID[0], wait=10)
            await owner.post(opened.id, SAID[1], wait=10)
            said = await owner.post(opened.id, "Forget that.", wait=10)
            address = f"{THREADS}/{opened.id}/messages/{said.id}"
            assert (await owner.send("DELETE", address)).status == 200
            await anybody.open("An empty one follows.", wait=10)
            await anybody.open()
            found.file_id = (await owner.upload(data=b"What was uploaded.")).id
            await anybody.send(
                "POST",
                "/agent/converse",
                {
                    "ahp": "0.1",
                    "capability": "content_search",
                    "query": "What is your return policy?",
                },
            )
            await anybody.desk.store.settled()
            made = ("--data", found.data, "--name", "noted", "--scope", "threads")
            assert (await run("token", "create", *made))[0] == 0
            code, found.told, wrong = await run(
                "store", "backup", "--data", found.data, found.backup
            )
            assert (code, wrong) == (0, [])
            found.thread = (await owner.send("GET", f"{THREADS}/{opened.id}/messages")).ok

    asyncio.run(fill())
    return found


@pytest.fixture
def data(kept: Kept, tmp_path: Path) -> Path:
    """A data folder with the master key alone."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.copy(kept.data / KEY_FILE, folder)
    return folder


@pytest.fixture
def copy(kept: Kept, data: Path) -> Path:
    """The data folder of a desk that does not serve, to be changed by hand."""
    shutil.copy(kept.backup, data / "desk.db")
    return data


def change(data: Path, *statements: str) -> None:
    """What a caller does to a database past the desk."""
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        for statement in statements:
            assert database.execute(statement).rowcount, f"changes nothing: {statement}"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.sqlite
async def test_what_a_serving_desk_kept_is_there_again_after_a_restore(
    kept: Kept, data: Path
) -> None:
    code, told, wrong = await run("store", "restore", "--data", data, kept.backup)
    assert (code, wrong) == (0, [])
    assert told[0].startswith("Restored ")
    assert "repeat the revocations and erasures" in told[1]
    assert names(data) == {"desk.db", KEY_FILE, "serving.lock"}
    assert (data / "desk.db").stat().st_mode & 0o077 == 0
    async with talking(data.parent) as anybody:
        headers = [("Authorization", f"Bearer {kept.key}")]
        (first, *_) = kept.thread["data"]
        address = f"{THREADS}/{first['thread_id']}/messages"
        assert (await anybody.send("GET", address, headers=headers)).ok == kept.thread
        file = f"/v1/files/{kept.file_id}/content"
        async with anybody.http.get(file, headers=headers) as response:
            assert await response.read() == b"What was uploaded."
    _, lines, _ = await run("audit", "export", "--data", data)
    noted = [json.loads(line)["action"] for line in lines]
    assert noted == ["key.made", "store.restored"]


def test_a_backup_is_one_file_for_its_owner_alone_without_the_master_key(kept: Kept) -> None:
    assert kept.backup.stat().st_mode & 0o777 == 0o600
    assert names(kept.backup.parent) == {"data", "backup.db"}
    key = (kept.data / KEY_FILE).read_text().strip()
    held = kept.backup.read_bytes()
    assert key.encode() not in held
    assert bytes.fromhex(key) not in held
    assert kept.told[0].endswith(f" to {kept.backup}; the copy is complete.")
    fingerprint = command("keys", "check", "--data", kept.data)[0].split()[2].strip(",")
    assert kept.told[1].startswith(f"The master key is not in it. Restoring needs {fingerprint}:")


def test_a_backup_is_of_one_moment_while_others_write(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_copying, "PAGES_AT_ONCE", 1)
    change(copy, "CREATE TABLE a (n INTEGER)", "CREATE TABLE b (n INTEGER)")
    stop, begun = threading.Event(), threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(copy / "desk.db", isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")
            n = 0
            while not stop.is_set():
                n += 1
                database.execute("BEGIN")
                database.execute("INSERT INTO a VALUES (?)", (n,))
                database.execute("INSERT INTO b VALUES (?)", (n,))
                database.execute("COMMIT")
                begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        begun.wait()
        command("store", "backup", "--data", copy, tmp_path / "backup.db")
    finally:
        stop.set()
        writer.join()
    with closing(sqlite3.connect(tmp_path / "backup.db")) as database:
        assert database.execute("SELECT n FROM a EXCEPT SELECT n FROM b").fetchall() == []
        (written,) = database.execute("SELECT count(*) FROM a").fetchone()
    with closing(sqlite3.connect(copy / "desk.db")) as database:
        assert 0 < written < database.execute("SELECT count(*) FROM a").fetchone()[0]


@pytest.mark.sqlite
def test_a_backup_overwrites_nothing(kept: Kept, tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    there.write_text("precious")
    (line,) = command("store", "backup", "--data", kept.data, there, exit_code=1)
    assert "exists already" in line
    assert there.read_text() == "precious"
    nowhere = tmp_path / "missing" / "backup.db"
    (line,) = command("store", "backup", "--data", kept.data, nowhere, exit_code=1)
    assert "No such file or directory" in line


def test_a_copy_that_is_interrupted_leaves_nothing(kept: Kept, tmp_path: Path) -> None:
    def interrupt(_copied: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sqlite_copying.copy_database(kept.backup, tmp_path / "copy.db", told=interrupt)
    assert names(tmp_path) == set()


@pytest.mark.sqlite
def test_a_terminal_shows_progress(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(COMMANDS, "_PROGRESS_SECONDS", 0)
    monkeypatch.setattr(sqlite_copying, "PAGES_AT_ONCE", 10)
    backup = ("store", "backup", "--data", kept.data)
    assert "copied" not in run_here(*backup, tmp_path / "unwatched.db").err
    monkeypatch.setattr(COMMANDS, "_is_watched", lambda: True)
    done = run_here(*backup, tmp_path / "watched.db")
    assert re.match(r"\rcopied 10 of [0-9]+ pages\rcopied 20 of", done.err)
    assert done.err.endswith(" pages\n")
    assert run_here("store", "check", "--data", kept.data).err == "\rchecked 8 messages\n"


def test_no_backup_is_made_of_a_damaged_database(copy: Path, tmp_path: Path) -> None:
    damage(copy / "desk.db")
    lines = command("store", "backup", "--data", copy, tmp_path / "backup.db", exit_code=1)
    assert lines[-1] == "Nothing was backed up."
    assert names(tmp_path) == {"data"}


def damage(path: Path, name: str = "messages_in_order") -> None:
    """Overwrite the first page of a table or index."""
    root = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    with closing(sqlite3.connect(path)) as database:
        (page,) = database.execute(root, (name,)).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def restoring(case: str, kept: Kept, data: Path) -> Iterator[Path]:
    """Put in the way of a restore what a case is about; yields what is to be restored."""
    backup = data.parent / "backup.db"
    shutil.copy(kept.backup, backup)
    match case:
        case "another key":
            (data / KEY_FILE).write_text("1a" * 32)
        case "no key":
            (data / KEY_FILE).unlink()
        case "a database":
            (data / "desk.db").write_text("precious")
        case "a log of a database":
            (data / "desk.db-wal").write_text("precious")
        case "no database":
            backup.write_text("What is your return policy?\n" * 100)
        case "another database":
            backup.unlink()
            with closing(sqlite3.connect(backup)) as database:
                database.execute("CREATE TABLE a (b)")
        case "damage":
            damage(backup)
        case "newer":
            with closing(sqlite3.connect(backup, isolation_level=None)) as database:
                newer = len(load_migrations()) + 1
                database.execute("INSERT INTO migrations VALUES (?, 'x', 0)", (newer,))
        case _:
            assert case == "a serving desk"
    yield backup


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("another key", "does not belong to this database"),
        ("no key", "master.key is missing and AITP_DESK_MASTER_KEY is not set"),
        ("a database", "desk.db exists already. Move it away first"),
        ("a log of a database", "desk.db-wal exists already. Move it away first"),
        ("a serving desk", "Another desk is serving from"),
        ("no database", "backup.db is not the database of a desk."),
        ("another database", "backup.db is not the database of a desk."),
        ("damage", "Nothing was restored."),
        ("newer", "was written by a newer version of aitp-desk"),
    ],
)
def test_what_does_not_fit_is_not_restored(kept: Kept, data: Path, case: str, told: str) -> None:
    (backup,) = restoring(case, kept, data)
    before = names(data) | {"serving.lock"}
    if case == "a serving desk":
        with lock_data_folder(data):
            lines = command("store", "restore", "--data", data, backup, exit_code=1)
    else:
        lines = command("store", "restore", "--data", data, backup, exit_code=1)
    assert told in lines[-1]
    assert names(data) == before
    for name in before & {"desk.db", "desk.db-wal"}:
        assert (data / name).read_text() == "precious"


def test_a_backup_of_an_earlier_version_is_brought_up(tmp_path: Path) -> None:
    earlier, backup = tmp_path / "earlier", tmp_path / "backup.db"
    earlier.mkdir()
    for path in sorted(SCHEMA.glob("*.sql"))[:3]:
        shutil.copy(path, earlier)
    with closing(sqlite3.connect(backup, isolation_level=None)) as database:
        migrate(database, now=0, folder=earlier)
    command("store", "restore", "--data", tmp_path / "data", backup)
    lines = command("store", "check", "--data", tmp_path / "data")
    assert lines[0].endswith(f"schema {len(load_migrations())}")
    assert lines[-1].split() == ["data", "keys", "none", "yet"]


@pytest.mark.sqlite
def test_what_is_whole_is_reported_with_what_was_checked(kept: Kept) -> None:
    before = names(kept.data)
    database, threads, files, log, keys = command("store", "check", "--data", kept.data)
    assert database.startswith("database   complete: ")
    assert "8 messages on 2 threads, and 1 first turn of sessions: unchanged" in threads
    assert files == "files      1: unchanged"
    assert log == "audit log  1 row: unchanged"
    assert keys == "data keys  1"
    (line,) = command("store", "check", "--data", kept.data, "--json")
    assert json.loads(line) == {
        "whole": True,
        "schema": len(load_migrations()),
        "bytes": (kept.data / "desk.db").stat().st_size,
        "threads": 2,
        "messages": 8,
        "folded": 1,
        "files": 1,
        "has_objects": False,
        "audit_rows": 1,
        "data_keys": [1],
        "problems": [],
    }
    beside = {"desk.db-wal", "desk.db-shm"}  # as SQLite leaves them that only reads
    assert names(kept.data) - beside == before - beside


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            "UPDATE messages SET content = '[\"To Peru?\"]' WHERE seq = 3 AND content IS NOT NULL",
            ", message 3 (msg_…): it was changed",
        ),
        (
            "UPDATE messages SET digest = zeroblob(32) WHERE seq = 5 AND content IS NULL",
            ", message 5 (msg_…): it is not linked to the message before it",
        ),
        ("UPDATE messages SET salt = NULL WHERE rowid = 1", ": it was changed"),
        ("UPDATE messages SET attachments = '{' WHERE rowid = 1", ": it was changed"),
        (
            "DELETE FROM messages WHERE rowid = 2",
            ", message 3 (msg_…): the message before it is missing",
        ),
        ("DELETE FROM messages WHERE rowid = 6", ": its messages after 5 are missing"),
        ("DELETE FROM messages WHERE rowid > 6", ": all of its messages are missing"),
        ("UPDATE threads SET last_link = zeroblob(32)", ": its last message is a different one"),
        ("UPDATE folded_turns SET turn = x'00'", ": its turn cannot be read"),
    ],
)
def test_a_thread_that_is_not_as_it_was_written_is_named_without_its_id(
    copy: Path, done: str, told: str
) -> None:
    change(copy, done)
    lines = command("store", "check", "--data", copy, exit_code=1)
    assert all(line.startswith("threads: thread:") for line in lines)
    assert "thread_" not in "".join(lines)
    assert re.sub("msg_[a-z0-9]+", "msg_…", lines[0]).endswith(told)
    found = json.loads(command("store", "check", "--data", copy, "--json", exit_code=1)[0])
    assert (found["whole"], found["problems"]) == (False, lines)


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            ["DROP TRIGGER audit_rows_stay", "UPDATE audit SET outcome = 'begun'"],
            "audit log: row 1: it or the row before it was changed",
        ),
        (["DELETE FROM threads WHERE last_seq > 0"], "database: a row of "),
        (["DELETE FROM migrations WHERE number > 5"], "database: its schema is 5, and that of"),
        (["UPDATE data_keys SET wrapped = zeroblob(60)"], "keys: Data key 1 in the database was"),
        (["UPDATE messages SET content = CAST(x'ff' AS TEXT)"], "database: The database failed:"),
    ],
)
def test_other_errors_are_reported(copy: Path, done: list[str], told: str) -> None:
    change(copy, *done)
    lines = command("store", "check", "--data", copy, exit_code=1)
    assert lines[0].startswith(told)


def test_a_damaged_file_and_a_foreign_key_are_told(copy: Path) -> None:
    (copy / KEY_FILE).write_text("1a" * 32)
    (line,) = command("store", "check", "--data", copy, exit_code=1)
    assert line.startswith("keys: The master key of ")
    for name in ("messages_in_order", "migrations"):
        damage(copy / "desk.db", name)
        lines = command("store", "check", "--data", copy, exit_code=1)
        assert lines[0].startswith("database: ")
        found = json.loads(command("store", "check", "--data", copy, "--json", exit_code=1)[0])
        assert (found["whole"], found["problems"]) == (False, lines)
