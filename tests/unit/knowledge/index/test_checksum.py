"""An index file that is not as it was made is seen to be so, and reading it says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.knowledge.index.checksum import is_intact, write_checksum
from aitp_desk.knowledge.index.rows import IndexRows
from aitp_desk.model.errors import Unavailable

_ONE = "SELECT value FROM kept WHERE number = ?"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sealed file of 200 rows."""
    file = tmp_path / "kept.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, value TEXT)")
        rows = [(number, f"row {number} " * 20) for number in range(200)]
        connection.executemany("INSERT INTO kept VALUES (?, ?)", rows)
    write_checksum(file)
    return file


def test_a_sealed_file_is_whole_and_a_database_still(file: Path) -> None:
    assert is_intact(file)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_changed_bit_goes_unseen(file: Path, share: float, bit: int) -> None:
    whole = file.read_bytes()
    at = int(share * len(whole))
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    assert not is_intact(file)
    file.write_bytes(whole)
    assert is_intact(file)


def test_what_is_cut_off_lengthened_empty_or_not_there_is_not_whole(file: Path) -> None:
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:4096], whole[:40], whole + b"\0", b""):
        file.write_bytes(damaged)
        assert not is_intact(file)
    file.unlink()
    assert not is_intact(file)
    assert not is_intact(file.parent)


def test_rows_that_cannot_be_read_or_understood_make_the_file_one_to_be_made_again(
    file: Path,
) -> None:
    for number, understand in ((999, str), (7, int)):
        with closing(sqlite3.connect(file)) as connection:
            rows = IndexRows(file, connection)
            assert rows.one(_ONE, 7, str).startswith("row 7 ")
            assert not rows.is_stale()
            with pytest.raises(Unavailable) as raised:
                rows.one(_ONE, number, understand)
            assert raised.value.retry_after
            assert rows.is_stale()


def test_a_broken_page_is_reported_by_all_rows_too(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"\xff" * 4096 * 4)
    with closing(sqlite3.connect(file)) as connection:
        rows = IndexRows(file, connection)
        assert not rows.is_stale()
        with pytest.raises(Unavailable):
            list(rows.all("SELECT value FROM kept", (), str))
        assert rows.is_stale()


def test_a_file_that_another_has_taken_the_place_of_or_that_is_gone_is_stale(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        rows = IndexRows(file, connection)
        other = file.with_name("other")
        other.write_bytes(file.read_bytes())
        other.replace(file)
        assert rows.is_stale()
        file.unlink()
        assert rows.is_stale()
