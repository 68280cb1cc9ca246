"""Files that documentation and docstrings name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("aitp_desk", "capabilities", "docs", "examples", "tests")
NAMED = re.compile(r"(?<![\w./])`([a-z_]+(?:/[a-z_0-9]+)*\.(?:py|sql))`")
"""A file of the project between backticks: `http/router.py`."""


def test_every_file_that_is_named_exists() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    known = {f"/{path.relative_to(ROOT).as_posix()}" for path in files}
    pages = [path for path in files if path.suffix in (".md", ".py")]
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in [ROOT / "README.md", *pages]
        for name in _named(page)
        if not any(path.endswith(f"/{name}") for path in known)
    ]
    assert missing == []


def _named(page: Path) -> Iterator[str]:
    yield from NAMED.findall(page.read_text("utf-8", errors="replace"))
