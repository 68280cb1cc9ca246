"""Words of a site in errors and prompts hide nothing."""

from __future__ import annotations

import pytest

from aitp_desk.visitor.clients.responses import MAX_QUOTED, shorten

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")


@pytest.mark.parametrize("hidden", [TAGS, "\u2060", "\u00ad", "\u061c", "\u202e", "\x9b", "\ufeff"])
def test_what_is_quoted_has_no_invisible_characters(hidden: str) -> None:
    assert shorten(f"Pay{hidden} me") == "Pay me"


def test_what_is_quoted_is_one_line() -> None:
    assert shorten(" Pay\r\nme\u2028now\x85\tplease ") == "Pay me now please"
    assert shorten("a" * 5000) == "a" * MAX_QUOTED + "…"
