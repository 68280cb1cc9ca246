"""Texts of Telegram: only tags that it takes, never longer than it takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.transports.telegram import text
from tests.support.transports.telegram_html import count_units, parse_html

PARTS = (
    *("**", "*", "_", "~~", "`", "```\n", "[", "](https://a.example/?b=c&d)", "> ", "- ", "1. "),
    *("<b>", "</b>", "&lt;", "&", "😀", "word ", "\n", "\n\n", "# ", "| a |\n|---|\n| b |\n"),
)
marks = st.lists(st.sampled_from(PARTS), max_size=60).map("".join)


@given(st.text(max_size=200) | marks)
def test_every_text_is_taken_and_shown_without_its_marks(markdown: str) -> None:
    for piece in text.render_pieces(
        markdown, head="<b>Ada</b>", tail='<a href="https://a.b">c</a>'
    ):
        shown, _ = parse_html(piece.html)
        assert shown == piece.plain


@settings(max_examples=settings.get_profile("suite").max_examples // 3)  # each is long
@given(st.text(alphabet="ab 😀\n*_`<&", min_size=3000, max_size=9000))
def test_no_message_is_longer_than_telegram_takes(markdown: str) -> None:
    for piece in text.render_pieces(markdown):
        shown, _ = parse_html(piece.html)
        assert 0 < count_units(shown) <= 4096


@pytest.mark.parametrize("unit", ["😀", "a", "word ", "&", "\n\nline", "**b** "])
def test_nothing_of_a_long_text_is_lost(unit: str) -> None:
    markdown = unit * (20_000 // len(unit))
    pieces = text.render_pieces(markdown)
    letters = "".join(piece.plain for piece in pieces)
    kept = unit.strip().strip("*")
    assert letters.count(kept) == markdown.count(kept)
    assert len(pieces) > 1


def test_a_divided_text_breaks_between_paragraphs() -> None:
    paragraph = "word " * 300
    pieces = text.render_pieces(f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}")
    assert all(piece.plain.startswith("word") and piece.plain.endswith("word") for piece in pieces)


def test_tags() -> None:
    [piece] = text.render_pieces('**a** *b* ~~c~~ `d<` [e](https://f.example/?g="h")\n\n> i')
    assert piece.html == (
        "<b>a</b> <i>b</i> <s>c</s> <code>d&lt;</code>"
        ' <a href="https://f.example/?g=%22h%22">e</a>\n\n<blockquote>i</blockquote>'
    )
    [piece] = text.render_pieces("```python\nx < 1\n```")
    assert piece.html == '<pre><code class="language-python">x &lt; 1</code></pre>'


def test_a_text_of_nothing_is_no_message() -> None:
    assert text.render_pieces(" \n ") == []
    assert text.render_pieces("> ") == []


def test_code_that_is_divided_stays_code() -> None:
    code = "\n\n".join(f"{n} {'😀' * 60}" for n in range(50))
    pieces = text.render_pieces(f"```\n{code}\n```")
    assert len(pieces) > 1
    assert all(one.html.startswith("<pre>") and one.html.endswith("</pre>") for one in pieces)
    assert all(f"{n} 😀" in "".join(one.plain for one in pieces) for n in range(50))
