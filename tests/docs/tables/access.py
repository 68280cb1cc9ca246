"""The tables of docs/build/access-table.md, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.docs.snippets import ROOT

PAGE = ROOT / "docs/build/access-table.md"

Cells = Mapping[str, str]
"""A row of a table: what stands in it, by the heads of its columns."""


def callers() -> dict[str, Cells]:
    """What each caller may, by their names."""
    return {row["Caller"]: row for row in _table("| Caller |")}


def losses() -> dict[str, Cells]:
    """What is left to a caller whose access has ended, by who that was and how it ended."""
    return {row["Whose access ended"]: row for row in _table("| Whose access ended |")}


def needs() -> dict[str, str]:
    """What each address needs, by method, path and, after `with`, what the body has."""
    rows = list(_table("| Address | Need |"))
    found = {row["Address"].replace("`", ""): row["Need"] for row in rows}
    assert len(found) == len(rows), "an address stands twice"
    return found


def _table(head: str) -> Iterator[Cells]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (begin,) = (number for number, line in enumerate(lines) if line.startswith(head))
    names = _cells(lines[begin])
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            return
        yield dict(zip(names, _cells(line), strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
