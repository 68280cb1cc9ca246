"""Pages of every format: shown, written as Markdown, and without what their texts hide."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content
from aitp_desk.web.pages.blocks.article import write_article
from aitp_desk.web.pages.full.markdown import write_markdown
from tests.support.content.hidden_text import HIDDEN, UNSEEN, UNSEEN_OTHERWISE

SITE = Site(name="Doors", url="https://doors.example")
FAQ = {"@type": "FAQPage", "mainEntity": [{"name": "Why?", "acceptedAnswer": {"text": "It is."}}]}
PAGES = {
    "a.rst": "Doors\n=====\n\nThey open.\n\n.. _keys:\n\nKeys\n----\n\n.. note:: :ref:`keys`\n",
    "a.mdx": "import A from 'a';\n\n# Doors\n\nThey open.\n\n## Keys\n\n<Note>See {x}</Note>\n",
    "a.md": "# Doors\n\nThey open.\n\n(keys)=\n## Keys {#keys}\n\n:::note\nSee {ref}`keys`.\n:::\n",
    "a.ipynb": json.dumps(
        {"cells": [{"cell_type": "markdown", "source": "# Doors\n\nThey open.\n\n## Keys\n\nSee."}]}
    ),
    "a.txt": "1. Doors\n\nThey open.\n\n2. Keys\n\nSee <b>them</b>.\n",
    "a.rss": "<rss><channel><title>Doors</title><item><title>Keys</title>"
    "<description>They open. See.</description></item></channel></rss>",
    "a.openapi.json": json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Doors", "description": "They open."},
            "paths": {"/keys": {"get": {"summary": "Keys", "description": "See."}}},
        }
    ),
    "a.html": "<main><h1>Doors</h1><p>They open.</p><h2>Keys</h2><p>See.</p></main>"
    f'<script type="application/ld+json">{json.dumps(FAQ)}</script>',
}  # fmt: skip
RAW = (":ref:", "{ref}", "(keys)=", "{#keys}", ":::", "import A", "<Note>", ".. note", "{x}")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_shown_with_the_anchors_of_its_passages(tmp_path: Path, name: str) -> None:
    tmp_path.joinpath(name).write_text(PAGES[name], "utf-8")
    (document,) = load_content(tmp_path).documents
    article = write_article(document, {})
    body = LexborHTMLParser(str(article.body))
    passages = split_passages(document)
    assert any(passage.heading.endswith("Keys") for passage in passages)
    for passage in passages:
        is_title = passage.anchor in {"", article.anchor}
        assert is_title or body.css_first(f'[id="{passage.anchor}"]') is not None
    written = write_markdown(SITE, document, {})
    for text in (str(article.body), written, *(passage.text for passage in passages)):
        assert not any(raw in text for raw in RAW)
    assert "They open." in written


def _notebook(html: str) -> str:
    cell = {"cell_type": "markdown", "source": f"# Doors\n\nYes.\n\n{html}\n\nYes."}
    return json.dumps({"cells": [cell]})


def _described(html: str) -> str:
    return json.dumps(
        {"openapi": "3.1.0", "info": {"title": "A", "description": f"Yes.\n\n{html}"}}
    )


def _declared(html: str) -> str:
    answer = {"name": "Why?", "acceptedAnswer": {"text": f"<p>Yes.</p>{html}"}}
    declared = json.dumps({"@type": "FAQPage", "mainEntity": [answer]}).replace("</", "<\\/")
    return f'<main>Yes.</main><script type="application/ld+json">{declared}</script>'


HOLDERS: dict[str, Callable[[str], str]] = {
    "mdx": "# Doors\n\nYes.\n\n{}\n\nYes.\n".format,
    "ipynb": _notebook,
    "rss": "<rss><channel><item><description><![CDATA[<p>Yes.</p>{}]]></description></item>"
    "</channel></rss>".format,
    "openapi.json": _described,
    "html": _declared,
}


@pytest.mark.parametrize("ending", HOLDERS)
def test_text_that_nobody_sees_is_not_read(tmp_path: Path, ending: str) -> None:
    ways = [*UNSEEN.values(), *UNSEEN_OTHERWISE.values()]
    for number, html in enumerate(ways):
        tmp_path.joinpath(f"a{number}.{ending}").write_text(HOLDERS[ending](html), "utf-8")
    documents = load_content(tmp_path).documents
    assert len(documents) == len(ways)
    for document in documents:
        assert HIDDEN not in document.body, document.source
