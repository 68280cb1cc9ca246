"""Markdown and the HTML of Matrix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.matrix.text import (
    MOST_HTML,
    find_mentions,
    read_html,
    strip_quotation,
    write_html,
)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("a **b**", "<p>a <strong>b</strong></p>"),
        ("a\nb", "<p>a<br>\nb</p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("[a](https://b.example)", '<p><a href="https://b.example">a</a></p>'),
        ("![a](https://b.example/c.png)", '<p><a href="https://b.example/c.png">a</a></p>'),
        ("[a](javascript:alert)", "<p>[a](javascript:alert)</p>"),
        ("[a](/b)", "<p><a>a</a></p>"),
        ("~~a~~", "<p><s>a</s></p>"),
        ("", ""),
    ],
)
def test_markdown_becomes_html_that_loads_nothing(markdown: str, html: str) -> None:
    assert write_html(markdown) == html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a <b>b</b>", "a b"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<br>b", "a\nb"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ('<ol start="3"><li>a</li><li>b</li></ol>', "3. a\n4. b"),
        ('<ol start="9999999999"><li>a</li></ol>', "1. a"),
        ('<a href="https://a.example">here</a>', "here <https://a.example>"),
        ('<a href="https://a.example/">https://a.example</a>', "https://a.example"),
        ('<a href="https://matrix.to/#/@desk:a.example">Desk</a>: hi', "Desk: hi"),
        ('<a href="javascript:x">a</a>', "a"),
        ("<pre><code>a\n  b</code></pre>", "```\na\n  b\n```"),
        ("<p>a</p><pre>b\n</pre><p>c</p>", "a\n\n```\nb\n```\n\nc"),
        ("a <code>b</code>", "a `b`"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n- b\n2. c"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>c", "> a\n>\n>> b\n\nc"),
        ('<div class="gmail_signature">a</div>', "a"),
        ("<mx-reply><blockquote>q</blockquote></mx-reply>a", "a"),
        ("<script>a</script><style>b</style>c", "c"),
        ('<img src="mxc://a.example/b" alt="A picture">', "A picture"),
        ("<!-- a -->b", "b"),
        ("  a\n  b ", "a b"),
        ("", ""),
    ],
)
def test_html_becomes_text(html: str, text: str) -> None:
    assert read_html(html) == text


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "ul><li", "pre", "a href=https://x"])
def test_html_that_nests_without_end_is_read(tag: str) -> None:
    assert read_html(f"<{tag}>" * (MOST_HTML // (len(tag) + 2))) is not None
    assert read_html("a" * (MOST_HTML + 1)) is None


def test_mentions_are_links_to_users() -> None:
    html = '<a href="https://matrix.to/#/%40desk%3Aa.example">a</a> https://matrix.to/#/!r:b'
    assert find_mentions(html) == {"@desk:a.example"}


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("> <@a:b> c\n\nd", ("d", "> <@a:b> c")),
        ("> <@a:b> c\n>\n> d\n\ne\n\nf", ("e\n\nf", "> <@a:b> c\n>\n> d")),
        ("> c\nd", ("> c\nd", "")),
        ("> c", ("> c", "")),
        ("a", ("a", "")),
    ],
)
def test_a_quotation_is_separated(body: str, parts: tuple[str, str]) -> None:
    assert strip_quotation(body) == parts


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=300))
def test_whatever_comes_is_read(text: str) -> None:
    assert read_html(text) is not None
    assert "<img" not in write_html(text)
