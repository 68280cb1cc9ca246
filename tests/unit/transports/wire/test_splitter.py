"""Long texts as messages: whole, in bounds, with code blocks that are closed."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aitp_desk.transports.wire.splitter import split_text

FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,}(?!~))(.*)")
BOUNDS = st.integers(200, 1200)
words = st.text("abcäö,.!*_[]()<>", min_size=1, max_size=30)
plain_lines = st.one_of(
    st.lists(words, max_size=80).map(" ".join),
    st.integers(0, 900).map(lambda size: "x" * size),
    st.just(""),
)
fence_lines = st.builds(
    lambda indent, mark, count, info: " " * indent + mark * count + info,
    st.integers(0, 3),
    st.sampled_from("`~"),
    st.integers(3, 8),
    st.sampled_from(["", "", "python", " a long name of a language " * 4]),
)
texts = st.lists(plain_lines, max_size=40).map("\n".join)
texts_with_code = st.lists(st.one_of(plain_lines, fence_lines), max_size=40).map("\n".join)


def said(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def is_balanced(piece: str) -> bool:
    """Whether each code block of a piece is closed in it."""
    mark = ""
    for line in piece.split("\n"):
        found = FENCE.fullmatch(line)
        if not mark and found:
            mark = found[1]
        elif found and found[1].startswith(mark) and not found[2].strip():
            mark = ""
    return not mark


@given(texts, BOUNDS)
@example("A" * 400 + "\n\n" + "B" * 390 + "\n" + "C" * 900, 1000)
def test_nothing_is_lost_but_white_space(text: str, longest: int) -> None:
    pieces = split_text(text, longest)
    assert said("".join(pieces)) == said(text)
    assert all(piece.strip() for piece in pieces)
    assert all(len(piece) <= longest for piece in pieces)


@given(texts_with_code, BOUNDS)
@example("```" + "name " * 180 + "\n" + "x" * 900, 1000)
@example("x" * 990 + "\n```\ncode\n```", 1000)
def test_code_blocks_are_closed_in_every_piece(text: str, longest: int) -> None:
    pieces = split_text(text, longest)
    assert all(len(piece) <= longest for piece in pieces)
    assert all(is_balanced(piece) for piece in pieces)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), BOUNDS)
def test_code_is_only_cut_between_its_lines(sizes: list[int], longest: int) -> None:
    lines = [f"{place}:" + "x" * (size % 100) for place, size in enumerate(sizes)]
    pieces = split_text("\n".join(["Before.", "", "```python", *lines, "```", "After."]), longest)
    kept = [line for piece in pieces for line in piece.split("\n")]
    assert [line for line in kept if ":" in line] == lines
    for piece in pieces:
        opened = piece.partition("\n")[0]
        assert opened in ("```python", "Before.", "After.")


@given(st.lists(st.integers(1, 110), min_size=1, max_size=60), BOUNDS)
def test_items_of_lists_stay_whole(sizes: list[int], longest: int) -> None:
    items = [f"- {place} " + "word " * (size // 5) + "." for place, size in enumerate(sizes)]
    pieces = split_text("\n".join(items), longest)
    assert [line for piece in pieces for line in piece.split("\n")] == items


@given(st.lists(st.tuples(words, st.integers(1, 12)), min_size=1, max_size=60), BOUNDS)
def test_links_stay_whole_in_lines_that_do_not(parts: list[tuple[str, int]], longest: int) -> None:
    links = [
        f"[page {place} of this site](https://example.com/{'x' * size})"
        for place, (_, size) in enumerate(parts)
    ]
    letters = [re.sub("[^a-z]", "w", word) for word, _ in parts]
    line = " ".join(f"{word} {link}" for word, link in zip(letters, links, strict=True))
    kept = "\n".join(split_text(line, longest))
    assert all(link in kept for link in links)


@pytest.mark.parametrize(
    "whole",
    ["https://shop.example/" + "a" * 70, "<https://shop.example/a>", "`rm -rf x y z and more`"],
)
@given(before=st.integers(1, 60))
def test_addresses_and_code_within_a_line_stay_whole(whole: str, before: int) -> None:
    pieces = split_text("word " * before + whole + " more" * 50, 200)
    assert any(whole in piece for piece in pieces)


def code_of(text: str) -> list[str]:
    """The lines of all blocks of code that a Markdown parser finds."""
    blocks = [one for one in MarkdownIt().parse(text) if one.type in ("fence", "code_block")]
    return [line.strip() for block in blocks for line in block.content.splitlines()]


@pytest.mark.parametrize(
    ("before", "prefix", "after"),
    [
        ("1.  Do this:\n\n", "    ", "\n\n    More.\n\n2.  Then that."),
        ("- Do this:\n", "  ", "\n- Then that."),
        ("- a\n    - Do this:\n\n", "      ", "\n- Then that."),
        ("> He said:\n>\n", "> ", "\nI say no."),
        ("> He said:\n>\n", "> ", "\n> I say no."),
    ],
)
@pytest.mark.parametrize("is_closed", [True, False])
def test_code_in_items_and_quotations_stays_code(
    before: str, prefix: str, after: str, *, is_closed: bool
) -> None:
    lines = [f"line {number} of the code" for number in range(40)]
    block = ["```sh", *lines, *(["```"] if is_closed else [])]
    text = before + "\n".join(f"{prefix}{line}" for line in block)
    if is_closed or after.startswith(("\n-", "\nI")):  # else the words after it are code too
        text += after
    pieces = split_text(text, 200)
    assert len(pieces) > 4
    assert [line for piece in pieces for line in code_of(piece)] == code_of(text)
    assert code_of(text) == lines


def test_items_within_items_do_not_become_code() -> None:
    items = "\n".join(f"    - item {number} within it" for number in range(30))
    pieces = split_text(f"- one\n{items}\n- two", 200)
    assert len(pieces) > 3
    assert not any(code_of(piece) for piece in pieces)


def test_code_that_shows_a_fence_is_no_fence() -> None:
    code = "\n".join(f"    line {number} of the code" for number in range(12))
    text = f"Text.\n\n{code}\n    ```\n{code}\n\nEnd."
    assert "\n".join(split_text(text, 200)) == text


@pytest.mark.parametrize(
    "unit",
    [
        "- a\n    ```\n",
        "> ```\n",
        "1. a\n\n   b\n",
        "`a` ",
        "https://a.b/c ",
        "word ",
        "x",
        "[",
        "[a](",
        "```\n",
        "~~~ x\n",
        "\n",
        "- item\n",
        "`" * 31 + "\n",
        " " * 50,
    ],
)
def test_the_time_grows_with_the_length_alone(unit: str) -> None:
    def took(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.process_time()
        split_text(text, 200)
        return time.process_time() - began

    took(10_000)
    short = min(took(50_000) for _ in range(3))
    assert min(took(400_000) for _ in range(2)) < 8 * 6 * short + 0.05
