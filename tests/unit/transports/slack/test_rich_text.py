"""Markdown as rich text of Slack."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.slack.rich_text import (
    MOST_INDENT,
    MOST_JSON_CHARACTERS,
    Element,
    plain,
    rich_text,
)

WORDS = (
    *("*", "**", "_", "~~", "`", "```\n", "# ", "\n", "\n\n", "- ", "1. ", "3. ", "> ", "    "),
    *("| a | b |\n|---|---|\n| c | d |\n", "---\n", "[", "](", ")", "![", "<!channel>", "<b>"),
    *("<@U061F7AUR>", "https://a.example/x", "mailto:a@b.example", "javascript:x", "&amp;", "\\"),
    *("\0", "x", "word ", "<!--", "-->"),
)
MARKDOWN = st.lists(
    st.sampled_from(WORDS) | st.text(max_size=6),
    max_size=60,
).map("".join)


def section(*elements: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def text(words: str, **style: bool) -> Element:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def items(style: str, *words: str, **more: int) -> Element:
    return {
        "type": "rich_text_list",
        "style": style,
        "elements": [section(text(word)) for word in words],
        **more,
    }


@pytest.mark.parametrize(
    ("markdown", "elements"),
    [
        ("", []),
        ("Hello", [section(text("Hello"))]),
        ("One\ntwo\n\nthree", [section(text("One\ntwo\n\nthree"))]),
        ("a **b** _c_ ~~d~~ `e`", None),
        ("# Prices\nfrom 3 €", [section(text("Prices", bold=True), text("\nfrom 3 €"))]),
        ("- a\n- b", [items("bullet", "a", "b")]),
        ("3. a\n4. b", [items("ordered", "a", "b", offset=2)]),
        (
            "1. a\n   - b\n2. c",
            [
                items("ordered", "a"),
                items("bullet", "b", indent=1),
                items("ordered", "c", offset=1),
            ],
        ),
        ("> a", [{"type": "rich_text_quote", "elements": [text("a")]}]),
        ("```sh\nls\n```", [{"type": "rich_text_preformatted", "elements": [text("ls")]}]),
        (
            "| a | bb |\n|---|---|\n| ccc | d |",
            [{"type": "rich_text_preformatted", "elements": [text("a    bb\nccc  d")]}],
        ),
        (
            "[shop](https://a.example/b)",
            [section({"type": "link", "url": "https://a.example/b", "text": "shop"})],
        ),
        (
            "**[shop](https://a.example/b)**",
            [
                section(
                    {
                        "type": "link",
                        "url": "https://a.example/b",
                        "text": "shop",
                        "style": {"bold": True},
                    }
                )
            ],
        ),
        (
            "See https://a.example/b.",
            [
                section(
                    text("See "),
                    {"type": "link", "url": "https://a.example/b", "text": "https://a.example/b"},
                    text("."),
                )
            ],
        ),
        ("[page](/relative)", [section(text("page"))]),
        ("<!channel> <@U061F7AUR>", [section(text("<!channel> <@U061F7AUR>"))]),
        ("a<br>b", [section(text("a<br>b"))]),
    ],
)
def test_markdown_becomes_elements(markdown: str, elements: list[Element] | None) -> None:
    if elements is None:
        elements = [
            section(
                text("a "),
                text("b", bold=True),
                text(" "),
                text("c", italic=True),
                text(" "),
                text("d", strike=True),
                text(" "),
                text("e", code=True),
            )
        ]
    assert rich_text(markdown) == elements


def test_what_has_too_many_marks_is_sent_without_them() -> None:
    found = rich_text("*a* b " * 500)
    assert found == [section(text("a b " * 499 + "a b"))]


def test_deep_marks_are_read() -> None:
    assert plain(rich_text("*a **b " * 300 + "c" + "** *" * 300))


@given(MARKDOWN)
def test_whatever_is_written_becomes_valid_elements(markdown: str) -> None:
    elements = rich_text(markdown)
    for element in elements:
        check(element)
    assert len(msgspec.json.encode(elements)) <= MOST_JSON_CHARACTERS
    assert "\0" not in plain(elements)


def check(element: dict[str, Any]) -> None:
    match element["type"]:
        case "rich_text_list":
            assert element["style"] in {"bullet", "ordered"}
            assert 0 <= element.get("indent", 0) <= MOST_INDENT
            assert element.get("offset", 1) > 0
            assert element["elements"]
            for item in element["elements"]:
                assert item["type"] == "rich_text_section"
                check(item)
        case "rich_text_section" | "rich_text_quote" | "rich_text_preformatted":
            assert element["elements"]
            for one in element["elements"]:
                # no kind that mentions somebody
                assert one["type"] in {"text", "link"}
                assert one["text"]
                if one["type"] == "link":
                    assert one["url"].startswith(("http://", "https://", "mailto:"))
        case _:
            raise AssertionError(element)
