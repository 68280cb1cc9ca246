"""The licence of every dependency is known, permitted and listed."""

from __future__ import annotations

import csv

from tests.docs.licenses import PERMITTED, TABLE, list_licenses, terms_of

WRITE = "Run: python -m tests.docs.licenses"


def test_no_dependency_has_an_unknown_or_forbidden_licence() -> None:
    refused = {
        name: expression
        for name, (expression, _) in list_licenses().items()
        if not expression or not terms_of(expression) <= PERMITTED
    }
    assert refused == {}


def test_every_dependency_is_in_the_table_with_its_licence() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = {row["package"]: (row["license"], row["needed by"]) for row in csv.DictReader(file)}
    # other versions of Python need a few others
    wrong = {name: row for name, row in list_licenses().items() if rows.get(name) != row}
    assert wrong == {}, WRITE
