"""Takes a page from the rows of a statement.

A page has a maximum number of rows and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from aitp_desk.store.base import Row, RowPage


def take_page(rows: Iterable[Row], limit: int, most_bytes: int) -> RowPage:
    """Take the first rows, and read none after the first that does not fit.

    Parameters:
        limit: maximum number of rows.
        most_bytes: maximum total size of the rows; there is at least one row in any case.
    """
    page: list[Row] = []
    room = most_bytes
    for row in rows:
        room -= size_of(row)
        if len(page) == limit or (page and room < 0):
            return RowPage(page, has_more=True)
        page.append(row)
    return RowPage(page, has_more=False)


def size_of(row: Row) -> int:
    """Return the size in bytes of a row's texts and blobs, texts in UTF-8."""
    size = 0
    for value in row:
        kind = type(value)
        if kind is str:
            size += len(value) if value.isascii() else len(value.encode())
        elif kind is bytes:
            size += len(value)
    return size
