"""A file's digest is taken once, and again when the file may be another."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from aitp_desk.knowledge.sources import file_digests as measures
from aitp_desk.knowledge.sources.file_digests import FILE, FileDigests

OLD, NEW = b"a manual of 26 characters.", b"a manual of 26 Characters."


@pytest.fixture
def manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose digest was taken, and kept, at an earlier start."""
    monkeypatch.setattr(measures, "_SETTLED", -(10**12))
    file = tmp_path / "manual.zip"
    file.write_bytes(OLD)
    assert taken(file) == hashlib.sha256(OLD).hexdigest()
    return file


def taken(file: Path) -> str:
    """Its digest at a start, which keeps it."""
    measured = FileDigests(file.parent)
    digest = measured.sha256(file)
    measured.save()
    return digest


def test_the_next_start_reads_no_file_that_has_not_changed(manual: Path) -> None:
    kept = manual.parent / FILE
    other = hashlib.sha256(b"as it was kept").hexdigest()
    kept.write_text(kept.read_text().replace(taken(manual), other))
    assert taken(manual) == other


def test_a_file_that_has_changed_and_kept_its_size_and_time_is_read_again(manual: Path) -> None:
    was = manual.stat()
    manual.write_bytes(NEW)
    os.utime(manual, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert manual.stat().st_size == was.st_size
    assert taken(manual) == hashlib.sha256(NEW).hexdigest()


def test_another_file_in_its_place_with_its_size_and_time_is_read(manual: Path) -> None:
    was = manual.stat()
    other = manual.with_name("other")
    other.write_bytes(NEW)
    os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
    other.replace(manual)
    assert taken(manual) == hashlib.sha256(NEW).hexdigest()


def test_a_file_that_changed_this_moment_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "manual.zip"
    file.write_bytes(OLD)
    assert taken(file) == hashlib.sha256(OLD).hexdigest()
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("kept", ["", "[]", '{"manual.zip": 3}', "no JSON"])
def test_what_cannot_be_read_of_earlier_starts_is_measured_again(manual: Path, kept: str) -> None:
    (manual.parent / FILE).write_text(kept)
    assert taken(manual) == hashlib.sha256(OLD).hexdigest()


def test_files_that_have_gone_are_forgotten(manual: Path) -> None:
    other = manual.with_name("other.zip")
    other.write_bytes(NEW)
    manual.unlink()
    assert taken(other) == hashlib.sha256(NEW).hexdigest()
    assert str(manual) not in (manual.parent / FILE).read_text()
    with pytest.raises(FileNotFoundError):
        taken(manual)
