"""The threat model can be checked: each row is whole, and each test that it names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import NamedTuple

from tests.docs.snippets import ROOT

NAMES = ("threat-model.md", "threats-access.md", "transport-threats.md")
PAGES = [ROOT / "docs/contribute" / name for name in NAMES]
HEAD = ["Threat", "What stops it", "Shown by", "Yours"]
NO_TEST = {"Not stopped.", "Nothing in the suite shows this."}
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::((?:Test\w+::)?test_\w+)`")


class Line(NamedTuple):
    """A row of a table, and the number of its line, all pages counted as one."""

    number: int
    cells: list[str]


def threats() -> dict[str, list[Line]]:
    """The rows of each table of threats, by the heading above it."""
    found: dict[str, list[Line]] = {}
    heading, is_threats = "", False
    lines = (line for page in PAGES for line in page.read_text("utf-8").splitlines())
    for number, line in enumerate(lines, start=1):
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        if not line.startswith("|"):
            is_threats = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells == HEAD:
            is_threats = True
        elif is_threats and not set(line) <= set("| -"):
            found.setdefault(heading, []).append(Line(number, cells))
    return found


@cache
def names_in(file: str) -> frozenset[str]:
    """What pytest collects of a file, as it calls it: a test in a class after its class."""
    found: set[str] = set()
    for node in ast.parse((ROOT / file).read_text("utf-8")).body:
        within = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {
            f"{prefix}{inner.name}"
            for inner in within
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
        }
    return frozenset(found)


def test_every_kind_of_threat_has_rows_and_every_row_all_its_cells() -> None:
    tables = threats()
    assert sorted(tables) == [
        "Denial of service",
        "Elevation of privilege",
        "Information disclosure",
        "Repudiation",
        "Spoofing",
        "Tampering",
    ]
    rows = [row for table in tables.values() for row in table]
    assert len(rows) >= 60
    assert [row for row in rows if len(row.cells) != len(HEAD) or not all(row.cells)] == []
    assert len({row.cells[0] for row in rows}) == len(rows)


def test_every_row_names_tests_that_are_there_or_says_that_there_is_none() -> None:
    wrong: list[tuple[int, str]] = []
    for table in threats().values():
        for number, (_, _, shown, _) in table:
            named = _NAMED.findall(shown)
            if _NAMED.sub("", shown).strip(", ") and shown not in NO_TEST:
                wrong.append((number, shown))
            for file, name in named:
                if not (ROOT / file).is_file() or name not in names_in(file):
                    wrong.append((number, f"{file}::{name}"))
    assert wrong == []
