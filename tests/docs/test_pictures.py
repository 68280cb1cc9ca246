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
SHRUNK = (160, 100)
"""Smaller than any letter: another rendering of the fonts makes little difference."""
TOLERANCE = 0.02
"""The mean difference of the colours, from 0 to 1; two of the pictures differ by 0.07 or more."""


def measure_difference(one: Path, other: Path) -> float:
    """The mean difference of two pictures, from 0 for the same to 1 for black and white."""
    from PIL import Image, ImageChops, ImageStat

    with Image.open(one) as first, Image.open(other) as second:
        shrunk = [
            picture.convert("RGB").resize(SHRUNK, Image.Resampling.BOX)
            for picture in (first, second)
        ]
    return sum(ImageStat.Stat(ImageChops.difference(*shrunk)).mean) / 3 / 255


def test_each_picture_is_small_and_shown_by_a_page() -> None:
    kept = {path.name: path for path in PICTURES.iterdir()}
    assert kept.keys() == FILES
    assert {name for name, path in kept.items() if path.stat().st_size > LARGEST} == set()
    assert {imagesize.get(path) for path in kept.values()} == {(WIDTH, HEIGHT)}
    assert {path for page in PAGES for path in pictures(page)} == set(kept.values())


@pytest.mark.servers
def test_the_running_demo_looks_like_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.docs.pictures", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert {imagesize.get(path) for path in tmp_path.iterdir()} == {(WIDTH, HEIGHT)}
    differences = {name: measure_difference(tmp_path / name, PICTURES / name) for name in FILES}
    stale = {name: found for name, found in differences.items() if found > TOLERANCE}
    assert stale == {}, "Take them again: python -m tests.docs.pictures"
