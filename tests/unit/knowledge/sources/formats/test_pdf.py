"""What is read from PDF files, how far, and what is said of those that cannot be read."""

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.chunks import split_passages, split_pdf_page
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.loader import Content, load_content, read_files
from aitp_desk.knowledge.sources.pdf import texts
from aitp_desk.knowledge.sources.pdf.extraction import extract
from aitp_desk.web.pages.blocks.article import write_article
from tests.support.content.pdf import encrypt, make_pdf

GUIDE = make_pdf(
    ["Lantern care", "Wipe the glass with a dry cloth once a week."],
    ["Wicks", "Change the wick after ninety hours. Trim it to five milli-", "metres (no more)."],
    title="The lantern guide",
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


def only(content: Content) -> Document:
    (document,) = content.documents
    return document


def problems(folder: Path) -> dict[str, str]:
    return {problem.source: problem.message for problem in load_content(folder).problems}


def library(folder: Path) -> Library:
    data = folder.parent / "data"
    return open_editions(read_files(folder, data=data), data, {}, Languages()).library


def test_a_pdf_is_a_document_with_a_passage_for_each_page(site: Path) -> None:
    (site / "guides").mkdir()
    (site / "guides" / "care.PDF").write_bytes(GUIDE)
    document = only(load_content(site))
    assert (document.path, document.title) == ("guides/care", "The lantern guide")
    first, second = split_passages(document)
    assert (first.url, second.url) == ("/guides/care#page=1", "/guides/care#page=2")
    assert (first.name, second.name) == ("The lantern guide, page 1", "The lantern guide, page 2")
    assert [unit.text for unit in second.units] == [
        "Wicks",
        "Change the wick after ninety hours.",
        "Trim it to five millimetres (no more).",
    ]


def test_a_pdf_without_a_title_is_called_after_its_file(site: Path) -> None:
    (site / "lantern-care.pdf").write_bytes(make_pdf(["Some words."]))
    assert only(load_content(site)).title == "Lantern care"


def test_what_stands_in_a_pdf_is_found(site: Path) -> None:
    (site / "care.pdf").write_bytes(GUIDE)
    hit, *_ = library(site).search("how often to change the wick")
    assert hit.passage.url == "/care#page=2"


def test_the_desks_page_of_a_pdf_has_the_places_that_sources_point_to(site: Path) -> None:
    (site / "care.pdf").write_bytes(make_pdf(["One."], ["<b>Two</b> & three."]))
    article = write_article(only(load_content(site)), {})
    assert article.body == (
        '<h2 id="page=1">Page 1</h2><p>One.</p>'
        '<h2 id="page=2">Page 2</h2><p>&lt;b&gt;Two&lt;/b&gt; &amp; three.</p>'
    )


WRAPPED = """A heading
The first line of a paragraph that
is long enough to be broken twice or
more.
The next paragraph begins on a line
of its own."""
DIVIDED = """A word at the end of the line is divi-
ded; a well-known
Upper-
Case name is not"""


@pytest.mark.parametrize(
    ("page", "paragraphs"),
    [
        ("", []),
        (" \n ", []),
        (
            WRAPPED,
            [
                "A heading",
                " ".join(WRAPPED.split("\n")[1:4]),
                "The next paragraph begins on a line of its own.",
            ],
        ),
        (
            DIVIDED,
            [
                "A word at the end of the line is divided; a well-known",
                "Upper-",
                "Case name is not",
            ],
        ),
    ],
)
def test_lines_of_a_page_become_paragraphs(page: str, paragraphs: list[str]) -> None:
    assert split_pdf_page(page) == paragraphs


@given(st.text())
def test_no_word_of_a_page_is_lost(page: str) -> None:
    lines = "\n".join(page.split("\n"))
    joined = "".join(split_pdf_page(lines))
    assert "".join(joined.split()).replace("-", "") == "".join(lines.split()).replace("-", "")


def test_a_broken_pdf_is_reported_and_the_rest_stays(site: Path) -> None:
    broken = {
        "nothing.pdf": b"",
        "beginning.pdf": b"%PDF-1.4\n",
        "text.pdf": b"not a PDF at all",
        "part.pdf": GUIDE[: len(GUIDE) // 3],
        "zeros.pdf": b"\0" * 1000,
    }
    for name, payload in {**broken, "fine.pdf": GUIDE}.items():
        (site / name).write_bytes(payload)
    content = load_content(site)
    assert only(content).path == "fine"
    assert {problem.source: problem.message for problem in content.problems} == dict.fromkeys(
        broken, "The PDF is broken; save it again."
    )


def test_a_pdf_with_a_password_is_reported(site: Path) -> None:
    (site / "secret.pdf").write_bytes(encrypt(GUIDE, "hunter2"))
    assert problems(site) == {"secret.pdf": "The PDF is encrypted; save it without a password."}


def test_a_pdf_that_anyone_may_open_is_read(site: Path) -> None:
    (site / "open.pdf").write_bytes(encrypt(GUIDE, ""))
    assert only(load_content(site)).title == "The lantern guide"


def test_a_pdf_of_pictures_is_reported(site: Path) -> None:
    (site / "scan.pdf").write_bytes(make_pdf([], []))
    assert problems(site) == {
        "scan.pdf": "The PDF has no text, only pictures of it; recognise the text (OCR)."
    }


def test_a_long_pdf_is_read_as_far_as_its_bound(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "MAX_PAGES", 2)
    (site / "long.pdf").write_bytes(make_pdf(["One."], ["Two."], ["Three."]))
    content = load_content(site)
    assert only(content).body.split() == ["One.", "Two."]
    assert content.problems[0].message == "Of its 3 pages the first 2 are read; split the file."


def test_a_pdf_that_takes_too_long_is_given_up(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_SECONDS", 0.001)
    (site / "slow.pdf").write_bytes(GUIDE)
    assert problems(site) == {
        "slow.pdf": "The PDF could not be read within 0.001 seconds; split it."
    }


def test_a_pdf_that_ends_its_program_is_reported(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = tmp_path / "dying.py"
    dying.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "utf-8")
    monkeypatch.setattr(texts, "PROGRAM", str(dying))
    (site / "deadly.pdf").write_bytes(GUIDE)
    assert "it crashes the reader. Save it again." in problems(site)["deadly.pdf"]


@pytest.mark.slow
def test_a_page_that_unpacks_without_end_is_reported() -> None:
    packed = zlib.compress(bytes(200_000_000), 9)
    stream = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (
        len(packed),
        packed,
    )
    plain = make_pdf(["x"])
    begin, end = plain.index(b"<< /Length"), plain.index(b"endstream") + len("endstream")
    found = texts.read_pdfs([plain[:begin] + stream + plain[end:]], None)
    (text,) = found.values()
    assert text.problem == "The PDF needs too much memory; save it again or split it."


def test_without_the_extra_it_is_said_what_to_install(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "care.pdf").write_bytes(GUIDE)
    with monkeypatch.context() as patched:
        patched.setattr(texts, "is_installed", lambda: False)
        patched.setattr("aitp_desk.knowledge.sources.loader.is_installed", lambda: False)
        assert library(site).documents == ()
        assert problems(site) == {
            "care.pdf": "To read a PDF install its extra: pip install 'aitp-desk[pdf]'."
        }
    assert only_path(library(site)) == "care"


def only_path(library: Library) -> str:
    (document,) = library.documents
    return document.path


def test_a_pdf_is_read_once_and_its_text_kept_as_long_as_it_is_there(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "care.pdf").write_bytes(GUIDE)
    library(site)
    kept = site.parent / "data" / texts.FOLDER
    (file,) = kept.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(texts, "MAX_SECONDS", 0.001)
    (site / "more.md").write_text("# More\n\nWords.\n", "utf-8")
    assert [document.path for document in library(site).documents] == ["care", "more"]
    file.write_bytes(b"{")
    (site / "more.md").write_text("# More\n\nOther words.\n", "utf-8")
    assert library(site).problems[0].source == "care.pdf"
    (site / "care.pdf").unlink()
    library(site)
    assert list(kept.iterdir()) == []


def test_looking_at_the_content_writes_nothing(site: Path, tmp_path: Path) -> None:
    (site / "care.pdf").write_bytes(GUIDE)
    data = tmp_path / "data"
    data.mkdir()
    load_content(site, data=data)
    assert list(data.iterdir()) == []


@given(st.binary(max_size=400), st.integers(0, len(GUIDE)))
def test_any_bytes_are_pages_or_a_problem(noise: bytes, place: int) -> None:
    found = extract(GUIDE[:place] + noise + GUIDE[place + len(noise) :], 10)
    assert set(found) in ({"problem"}, {"title", "pages", "count"})
