"""RSS and Atom feeds."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content

RSS = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Türen</title><description>All news.</description><image><title>Logo</title></image>
<item><title>Open &amp; wide</title><pubDate>Mon, 02 Mar 2026</pubDate>
<description>Short.</description>
<content:encoded><![CDATA[<p>They <b>open</b>.</p><p style="display:none">secret</p>
<script>secret</script>]]></content:encoded></item>
<item><description>a &lt; b</description></item>
</channel></rss>
"""
ATOM = """\
<feed xmlns="http://www.w3.org/2005/Atom"><title>Türen</title><subtitle>All news.</subtitle>
<entry><title>Open &amp; wide</title><published>Mon, 02 Mar 2026</published>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>They <b>open</b>.</p></div>
</content></entry></feed>
"""


@pytest.mark.parametrize(("name", "text"), [("a.rss", RSS), ("a.atom", ATOM)])
def test_entries_are_sections(tmp_path: Path, name: str, text: str) -> None:
    is_latin = "ISO" in text
    tmp_path.joinpath(name).write_text(text, "iso-8859-1" if is_latin else "utf-8")
    (document,) = load_content(tmp_path).documents
    passages = split_passages(document)
    assert document.title == "Türen"
    assert passages[0].text == "All news."
    assert passages[1].heading == "Open & wide"
    assert [unit.text for unit in passages[1].units][:2] == ["Mon, 02 Mar 2026", "They open."]
    assert "secret" not in document.body


def test_the_text_of_an_entry_keeps_its_form(tmp_path: Path) -> None:
    within = '<div xmlns="http://www.w3.org/1999/xhtml"><p>Bring:</p><ul><li>a key</li></ul></div>'
    entry = f'<entry><title>T</title><content type="xhtml">{within}</content></entry>'
    plain = '<entry><title>P</title><summary type="text">a &lt;b&gt; c</summary></entry>'
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>{entry}{plain}</feed>'
    tmp_path.joinpath("a.atom").write_text(feed)
    (document,) = load_content(tmp_path).documents
    assert [p.text for p in split_passages(document)] == ["Bring:\n- a key", "a <b> c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no", "not XML"),
        ("<html></html>", "not a feed"),
        ("<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>", "document type"),
        ("<rss>" + "<a>" * 100, "elements deep"),
        ("<rss>" + "<item/>" * 1001 + "</rss>", "entries"),
    ],
)
def test_what_is_no_feed_is_a_problem(tmp_path: Path, text: str, message: str) -> None:
    tmp_path.joinpath("a.rss").write_text(text)
    (problem,) = load_content(tmp_path).problems
    assert message in problem.message
