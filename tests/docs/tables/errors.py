"""The table of errors in docs/protocols/errors.md, as data."""

from __future__ import annotations

import msgspec

from tests.docs.snippets import ROOT

PAGE = ROOT / "docs/protocols/errors.md"


class Row(msgspec.Struct, frozen=True):
    """What the page promises of one kind of error."""

    kind: str
    meaning: str
    status: int
    threads_type: str
    ahp_code: str
    ahp_detail: str | None
    hac_retryable: bool
    page: str


def promised_errors() -> dict[str, Row]:
    """The rows of the page's first table, by kind."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition("\n## The table\n")
    table, _, _ = table.partition("\n## ")
    rows = {}
    for line in table.strip().splitlines()[2:]:
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        kind, meaning, status, threads_type, ahp_code, ahp_detail, retryable, page = cells
        assert kind not in rows, f"{kind} stands twice"
        rows[kind] = Row(
            kind,
            meaning,
            int(status),
            threads_type,
            ahp_code,
            ahp_detail or None,
            retryable == "yes",
            page,
        )
    return rows
