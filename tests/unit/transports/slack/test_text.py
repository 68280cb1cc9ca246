"""Slack's message text as plain text."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.slack.text import escape_text, mentions, read_text

BOT = "U0BOT00001"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Hello", "Hello"),
        (f"<@{BOT}> where is my parcel?", "where is my parcel?"),
        (f"<@{BOT}|desk>", ""),
        ("Ask <@U061F7AUR|ada> or <@U061F7AUS>", "Ask @ada or @U061F7AUS"),
        ("in <#C024BE91L|general> and <#C024BE91M>", "in #general and #C024BE91M"),
        ("<!here> <!subteam^S1|@sales> <!date^1^{date}|today>", "@here @sales today"),
        ("<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"),
        ("<https://a.example|our shop>", "our shop (https://a.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
        ("a\0b", "ab"),
        ("<>", "<>"),
        ("<|>", ""),
        ("<@>", "@"),
    ],
)
def test_references_are_read(text: str, read: str) -> None:
    assert read_text(text, BOT) == read


@given(st.text(max_size=300))
def test_whatever_comes_is_read(text: str) -> None:
    found = read_text(text, BOT)
    assert "\0" not in found
    assert mentions(text, "") is False


@given(st.text(st.characters(exclude_characters="\0"), max_size=300))
def test_an_escaped_text_holds_no_references_and_is_read_as_it_was(text: str) -> None:
    escaped = escape_text(text)
    assert not {"<", ">"} & set(escaped)
    assert html.unescape(read_text(escaped, BOT)) == html.unescape(text.strip())
    assert read_text(escaped, BOT) == text.strip()
