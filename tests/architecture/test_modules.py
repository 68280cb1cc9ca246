"""A module is small and says what it is for."""

import re
from pathlib import Path

from tests.architecture.sources import ROOT, sources

PACKAGE = ROOT / "aitp_desk"
MODULES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "capabilities").rglob("*.py")])
LARGEST = 450
NINE_OF_TEN = 350


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_longer_than_450_lines() -> None:
    assert {name(path): lines(path) for path in MODULES if lines(path) > LARGEST} == {}


def test_nine_files_of_ten_have_at_most_350_lines() -> None:
    sizes = sorted(size for size in map(lines, MODULES) if size > 5)
    assert sizes[int(len(sizes) * 0.9)] <= NINE_OF_TEN


def test_every_module_says_what_it_is_for() -> None:
    assert [source.path for source in sources() if not source.docstring] == []


def test_no_second_generation_runs_next_to_the_first() -> None:
    assert [
        name(path) for path in MODULES if re.search(r"_v\d|compat|legacy|_old|_new", path.stem)
    ] == []
