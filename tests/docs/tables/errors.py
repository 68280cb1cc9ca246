"""The tables of errors in docs/protocols/errors.md, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from tests.docs.snippets import ROOT

PAGE = ROOT / "docs/protocols/errors.md"
BEGIN = "<!-- errors: written by `python -m tests.docs.error_catalogue` -->"
END = "<!-- end of errors -->"


class Row(msgspec.Struct, frozen=True):
    """What the page promises of one kind of error."""

    kind: str
    meaning: str
    cause: str
    cure: str
    status: int
    hac_retryable: bool
    threads_type: str
    ahp_code: str
    ahp_detail: str | None
    page: str


@cache
def promised_errors() -> dict[str, Row]:
    """The rows of the page's tables of kinds, by kind."""
    names = {cells[0]: cells for cells in _rows("The name of each kind")}
    rows = {}
    for kind, status, meaning, cause, cure, retry in _rows("Causes and cures"):
        assert kind not in rows, f"{kind} stands twice"
        _, threads_type, ahp_code, ahp_detail, *_, page = names.pop(kind)
        rows[kind] = Row(
            kind=kind,
            meaning=meaning,
            cause=cause,
            cure=cure,
            status=int(status),
            hac_retryable=retry == "yes",
            threads_type=threads_type,
            ahp_code=ahp_code,
            ahp_detail=ahp_detail or None,
            page=page,
        )
    assert names == {}
    return rows


@cache
def promised_codes() -> frozenset[str]:
    """Every code that the page names, in any protocol's form."""
    named = {*promised_errors(), *(kind.upper() for kind in promised_errors())}
    for title, last in (
        ("The name of each kind", -1),
        ("Further names", 1),
        ("Failures of calls and runs", 1),
    ):
        for cells in _rows(title):
            named.update(word for cell in cells[:last] for word in cell.replace("`", " ").split())
    page = PAGE.read_text(encoding="utf-8")
    named.update(re.findall(r"-32\d{3}|\b402\b|(?<=`)[A-Z_]+(?=`)", page))
    return frozenset(named)


def _rows(title: str) -> Iterator[list[str]]:
    _, _, table = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    table, _, _ = table.partition("\n## ")
    lines = [line for line in table.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield [cell.strip("`") if cell.count("`") == 2 else cell for cell in cells]
