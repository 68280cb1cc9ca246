"""The pictures of the pages are small and are all shown; the running product looks like them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import imagesize  # type: ignore[import-untyped]
import pytest

from tests.docs.pictures import HEIGHT, NAMES, PICTURES, WIDTH
from tests.docs.snippets import PAGES, ROOT, pictures

LARGEST = 150_000
FILES = {f"{name}.png" for name in NAMES}


def test_each_picture_is_small_and_shown_by_a_page() -> None:
    kept = {path.name: path for path in PICTURES.iterdir()}
    assert kept.keys() == FILES
    assert {name for name, path in kept.items() if path.stat().st_size > LARGEST} == set()
    assert {imagesize.get(path) for path in kept.values()} == {(WIDTH, HEIGHT)}
    assert {path for page in PAGES for path in pictures(page)} == set(kept.values())


@pytest.mark.servers
def test_the_script_takes_all_of_them_from_the_running_demo(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.docs.pictures", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert {imagesize.get(path) for path in tmp_path.iterdir()} == {(WIDTH, HEIGHT)}
