"""A small site, and a model's replies about it in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tests.support.desk.command import Done, run_here

Row = dict[str, Any]

PAGES = {
    "returns.md": """\
# Returns

## Return window

Goods that were not used come back within 30 days of delivery. Bring the receipt.
After that we offer a repair:

- a new zip costs $12
- a new buckle costs $4

## Short

Ask us.
""",
    "leave.md": """\
# Leave

## Bereavement

Employees whose spouse, child or parent dies receive five working days with full pay. \
Tell your manager; no form is needed.
""",
}


def write_site(folder: Path, pages: Mapping[str, str] = PAGES) -> Path:
    """A site's folder with these pages."""
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def requests_of(site: Path, file: Path, *options: object) -> tuple[Row, list[Row]]:
    """The first line that `aitp-desk enrich --requests` writes, and the others by their pages."""
    done = run_here("enrich", site, "--requests", file, *options)
    assert done.code == 0, done.err
    head, *rows = map(msgspec.json.decode, file.read_bytes().splitlines())
    return head, rows


def give_results(site: Path, file: Path, *replies: Row) -> Done:
    """Hand a model's replies to `aitp-desk enrich --results`."""
    file.write_bytes(b"\n".join(map(msgspec.json.encode, replies)))
    return run_here("enrich", site, "--results", file)


def reply(row: Row, *questions: tuple[str, str], summary: str = "") -> Row:
    """What a model writes about the passage of a request."""
    asked = [{"ask": ask, "quote": quote} for ask, quote in questions]
    return {"id": row["id"], "summary": summary, "questions": asked}


def lines_of(site: Path) -> list[Row]:
    """The lines of the site's enriched.jsonl."""
    return [
        msgspec.json.decode(line) for line in (site / "enriched.jsonl").read_bytes().splitlines()
    ]
