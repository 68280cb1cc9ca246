"""HTML files in other encodings than UTF-8."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.sources.loader import load_content

_PAGE = (
    "<html><head>{}</head><body><main><h1>Öffnungszeiten</h1><p>Täglich.</p></main></body></html>"
)


@pytest.mark.parametrize(
    ("before", "head", "encoding"),
    [
        ("", "<meta charset=iso-8859-1>", "iso-8859-1"),
        ("", "<meta http-equiv=Content-Type content='text/html; charset=windows-1252'>", "cp1252"),
        ('<?xml version="1.0" encoding="ISO-8859-15"?>', "", "iso-8859-15"),
        ("", "<meta charset=iso-8859-1>", "utf-8"),
        ("\ufeff", "", "utf-16-le"),
    ],
)
def test_a_declared_encoding_is_read(tmp_path: Path, before: str, head: str, encoding: str) -> None:
    tmp_path.joinpath("a.html").write_bytes((before + _PAGE.format(head)).encode(encoding))
    content = load_content(tmp_path)
    assert content.problems == ()
    assert content.documents[0].title == "Öffnungszeiten"
    assert "Täglich." in content.documents[0].body


@pytest.mark.parametrize("head", ["", "<meta charset=utf-8>", "<meta charset=base64>"])
def test_an_encoding_that_is_not_declared_is_a_problem(tmp_path: Path, head: str) -> None:
    tmp_path.joinpath("a.html").write_bytes(_PAGE.format(head).encode("iso-8859-1"))
    (problem,) = load_content(tmp_path).problems
    assert problem.message == (
        "The file is not UTF-8 here; declare its encoding or save it as UTF-8."
    )
