"""Elements without an end: of XHTML they are empty, and of HTML they hold what follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.knowledge.sources.html.test_page import read, said

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize("head", [_HEAD, _HEAD.partition("\n")[2]])
def test_an_empty_element_of_xhtml_ends_where_it_stands(tmp_path: Path, head: str) -> None:
    page = (
        f'{head}<head><script src="a.js"/><title>Locks</title></head><body><h1>Locks</h1>'
        '<h2><a id="hold"/>How long</h2><p>A lock is held until the end.<br/>Always.</p>'
        '<h2><a id="drop"/>How to drop one</h2><p>End the transaction.</p></body></html>'
    )
    document, passages = read(tmp_path, page)
    assert document.title == "Locks"
    assert said(passages) == ["A lock is held until the end.", "Always.", "End the transaction."]
    assert [passage.url for passage in passages] == ["/a#hold", "/a#drop"]


def test_text_after_a_target_that_is_left_open_is_no_link(tmp_path: Path) -> None:
    page = (
        "<h1>Locks</h1><div><a id='table'><table><tr><td><a href='b.html'>Lock</a></td>"
        "<td>1 second</td></tr></table></div><p>A lock is held until the end.</p>"
        "<p>Others wait for it.</p><p>They are served in turn.</p>"
    )
    texts = said(read(tmp_path, page)[1])
    assert texts[-3:] == [
        "A lock is held until the end.",
        "Others wait for it.",
        "They are served in turn.",
    ]
