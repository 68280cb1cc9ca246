"""What an answer from elsewhere is taken for: by its media type, its encoding, its address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.egress import Fetched
from aitp_desk.knowledge.documents.base import DocumentKind
from aitp_desk.knowledge.web.round import ContentMissing, read_answer


def answer(body: bytes, media: str | None, url: str = "https://a.example/page") -> Fetched:
    return Fetched(200, {} if media is None else {"Content-Type": media}, body, url)


@pytest.mark.parametrize(
    ("media", "path", "kind"),
    [
        ("text/html", "", "html"),
        ("TEXT/HTML; charset=UTF-8", "notes.md", "html"),
        ("application/xhtml+xml", "", "html"),
        ("text/markdown; charset=utf-8; variant=GFM", "", "markdown"),
        ("text/plain", "", "text"),
        ("text/plain", "README.MD?raw=1", "markdown"),
        ("application/pdf", "guide", "pdf"),
    ],
)
def test_the_media_type_tells_what_a_page_is_written_in(
    media: str, path: str, kind: DocumentKind
) -> None:
    assert read_answer(answer(b"x", media, f"https://a.example/{path}")) == (kind, b"x")


def test_a_pdf_is_left_as_it_is() -> None:
    payload = b"%PDF-1.7\n\xff\xfe\x00"
    assert read_answer(answer(payload, "application/pdf; charset=koi8-r")) == ("pdf", payload)


@pytest.mark.parametrize(
    "media",
    [None, "", "image/png", "application/json", "text/css", "text/html\udc80x", "text/html\udc80é"],
)
def test_anything_else_is_no_content(media: str | None) -> None:
    with pytest.raises(ContentMissing, match="pages are HTML, Markdown, text or PDF"):
        read_answer(answer(b"x", media))


def test_the_encoding_is_declared_or_found_out(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bytes, str, str]] = [
        ("é".encode(), "text/plain", "é"),
        ("é".encode("cp1252"), "text/plain", "é"),
        ("“é”".encode("cp1252"), "text/plain; charset=iso-8859-1", "“é”"),
        ("é".encode("utf-16"), "text/plain", "é"),
        ("я".encode("koi8-r"), "text/plain; charset=KOI8-R", "я"),
        ("日本".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本"),
        ("日本".encode("euc_jp"), "text/html; charset=euc-jp", "日本"),
        (b"\xef\xbb\xbfx", "text/plain; charset=koi8-r", "x"),
        (b"x\xff", "text/plain; charset=utf-8", "x\ufffd"),
        # names of encodings that are none of a text
        (b"eJx", "text/plain; charset=zlib", "eJx"),
        (b"x-", "text/plain; charset=punycode", "x-"),
        (b"+AGE-", "text/plain; charset=utf-7", "+AGE-"),
        (b"x", "text/plain; charset=\x00", "x"),
        # a parameter in parts, of which one is no part
        ("é".encode(), "text/plain; charset*=a'b'c; charset*0=d", "é"),
    ]
    for body, media, text in cases:
        with subtests.test(body=body, media=media, text=text):
            assert read_answer(answer(body, media))[1].decode() == text


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="koi8-r">',
        "<META http-equiv=content-type content='text/html; charset=koi8-r'>",
    ],
)
def test_html_may_declare_its_own_encoding(meta: str) -> None:
    page = f"<html><head>{meta}</head>я"
    assert read_answer(answer(page.encode("koi8-r"), "text/html"))[1].decode() == page


@given(st.binary(max_size=300), st.text(max_size=40))
def test_whatever_comes_is_utf_8_afterwards(body: bytes, charset: str) -> None:
    _, text = read_answer(answer(body, f"text/html; charset={charset}"))
    assert isinstance(text.decode(), str)
