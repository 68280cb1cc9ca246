"""A document's body becomes HTML that is safe, and whose headings are where sources point."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.documents.base import Document, DocumentKind
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.web.pages.blocks.article import Article, write_article

URLS = {"policies/returns.md": "/policies/returns", "guides/index.md": "/guides"}
TRICKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='java&#115;cript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](javascript:alert(1))",
    '!["><script>alert(1)</script>](https://x.example/a.png)',
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img onerror=a()&gt;">',
    "<p style='position:fixed' onclick=alert(1) class=ask id=desk.main>x</p>",
    "<form action=https://evil.example><input name=a></form>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x></object><base href=//e>",
    "<h2 id=desk.ask onmouseover=alert(1)>Heading</h2>",
    "<template><script>alert(1)</script></template><noscript><p title='</noscript><img src=x>'>",
]


def document(
    body: str, kind: DocumentKind = "markdown", source: str = "guides/fit.md", title: str = "Fit"
) -> Document:
    return Document(
        path=source.rpartition(".")[0],
        source=source,
        title=title,
        description="",
        kind=kind,
        body=body,
    )


def article(body: str, kind: DocumentKind = "markdown", source: str = "guides/fit.md") -> Article:
    return write_article(document(body, kind, source), URLS)


def dangers(html: str) -> list[str]:
    """What could act or load in a piece of HTML."""
    found: list[str] = []
    for node in LexborHTMLParser(html).css("body *"):
        name = node.tag or ""
        if name in {"script", "style", "img", "iframe", "object", "form", "input", "svg", "base"}:
            found.append(name)
        for attribute, value in node.attributes.items():
            scheme = (value or "").strip().lower().partition(":")[0]
            if attribute.startswith("on") or attribute == "style":
                found.append(attribute)
            if attribute == "href" and scheme in {"javascript", "data", "vbscript"}:
                found.append(value or "")
    return found


def test_nothing_in_a_document_can_act_or_load(subtests: pytest.Subtests) -> None:
    kinds: list[DocumentKind] = ["markdown", "html", "text", "pdf"]
    for trick in TRICKS:
        for kind in kinds:
            with subtests.test(kind=kind, trick=trick):
                assert dangers(article(f"{trick}\n\ntext {trick} text", kind).body) == []


@given(body=st.lists(st.sampled_from([*TRICKS, "<", ">", '"', "`", "\n\n", "# ", "| a |\n|-|\n|"])))
def test_no_mixture_of_tricks_can_act_or_load(body: list[str]) -> None:
    for kind in ("markdown", "html"):
        assert dangers(article("".join(body), kind).body) == []


def test_ids_of_a_document_cannot_take_the_place_of_the_pages_own() -> None:
    ids = LexborHTMLParser(article("<h2 id=desk.ask>Desk.ask</h2>", "html").body).css("[id]")
    assert [node.attributes["id"] for node in ids] == ["deskask"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            "# Fit\n\nIntro.\n\n## Notes\n\na\n\n## The `code` & *more*\n\nb\n\n## Notes\n\nc",
            "markdown",
        ),
        ("Intro.\n\n## Größe – und Maße\n\na\n\n> ## Quoted\n> b\n\n- c\n", "markdown"),
        (
            "Text\n\n<div><h3>Inside HTML</h3><p>a</p></div>\n\n## After [a link](x.md)\n\nb",
            "markdown",
        ),
        ("<h1>Fit</h1><p>a</p><section><h2>Deep <em>down</em></h2><p>b</p></section>", "html"),
        ("<p>a</p><h1>Late</h1><p>b</p><h2></h2><p>c</p><h2>Late</h2><p>d</p>", "html"),
    ],
)
def test_every_source_points_to_a_heading_of_the_page(body: str, kind: DocumentKind) -> None:
    written = document(body, kind)
    anchors = {passage.anchor for passage in split_passages(written)} - {""}
    shown = write_article(written, {})
    ids = {node.attributes["id"] for node in LexborHTMLParser(shown.body).css("[id]")}
    assert anchors
    assert anchors <= ids | {shown.anchor}


def test_the_heading_that_opens_the_page_becomes_its_title() -> None:
    shown = article("# Fit *and* feel\n\nText.")
    assert (shown.title, shown.anchor) == ("Fit and feel", "fit-and-feel")
    assert "<h1" not in shown.body


def test_a_document_without_such_a_heading_keeps_its_own_title() -> None:
    shown = article("Text.\n\n# Later")
    assert (shown.title, shown.anchor) == ("Fit", "")
    assert '<h1 id="later">Later</h1>' in shown.body


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("../policies/returns.md", "/policies/returns"),
        ("../policies/returns.md#return-window", "/policies/returns#return-window"),
        ("/policies/returns.md", "/policies/returns"),
        ("index.md", "/guides"),
        ("sizing", "/guides/sizing"),
        ("../../../etc/passwd", "/etc/passwd"),
        ("a%20b", "/guides/a%20b"),
        ("#notes", "#notes"),
        ("https://elsewhere.example/a.md?b=c", "https://elsewhere.example/a.md?b=c"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
def test_a_link_between_files_leads_from_page_to_page(written: str, leads_to: str) -> None:
    link = LexborHTMLParser(article(f"[here](<{written}>)").body).css_first("a")
    assert link is not None
    assert link.attributes["href"] == leads_to


def test_a_picture_from_elsewhere_becomes_a_link_and_one_of_the_folder_its_words() -> None:
    body = article("![A map](https://x.example/map.png) ![A pin](pin.png) ![](a.png)").body
    assert body == '<p><a href="https://x.example/map.png">A map</a> A pin </p>'


def test_a_picture_inside_a_link_becomes_the_words_of_the_link() -> None:
    assert (
        article("[![Map](https://x.example/m.png)](/map)").body == '<p><a href="/map">Map</a></p>'
    )


def test_comments_of_the_author_are_not_shown() -> None:
    assert article("a <!-- to do --> b\n\n<!-- secret -->").body == "<p>a  b</p>"


def test_tables_keep_their_columns_and_code_its_signs() -> None:
    body = article("| a | b |\n|---|--:|\n| 1 | 2 |\n\n```sh\nx < y && z\n```").body
    assert '<td class="right">2</td>' in body
    assert (
        '<pre tabindex="0"><code class="language-sh">x &lt; y &amp;&amp; z\n</code></pre>' in body
    )


def test_plain_text_becomes_paragraphs_and_columns_stay_columns() -> None:
    body = article("One <b>\ntwo\n\n  Mon   9-5\n  Tue   9-6\n\n", "text").body
    assert body == ('<p>One &lt;b&gt;<br>two</p><pre tabindex="0">Mon   9-5\nTue   9-6</pre>')
