"""Reading Markdown with front matter, text and HTML, and saying what could not be read."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.base import Document, Problem, get_page_path
from aitp_desk.knowledge.sources.loader import load_content


def read(tmp_path: Path, **files: str | bytes) -> tuple[dict[str, Document], list[Problem]]:
    for name, text in files.items():
        payload = text.encode() if isinstance(text, str) else text
        (tmp_path / name.replace("_", ".")).write_bytes(payload)
    content = load_content(tmp_path)
    return {document.path: document for document in content.documents}, list(content.problems)


def test_front_matter_gives_title_description_date_and_everything_else(tmp_path: Path) -> None:
    documents, problems = read(
        tmp_path,
        tent_md="---\ntitle: The tent\ndescription: Light and  dry\nupdated: 2026-01-20\n"
        "price: 349.0\nspec:\n  persons: 2\n  tested: 2025-05-01\n---\n\nIt costs $349.\n",
    )
    tent = documents["tent"]
    assert (tent.title, tent.description, tent.updated) == (
        "The tent",
        "Light and dry",
        "2026-01-20",
    )
    assert tent.front["price"] == 349.0
    assert tent.front["spec"] == {"persons": 2, "tested": "2025-05-01"}
    assert tent.body.strip() == "It costs $349."
    assert not problems


def test_front_matter_may_be_toml(tmp_path: Path) -> None:
    front = '+++\ntitle = "Boats"\ndate = 2026-03-01\ntags = ["a"]\n[params]\nx = 1\n+++\n'
    pages, problems = read(tmp_path, a_md=f"{front}\nText.\n", b_md="+++\ntitle = \n+++\n# B\n")
    assert (pages["a"].title, pages["a"].updated) == ("Boats", "2026-03-01")
    assert (pages["a"].body.strip(), pages["a"].front["params"]) == ("Text.", {"x": 1})
    assert [problem.source for problem in problems] == ["b.md"]
    assert pages["b"].title == "B"


def test_without_a_title_the_first_heading_is_taken_and_else_the_name(tmp_path: Path) -> None:
    documents, _ = read(tmp_path, a_md="Text\n\n# The `first` *one*\n", b_md="Only text.\n")
    assert documents["a"].title == "The first one"
    assert documents["b"].title == "B"


def test_a_page_that_begins_with_a_rule_has_no_front_matter(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_md="---\n\nA rule, then text.\n")
    assert documents["a"].front == {}
    assert "A rule" in documents["a"].body
    assert not problems


def test_front_matter_that_never_ends_is_reported_and_the_page_kept(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_md="---\ntitle: x\n# never closed\n\nText.\n")
    assert "Text." in documents["a"].body
    assert (problems[0].source, problems[0].line) == ("a.md", 1)
    assert "close it with a line ---" in problems[0].message


@pytest.mark.parametrize("after", ["", "\nText: one", "Text.", "https://shop.example", "# Note: x"])
def test_a_rule_is_not_taken_for_front_matter(tmp_path: Path, after: str) -> None:
    documents, problems = read(tmp_path, a_md=f"---\n{after}\n\nMore.\n")
    assert "More." in documents["a"].body
    assert not problems


def test_broken_front_matter_is_reported_with_its_line_and_the_page_kept(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_md="---\ntitle: One: two\n---\n\nStill here.\n")
    assert documents["a"].front == {}
    assert "Still here." in documents["a"].body
    assert (problems[0].source, problems[0].line) == ("a.md", 2)
    assert "quote texts that contain a colon" in problems[0].message


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("- a\n- b", "list of names and values"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("a: " + "[" * 500, "is nested deeper"),
        ("a: " + "x" * 70_000, "longer than"),
    ],
)
def test_front_matter_that_is_a_trap_is_reported(tmp_path: Path, front: str, said: str) -> None:
    documents, problems = read(tmp_path, a_md=f"---\n{front}\n---\n\nText.\n")
    assert documents["a"].body.strip() == "Text."
    assert said in problems[0].message


def test_a_draft_is_not_content(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_md="---\ndraft: true\n---\n\nNot yet.\n")
    assert not documents
    assert not problems


def test_bad_utf_8_is_reported_with_its_line(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_md=b"# Fine\n\nnot \xff fine\n")
    assert not documents
    assert str(problems[0]) == "a.md:3: The file is not UTF-8 here; save it as UTF-8."


def test_a_byte_order_mark_and_windows_line_ends_do_not_show(tmp_path: Path) -> None:
    documents, _ = read(tmp_path, a_md=b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n\r\nText.\r\n")
    assert documents["a"].title == "T"
    assert documents["a"].body == "\nText.\n"


@pytest.mark.parametrize(("text", "said"), [("a\0b", "NUL"), ("  \n", "has no text")])
def test_what_is_no_text_is_reported(tmp_path: Path, text: str, said: str) -> None:
    documents, problems = read(tmp_path, a_txt=text)
    assert not documents
    assert said in problems[0].message


def test_html_gives_its_main_content_without_what_is_around_it(tmp_path: Path) -> None:
    documents, _ = read(
        tmp_path,
        a_html="<html><head><title>Returns | Shop</title>"
        "<meta name=description content='What you can send back'></head><body>"
        "<nav>Home</nav><header>Shop</header><main><h1>Returns</h1><p>Within 60 days.</p>"
        "<script>steal()</script><p hidden>secret</p><a href='javascript:x()' onclick=x()>go</a>"
        "</main><footer>Imprint</footer></body></html>",
    )
    page = documents["a"]
    assert (page.title, page.description, page.kind) == (
        "Returns",
        "What you can send back",
        "html",
    )
    for gone in ("Home", "Imprint", "steal", "secret", "javascript:", "onclick"):
        assert gone not in page.body
    assert "Within 60 days." in page.body


def test_html_without_a_main_element_loses_its_frame(tmp_path: Path) -> None:
    documents, _ = read(
        tmp_path, a_html="<title>T</title><header>top</header><p>Body text.</p><footer>end</footer>"
    )
    assert documents["a"].title == "T"
    assert documents["a"].body == "<p>Body text.</p>"


def test_of_two_files_with_one_address_the_second_is_reported(tmp_path: Path) -> None:
    documents, problems = read(tmp_path, a_html="<p>one</p>", a_md="two\n")
    assert documents["a"].source == "a.html"
    assert problems[0].message == "a.html has the same address, /a; rename one of them."


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("policies/returns.md", "policies/returns"),
        ("index.md", "index"),
        ("guides/index.md", "guides"),
        ("a b/ü?.md", "a%20b/%C3%BC%3F"),
        ("ahp-spec-0.1.md", "ahp-spec-0.1"),
    ],
)
def test_a_page_is_addressed_by_its_file(source: str, path: str) -> None:
    assert get_page_path(source) == path


@pytest.mark.parametrize(
    ("name", "front"),
    [
        ("a_rst", "{}\n"),
        ("a_txt", "{}\n"),
        ("a_md", "{}\n"),
        ("a_md", "<!--\n{}-->\n\n"),
        ("a_html", "<!--\n{}-->\n<p>"),
    ],
)
def test_front_matter_in_a_comment_names_the_page_and_is_no_text(
    tmp_path: Path, name: str, front: str
) -> None:
    said = ".. title: Boats\n.. slug: boats\n.. tags: a, b\n.. link: \n.. description: On water.\n"
    pages, problems = read(tmp_path, **{name: front.format(said) + "They float.\n"})
    page = pages["a"]
    assert (page.title, page.description, page.front["tags"]) == ("Boats", "On water.", ["a", "b"])
    assert "They float." in page.body
    assert "slug" not in page.body
    assert not problems


def test_a_commented_draft_is_no_page(tmp_path: Path) -> None:
    pages, _ = read(tmp_path, a_md=".. title: Boats\n.. status: draft\n\nThey float.\n")
    assert not pages
