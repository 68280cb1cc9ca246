"""A file that is written again is there whole, or as it was; nothing else is left of it."""

import os
from pathlib import Path

import pytest

from aitp_desk.knowledge.index.atomic_write import replace_file


def test_what_was_written_takes_the_place_and_its_owner_alone_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("before")
    with replace_file(file) as new:
        new.write_text("now")
        assert file.read_text() == "before"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("now", 0o600)
    assert list(tmp_path.iterdir()) == [file]


def test_it_is_on_the_disk_before_it_takes_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kept"
    flushed: list[tuple[bytes, bool]] = []

    def flush(opened: int) -> None:
        flushed.append((os.pread(opened, 10, 0), file.exists()))

    monkeypatch.setattr(os, "fsync", flush)
    with replace_file(file) as new:
        new.write_text("now")
    assert flushed == [(b"now", False)]


def test_what_cannot_be_written_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("before")

    def write() -> None:
        with replace_file(file) as new:
            new.write_text("as much as there was room for")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_process_left_that_was_ended_is_removed_and_nobody_else_s(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    left, other = tmp_path / "kept.1.new", tmp_path / "another.1.new"
    for one in (left, other):
        one.write_text("half")
    with replace_file(file) as new:
        new.write_text("now")
    assert sorted(tmp_path.iterdir()) == [other, file]
