"""The table of docs/run/monitoring.md, as data."""

from __future__ import annotations

import re

from tests.docs.snippets import ROOT

PAGE = ROOT / "docs/run/monitoring.md"

Described = tuple[str, frozenset[str]]
"""The type of a metric, and the names of its labels."""


def described() -> dict[str, Described]:
    """Every metric that the page lists."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*)\|", PAGE.read_text("utf-8"), re.MULTILINE)
    found = {name: (kind, frozenset(re.findall(r"\w+", labels))) for name, kind, labels in rows}
    assert len(found) == len(rows), "a metric stands twice"
    return found
