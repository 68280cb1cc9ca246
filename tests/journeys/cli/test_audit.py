"""The audit log, as its owner meets it at a terminal."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aitp_desk.auth.keys.master_key import open_master_key
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.desk.terminal import command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of a desk, in which a key was made and revoked."""
    folder = tmp_path / "data"
    open_master_key(folder)

    async def begin() -> None:
        async with SqliteStore.open(folder / "desk.db"):
            pass

    asyncio.run(begin())
    command("token", "create", "--data", folder, "--name", "bot", "--scope", "threads")
    command("token", "revoke", "--data", folder, "bot")
    return folder


def test_what_the_command_line_did_to_keys_is_written_out(data: Path, tmp_path: Path) -> None:
    made, revoked = map(json.loads, command("audit", "export", "--data", data))
    assert (made["n"], made["action"]) == (1, "key.made")
    assert (revoked["n"], revoked["action"]) == (2, "key.revoked")
    assert made["object"] == revoked["object"]
    assert made["principal"].startswith("cli:")

    out = tmp_path / "audit.jsonl"
    out.write_text("What was there.\n" * 99)
    out.chmod(0o644)
    assert not command("audit", "export", "--data", data, "--of", made["object"], "--out", out)
    assert len(out.read_text().splitlines()) == 2
    assert out.stat().st_mode & 0o077 == 0
    assert not command("audit", "export", "--data", data, "--of", "thread:thread_1")
    assert not command("audit", "export", "--data", data, "--since", "2199-01-01")


def test_a_log_that_is_whole_gives_its_head(data: Path) -> None:
    whole, head = command("audit", "verify", "--data", data)
    assert whole == "The audit log is complete and unchanged: 2 rows."
    kept = head.removeprefix("head ")
    assert kept.startswith("2:")
    command("token", "create", "--data", data, "--name", "other", "--scope", "threads")
    longer, _ = command("audit", "verify", "--data", data, "--head", kept)
    assert longer == "The audit log is complete and unchanged: 3 rows."


@pytest.mark.parametrize(
    ("done", "told"),
    [
        ("DELETE FROM audit WHERE n = 1", "row 1: it is missing"),
        ("DELETE FROM audit WHERE n = 2", "row 2: it is missing: a later head is stored"),
        (
            "UPDATE audit SET object = 'key:x' WHERE n = 2",
            "row 2: it or the row before it was changed",
        ),
    ],
)
def test_the_first_broken_row_is_named(data: Path, done: str, told: str) -> None:
    head = command("audit", "verify", "--data", data)[1].removeprefix("head ")
    with closing(sqlite3.connect(data / "desk.db", isolation_level=None)) as database:
        database.execute("DROP TRIGGER audit_rows_go_from_the_start")
        database.execute("DROP TRIGGER audit_rows_stay")
        database.execute(done)
    (line,) = command("audit", "verify", "--data", data, "--head", head, exit_code=1)
    assert line.startswith(f"The audit log is broken at {told}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("export", "--of", "nothing"), "--of: must be KIND:ID"),
        (("export", "--out", "."), "Error"),
        (("verify", "--head", "1"), "--head: must be NUMBER:LINK"),
    ],
)
def test_an_error_is_reported(data: Path, arguments: tuple[str, ...], told: str) -> None:
    expected = 2 if told == "Error" else 1
    lines = command("audit", *arguments, "--data", data, exit_code=expected)
    assert lines[-1].startswith(told)
