"""An export is written whole or not at all, and over nothing of others."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.web.export.folder import LIST, ExportError
from aitp_desk.web.export.site import export_site
from tests.support.desk.server import SHOP, SITE
from tests.support.sites.export import export, files, settings, site


def test_an_export_takes_the_place_of_the_last_one_whole(tmp_path: Path) -> None:
    folder, out = (
        site(tmp_path / "site", old="# Old\n\nOld.", same="# Same\n\nSame."),
        tmp_path / "out",
    )
    export(out, folder=folder)
    assert (out / "old.md").is_file()
    (folder / "content" / "old.md").rename(folder / "content" / "new.md")
    export(out, folder=folder)
    assert not (out / "old.md").exists()
    assert not (out / "old").exists()
    assert (out / "new.md").is_file()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "site"]


@pytest.mark.parametrize(
    "put",
    [
        lambda out: (out / "CNAME").write_text("books.example"),
        lambda out: (out / "about.md").write_text("edited by hand"),
        lambda out: (out / "link").symlink_to("about.md"),
        lambda out: (out / "linked").symlink_to(out / "policies"),
        lambda out: shutil.copytree(SITE, out / "theirs"),
        lambda out: (out / LIST).unlink(),
    ],
    ids=["added", "changed", "link", "link to a folder", "folder", "list gone"],
)
def test_what_no_export_wrote_is_in_the_way_and_stays(tmp_path: Path, put: Any) -> None:
    out = tmp_path / "out"
    export(out)
    put(out)
    before = files(out)
    with pytest.raises(ExportError, match="Move them"):
        export(out)
    assert files(out) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_of_the_owner_s_and_a_file_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"meow")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExportError, match=r"cat\.jpg"):
        export(tmp_path / "photos")
    with pytest.raises(ExportError, match="is a file"):
        export(tmp_path / "file")
    assert export(tmp_path / "empty").pages == 4
    assert files(tmp_path / "photos").keys() == {"cat.jpg"}


@pytest.mark.parametrize("place", ["site/content", "site/content/out", "site", ".", "data/out"])
def test_an_export_never_lies_within_its_content_or_data_nor_these_in_it(
    tmp_path: Path, place: str
) -> None:
    folder = site(tmp_path / "site", page="# Page\n\nHello.")
    (tmp_path / "data").mkdir()
    before = files(tmp_path)
    with pytest.raises(ExportError, match="overlap; export to a separate folder"):
        export_site(settings(folder, tmp_path / "data"), tmp_path / place)
    (tmp_path / "by-a-link").symlink_to(tmp_path / "site" / "content")
    with pytest.raises(ExportError, match="overlap; export to a separate folder"):
        export_site(settings(folder, tmp_path / "data"), tmp_path / "by-a-link" / "out")
    (tmp_path / "by-a-link").unlink()
    assert files(tmp_path) == before


def test_an_export_that_fails_leaves_the_last_one_as_it_was(tmp_path: Path) -> None:
    folder, out = site(tmp_path / "site", page="# Page\n\nHello."), tmp_path / "out"
    export(out, folder=folder)
    before = files(out)
    (folder / "content" / "page.md").unlink()
    with pytest.raises(ExportError, match="no content"):
        export(out, folder=folder)
    (folder / "content" / "page.md").write_text("# Page\n\nHello again.")

    def interrupt(_pages: Sequence[Document]) -> NoReturn:
        raise KeyboardInterrupt

    config = settings(folder, tmp_path / "data")
    with pytest.raises(KeyboardInterrupt):
        export_site(config, out, progress=interrupt)
    assert files(out) == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "site"]


def test_what_a_killed_export_has_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(out)
    before = files(out)
    # killed while it grew
    (tmp_path / ".out.export").mkdir()
    (tmp_path / ".out.export" / LIST).touch()
    (tmp_path / ".out.export" / "half.html").write_text("half")
    # killed between the two moves
    out.rename(tmp_path / ".out.export-replaced")
    export(out)
    assert files(out) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_hidden_folder_of_another_program_is_not_cleared(tmp_path: Path) -> None:
    for name in (".out.export", ".out.export-replaced"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "diary.txt").write_text("mine")
        with pytest.raises(ExportError, match="no export wrote"):
            export(tmp_path / "out")
        assert (tmp_path / name / "diary.txt").read_text() == "mine"
        shutil.rmtree(tmp_path / name)


def test_two_exports_to_one_place_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / ".out.export").mkdir()
    handle = os.open(tmp_path / ".out.export", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(ExportError, match="Another export is running"):
            export(tmp_path / "out")
    finally:
        os.close(handle)
    assert export(tmp_path / "out").pages == 4


def test_a_place_that_cannot_be_replaced_is_reported_before_anything_is_written() -> None:
    with pytest.raises(ExportError, match="is a mount point"):
        export(Path("/proc"))


@pytest.mark.slow
def test_an_export_that_is_killed_leaves_the_last_one_and_the_next_goes_through(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    export(out)
    before = files(out)
    program = (
        "import os, pathlib, signal, sys\n"
        "from aitp_desk.config import load_config\n"
        "from aitp_desk.web.export.site import export_site\n"
        "folder, out = map(pathlib.Path, sys.argv[1:])\n"
        "config = load_config(folder, (), port=0, data=out.with_name('data'))\n"
        "die = lambda pages: os.kill(os.getpid(), signal.SIGKILL)\n"
        "export_site(config, out, progress=die)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, SHOP, out], timeout=30, check=False)
    assert done.returncode == -signal.SIGKILL
    assert files(out) == before
    assert (tmp_path / ".out.export" / "404.html").is_file()
    export(out)
    assert files(out) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
