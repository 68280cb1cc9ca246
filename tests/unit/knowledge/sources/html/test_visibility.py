"""Text that a page's style hides is not read from it, and all other text is."""

from __future__ import annotations

import pytest

from aitp_desk.knowledge.sources.html.page import read_html
from tests.support.content.hidden_text import HIDDEN, SEEN, UNSEEN, UNSEEN_OTHERWISE

_AROUND = "<!doctype html><title>T</title><body><h1>Locks</h1><p>They lock.</p>{}<p>So.</p></body>"


def test_hidden_text_is_not_read(subtests: pytest.Subtests) -> None:
    for way, text in (UNSEEN | UNSEEN_OTHERWISE).items():
        with subtests.test(way=way):
            body = read_html(_AROUND.format(text)).body
            assert "They lock." in body
            assert "So." in body
            assert HIDDEN not in body


def test_text_that_is_seen_is_read(subtests: pytest.Subtests) -> None:
    for way, text in SEEN.items():
        with subtests.test(way=way):
            assert "quince" in read_html(_AROUND.format(text)).body


def test_a_page_that_a_script_shows_is_read() -> None:
    page = f"<div style='visibility:hidden'><h1>Locks</h1><p>{'They lock. ' * 20}</p></div>"
    assert "They lock." in read_html(page).body


@pytest.mark.parametrize(
    "style",
    [
        f"left:{'calc(' * 5000}1px{')' * 5000}",
        f"color:{'(' * 5000}",
        f"}}</style><style>{'a{' * 3000}display:none",
        f"}}{':is(' * 3000}a{')' * 3000}{{display:none}}",
        f"}}@media {'(' * 3000}a{')' * 3000}{{p{{display:none}}}}",
        f"}}{'@media all{' * 3000}p{{display:none}}",
        f"}}{'a,b{' * 40}display:none",
    ],
)
def test_styles_that_nest_without_end_are_left_out(style: str) -> None:
    rule = f"<style>p{{{style}</style>"
    said = read_html(_AROUND.format(f'{rule}<b style="{style[:50_000]}">Bold.</b>')).body
    assert "They lock." in said
