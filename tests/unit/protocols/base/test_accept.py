"""The Accept header: what is read of a long one, and what is kept of many."""

from __future__ import annotations

import tracemalloc

from aitp_desk.protocols.base.accept import MARKDOWN_TYPE, parse_ranges, wants_markdown

MOST_KEPT = 8 * 2**20


def test_of_a_long_header_the_beginning_counts() -> None:
    beginning = f"{MARKDOWN_TYPE}, text/html;q=0.5"
    long = f"{beginning}, {'a/b;c=d, ' * 7000}{MARKDOWN_TYPE};q=0"
    assert parse_ranges(long)[:2] == parse_ranges(beginning)
    assert wants_markdown(long)


def test_what_is_kept_of_long_headers_is_bounded() -> None:
    tracemalloc.start()
    try:
        for number in range(300):
            parse_ranges(f"a/{number}, {'a/b;c=d, ' * 900}")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        parse_ranges("a/b")
    assert kept < MOST_KEPT
