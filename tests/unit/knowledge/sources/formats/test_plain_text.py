"""Plain texts with a structure."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.formats.plain_text import text_html
from aitp_desk.knowledge.sources.loader import load_content

TEXT = """\
                        The Door Manual

Table of Contents

1. Doors
   1.1 Opening
2. Keys

1. Doors

   Every house has one.  Or two
   of them.

1.1 Opening

   Turn the handle:

       door --open

   * softly
   * with a
     push

2. Keys

KEY     Use
------  -----------------
iron    front door
brass   cellar

┌─────┬──────┐
│Metal│Price │
├─────┼──────┤
│iron │5 EUR │
├─────┼──────┤
│brass│7 EUR │
└─────┴──────┘

-l      lock it
-u      unlock it

LOCKED
        Nobody gets in.
"""


def read(tmp_path: Path, text: str) -> tuple[Document, list[Passage]]:
    """The page ``manual.txt`` of a folder, and its passages."""
    tmp_path.joinpath("manual.txt").write_text(text, "utf-8")
    (document,) = load_content(tmp_path).documents
    return document, split_passages(document)


def test_numbered_headings_lists_tables_and_code_are_read(tmp_path: Path) -> None:
    document, passages = read(tmp_path, TEXT)
    assert (document.title, document.kind) == ("Manual", "html")
    found = {one.heading: [unit.text for unit in one.units] for one in passages if one.heading}
    assert found == {
        "1. Doors": ["Every house has one.", "Or two of them."],
        "1.1 Opening": [
            "Turn the handle:",
            "```\ndoor --open\n```",
            "softly",
            "with a push",
        ],
        "2. Keys": [
            "iron: front door",
            "brass: cellar",
            "iron: 5 EUR",
            "brass: 7 EUR",
            "-l: lock it",
            "-u: unlock it",
            "LOCKED: Nobody gets in.",
        ],
    }
    assert passages[2].trail == ("1. Doors", "1.1 Opening")


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Title\n=====\n\nText.\n\nOne\n---\n\nA.\n\nTwo\n---\n\nB.\n", ["Title", "One", "Two"]),
        ("===\nDoors\n===\n\nA.\n\n===\nKeys\n===\n\nB.\n", ["Doors", "Keys"]),
        ("NAME\n   door\n\nSYNOPSIS\n   door [-l]\n\nA door.\n", ["NAME", "SYNOPSIS"]),
        ("Part 1. Doors\n\nA.\n\nPart 2. Keys\n\nB.\n", ["Part 1. Doors", "Part 2. Keys"]),
    ],
)  # fmt: skip
def test_headings_are_found(tmp_path: Path, text: str, headings: list[str]) -> None:
    assert [passage.heading for passage in read(tmp_path, text)[1]] == headings


@pytest.mark.parametrize(
    "text",
    [
        "Two doors.\n\nOne key.\n",
        "1. Open it.\n\n2. Close it.\n\n3. Lock it.\n",
        "1. Milk\n2. Bread\n\nThat is all.\n",
        "1 Apple\n\n2 Pears\n\n3 Plums\n",
        "READ THIS NOW!\n\nA door.\n\nDO NOT OPEN.\n\nNever.\n",
    ],
)
def test_a_text_without_clear_structure_stays(tmp_path: Path, text: str) -> None:
    document, _ = read(tmp_path, text)
    assert (document.kind, document.body) == ("text", text)


def test_heads_of_printed_pages_are_left_out(tmp_path: Path) -> None:
    pages = "\n\n".join(f"{n}. Part\n\nText {n}.\n\n\nDoor Guide        {n}\n" for n in range(1, 8))
    _, passages = read(tmp_path, pages)
    assert not any("Guide" in passage.text for passage in passages)


def test_a_paragraph_over_the_end_of_a_page_is_one(tmp_path: Path) -> None:
    end = "\n\n\nDoor Guide        7\n\n\n"
    pages = "".join(f"{n}. Part\n\n   Some text.{end}" for n in range(1, 8))
    text = (
        "1. Doors\n\n   A door shuts when its\n   handle, which is"
        f"{end}   round, is let go.{end}   It locks.\n\n"
    )
    _, passages = read(tmp_path, text + pages)
    assert passages[0].text == (
        "A door shuts when its handle, which is round, is let go.\n\nIt locks."
    )


def test_lines_set_to_a_straight_edge_are_a_paragraph(tmp_path: Path) -> None:
    text = (
        "1. Doors\n\n  Ask the porter.\n\n"
        "      (Porters   of  old  houses\n      know the   doors  by  heart\n"
        "      and   by sound.)\n\n"
        "2. Keys\n\n  None.\n"
    )
    _, passages = read(tmp_path, text)
    assert passages[0].text == (
        "Ask the porter.\n\n(Porters of old houses know the doors by heart and by sound.)"
    )


def test_what_hangs_on_a_term_is_its_definition(tmp_path: Path) -> None:
    text = (
        "1. Keys\n\n  d    Drop  a  key.  A  key  that\n       falls rings.\n\n"
        "       Nobody hears it.\n\n  o    Open a door.\n\n  +    List all keys.\n\n"
        "2. Doors\n\n  Oak\n     It is heavy.\n\n  Other doors are light.\n"
    )
    _, passages = read(tmp_path, text)
    assert [unit.text for passage in passages for unit in passage.units] == [
        "d: Drop a key. A key that falls rings. Nobody hears it.",
        "o: Open a door.",
        "+: List all keys.",
        "Oak: It is heavy.",
        "Other doors are light.",
    ]


def test_markup_in_a_text_is_text() -> None:
    html = text_html("1. <b>A\n\n<script>x\n\n2. B\n\n<img src=x>\n", "a") or ""
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    "line",
    [" " * 300_000 + "x", "- " * 200_000 + "x", "=" * 400_000, "a  " * 200_000, "│" * 300_000],
)  # fmt: skip
def test_long_lines_are_read_in_time(line: str) -> None:
    assert text_html(f"1. A\n\n{line}\n{line}\n\n2. B\n\n{line}\n", "a")


def test_columns_that_spaces_part_are_a_table(tmp_path: Path) -> None:
    table = "Name     Small   Large\nAlder    1 m     3 m\nBirch    2 m\n"
    _, passages = read(tmp_path, f"1. Poles\n\nAll.\n\n2. Sizes\n\n{table}")
    assert passages[-1].text == "Alder – Small: 1 m; Large: 3 m\nBirch – Small: 2 m"
