"""HTML pages of other makers: what is content, what it is called, and where a source points."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.html.page import read_html
from aitp_desk.knowledge.sources.loader import load_content


def read(tmp_path: Path, html: str) -> tuple[Document, list[Passage]]:
    """The page ``a.html`` of a folder, and its passages."""
    tmp_path.joinpath("a.html").write_text(html, "utf-8")
    (document,) = load_content(tmp_path).documents
    return document, split_passages(document)


def said(passages: list[Passage]) -> list[str]:
    """The texts of all units."""
    return [unit.text for passage in passages for unit in passage.units]


@pytest.mark.parametrize(
    "bar",
    [
        "<div class='navheader'><a href='b.html'>Prev</a> Chapter 7</div>",
        "<div role='navigation'>Chapter 7</div>",
        "<ul class='breadcrumb small'><li>Chapter 7</li></ul>",
        "<div id='sidebar'><h3>Chapter 7</h3></div>",
        "<form><label>Chapter 7</label><input></form>",
        "<div id='footer'><div id='footer-text'>Chapter 7, last updated in May</div></div>",
        "<div class='nosearch'>Chapter 7<div class='menu'><a href='/'>Home</a></div></div>",
    ],
)
def test_bars_around_the_content_are_no_content(tmp_path: Path, bar: str) -> None:
    page = f"<body>{bar}<h1>Locks</h1><p>A lock is held until the end of it all.</p>{bar}</body>"
    document, passages = read(tmp_path, page)
    assert said(passages) == ["A lock is held until the end of it all."]
    assert "Chapter" not in document.body


@pytest.mark.parametrize(
    "outcome",
    [
        "<div class='invalid-feedback'>A name is required.</div>",
        "<div class='d-none' id='done'>Form submission successful!</div>",
        "<div class='w-form-fail'>Something went wrong.</div>",
    ],
)
def test_what_a_form_says_once_it_is_sent_is_no_content(tmp_path: Path, outcome: str) -> None:
    page = f"<form><h1>Write to us</h1><p>We answer within a day.</p>{outcome}</form>"
    assert said(read(tmp_path, page)[1]) == ["We answer within a day."]


def test_what_is_called_a_bar_but_holds_the_page_is_content(tmp_path: Path) -> None:
    page = "<form class='nav'><h2>Locks</h2><p>A lock is held until the end.</p></form><p>So.</p>"
    assert said(read(tmp_path, page)[1]) == ["A lock is held until the end.", "So."]


def test_a_heading_is_read_without_its_permalink(tmp_path: Path) -> None:
    page = "<main><h1>Locks<a class='x' href='#locks'>¶</a></h1><p>They lock.</p></main>"
    document, passages = read(tmp_path, page)
    assert (document.title, passages[0].name) == ("Locks", "Locks")
    assert "¶" not in document.body


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<h2 id='Own'>Keys</h2>", "Own"),
        ("<h2><a name='within'></a>Keys</h2>", "within"),
        ("<a name='before'></a><h2>Keys</h2>", "before"),
        ("<section id='part'><div><h2>Keys</h2></div><p>x</p></section>", "part"),
        ("<section id='part'><h2><span id='in'></span>Keys</h2><p>x</p></section>", "part"),
        ("<section id='part'><p>Not first.</p><h2>Keys</h2></section>", "keys"),
        ("<h2 id='a b'>Keys</h2>", "a%20b"),
        ("<h2>Keys</h2>", "keys"),
    ],
)
def test_a_source_points_to_the_id_that_a_heading_has(
    tmp_path: Path, html: str, anchor: str
) -> None:
    _, passages = read(tmp_path, f"<main><h1>T</h1><p>Before.</p>{html}<p>Behind.</p></main>")
    assert passages[-1].anchor == anchor


def test_several_headings_of_the_first_level_are_parts_of_the_page(tmp_path: Path) -> None:
    page = (
        "<title>Locking</title><div class=t>Locking</div><h1>1. Overview</h1><p>One.</p>"
        "<h2>1.1. Files</h2><p>Two.</p><h1>2. Use</h1><p>Three.</p>"
    )
    document, passages = read(tmp_path, page)
    assert document.title == "Locking"
    assert document.body.count("<h1") == 1
    assert [passage.trail for passage in passages] == [
        ("1. Overview",),
        ("1. Overview", "1.1. Files"),
        ("2. Use",),
    ]


def test_a_heading_that_says_the_title_is_the_title_whatever_its_level(tmp_path: Path) -> None:
    page = "<title>8.5. Dates</title><div><h2 id=D>8.5. Dates</h2></div><p>A.</p><h3>Of</h3><p>B."
    _, (first, second) = read(tmp_path, page)
    assert (first.trail, first.url, first.name) == ((), "/a#D", "8.5. Dates")
    assert second.trail == ("Of",)


def test_a_term_with_an_id_is_a_separate_section(tmp_path: Path) -> None:
    page = (
        "<main><h1>Tools</h1><h2>Functions</h2><p>All of them.</p><dl><dt id='it.groupby'>"
        "<code>it.<b>groupby</b></code>(<em>iterable</em>, key=None)<a href='#it.groupby'>¶</a>"
        "</dt><dd><p>Groups what follows.</p><pre>for a in b:\n    c</pre></dd>"
        "<dt id='it.count'>it.count()</dt><dd>Counts.</dd></dl><p>That was all.</p></main>"
    )
    _, passages = read(tmp_path, page)
    assert [(p.anchor, p.trail) for p in passages] == [
        ("functions", ("Functions",)),
        ("it.groupby", ("Functions", "it.groupby")),
        ("it.count", ("Functions", "it.count")),
        ("functions", ("Functions",)),
    ]
    assert [unit.text for unit in passages[1].units] == [
        "it.groupby(iterable, key=None): Groups what follows.",
        "```\nfor a in b:\n    c\n```",
    ]
    assert passages[2].name == "Tools: it.count"


def test_terms_within_a_definition_stand_below_its_term(tmp_path: Path) -> None:
    page = (
        "<main><h1>T</h1><dl><dt id=A>class A</dt><dd><p>A thing.</p><dl><dt id=A.run>run()</dt>"
        "<dd>Runs.</dd></dl><p>More on it.</p></dd><dt id=B>class B</dt><dd>Other.</dd></dl></main>"
    )
    assert [(p.anchor, p.trail) for p in read(tmp_path, page)[1]] == [
        ("A", ("class A",)),
        ("A.run", ("class A", "run")),
        ("A", ("class A",)),
        ("B", ("class B",)),
    ]


def test_short_definitions_are_items_and_one_long_one_makes_sections_of_all(
    tmp_path: Path,
) -> None:
    short = "<dl><dt>Cat</dt><dd>Purrs.</dd><dt>Dog:</dt><dd><p>Barks.</p><p>Runs.</p></dd></dl>"
    assert said(read(tmp_path, f"<main><h1>T</h1>{short}</main>")[1]) == [
        "Cat: Purrs.",
        "Dog: Barks. Runs.",
    ]
    long = f"<dl><dt>--no-ff</dt><dd>{'Never forward. ' * 20}</dd><dt>-q</dt><dd>Quiet.</dd></dl>"
    document, passages = read(tmp_path, f"<main><h1>T</h1>{long}</main>")
    assert [(p.anchor, p.heading) for p in passages] == [("--no-ff", "--no-ff"), ("-q", "-q")]
    assert 'id="--no-ff"' in document.body


def test_a_numbered_list_keeps_its_numbers(tmp_path: Path) -> None:
    steps = "<ol start=3><li><p>Fill it.</p><p>Slowly.</p><ul><li>Or not.</ul><li value=9>Go.</ol>"
    (passage,) = read(tmp_path, f"<main><h1>T</h1>{steps}<ol type=a><li>Letter</ol></main>")[1]
    assert passage.text == "3. Fill it.\nSlowly.\n- Or not.\n9. Go.\n- Letter"


def test_a_table_of_contents_is_no_content(tmp_path: Path) -> None:
    toc = "<dl class=toc><dt>1. Boots and their care</dt><dt>2. Tents and their poles</dt></dl>"
    page = f"<main><h1>T</h1>{toc}<h2>Boots</h2><p>{'Wax them twice a year. ' * 12}</p></main>"
    (passage,) = read(tmp_path, page)[1]
    assert passage.heading == "Boots"


def test_an_option_and_its_short_form_are_one_section(tmp_path: Path) -> None:
    page = "<main><dl><dt id=o>--out</dt><dt>-o</dt><dd>Where to.</dd></dl></main>"
    (passage,) = read(tmp_path, page)[1]
    assert (passage.anchor, passage.text) == ("o", "--out, -o: Where to.")


def test_tables_of_contents_and_other_rows_of_links_are_left_out_of_answers(
    tmp_path: Path,
) -> None:
    links = "".join(f"<li><a href='#s{at}'>Section {at}</a></li>" for at in range(4))
    rows = "".join(f"<div><a href='p{at}.html'>Page {at}</a></div>" for at in range(4))
    terms = "".join(f"<dt><a href='p{at}.html'>Page {at}</a></dt>" for at in range(4))
    page = f"<main><h1>T</h1><ul>{links}</ul>{rows}<dl>{terms}</dl><p>See <a href=b>b</a>.</main>"
    document, passages = read(tmp_path, page)
    assert said(passages) == ["See b."]
    assert "Section 3" in document.body


def test_of_a_long_page_of_links_only_its_sentences_are_read(tmp_path: Path) -> None:
    entries = "".join(f"<li>entry {at} <a href='p'>{'word ' * 6}</a></li>" for at in range(90))
    page = f"<main><h1>Index</h1><p>All that there is.</p><ul>{entries}</ul></main>"
    assert said(read(tmp_path, page)[1]) == ["All that there is."]


def test_a_table_for_layout_is_read_as_text_and_code_keeps_its_lines(tmp_path: Path) -> None:
    page = (
        "<main><table><tr><td class=linenos><pre>1\n2</pre></td><td class='highlight-python3'>"
        "<pre>>>> a\n1</pre></td></tr></table><table><tr><td><p>Left.</p><table><tr><th>K</th>"
        "<th>V</th></tr><tr><td>a</td><td>b</td></tr></table></td></tr></table></main>"
    )
    assert said(read(tmp_path, page)[1]) == ["```python\n>>> a\n1\n```", "Left.", "a: b"]


def test_code_with_an_element_a_line_keeps_its_lines(tmp_path: Path) -> None:
    lines = "".join(f"<div class=token-line><span>{line}</span><br></div>" for line in "ab")
    page = f"<main><h1>Code</h1><p>Run this.</p><pre><code>{lines}</code></pre></main>"
    assert said(read(tmp_path, page)[1]) == ["Run this.", "```\na\nb\n```"]


def test_a_cell_over_several_rows_stands_in_each_of_them(tmp_path: Path) -> None:
    page = (
        "<main><table><tr><th>Mode</th><th>Writer</th><th>Readers</th></tr>"
        "<tr><td rowspan=2>WAL</td><td>one</td><td>many</td></tr><tr><td colspan=2>none</td></tr>"
        "<tr><td>DELETE</td><td>one</td><td>none<p>at all</p></td></tr></table></main>"
    )
    assert said(read(tmp_path, page)[1]) == [
        "WAL – Writer: one; Readers: many",
        "WAL – Writer: none",
        "DELETE – Writer: one; Readers: none; at all",
    ]


def test_the_name_of_a_box_opens_its_first_sentence(tmp_path: Path) -> None:
    page = (
        "<main><h1>T</h1><h2>Use</h2><p>Do.</p><div class=note><h3>Note</h3><p>Mind it.</p></div>"
        "<div class=admonition><p>Warning</p><p>It bites.<a href='#f1'>[1]</a></p></div></main>"
    )
    (passage,) = read(tmp_path, page)[1]
    assert passage.text == "Do.\n\nNote: Mind it.\n\nWarning: It bites."


def test_a_named_place_in_a_section_is_where_sources_point(tmp_path: Path) -> None:
    long = "<p>Before it there is much to read. " + "And more. " * 30 + "</p>"
    names = "<a name=x></a><p>X does it.<a name=y></a><p>Y <a name=z></a>is."
    page = f"<main><h1>T</h1>{long}{names}</main>"
    _, passages = read(tmp_path, page)
    assert [(p.anchor, p.text) for p in passages[1:]] == [
        ("x", "X does it."),
        ("y", "Y is."),
    ]


def test_a_term_that_only_names_another_is_another_name_of_that(tmp_path: Path) -> None:
    page = (
        "<main><h1>Words</h1><dl><dt id=G>GIL</dt><dd><p>See <a href='#L'>big lock</a>.</p></dd>"
        "<dt id=L>big lock</dt><dd>One at a time.</dd><dt id=Z>Z</dt><dd>See Omega.</dd></dl>"
    )
    assert [(p.anchor, p.heading, p.text) for p in read(tmp_path, page)[1]] == [
        ("L", "big lock (GIL)", "big lock: One at a time."),
        ("Z", "Z", "Z: See Omega."),
    ]


def test_what_the_titles_of_a_site_all_end_with_is_no_part_of_a_title(tmp_path: Path) -> None:
    ending = " — The Manual 1.2"
    titles = [f"Keys{ending}", f"Locks | Doors{ending}", "Bolts", "A — B", f"Doors{ending}"]
    for at, title in enumerate(titles):
        tmp_path.joinpath(f"p{at}.html").write_text(f"<title>{title}</title><p>Text.</p>", "utf-8")
    tmp_path.joinpath("p4.html").write_text(
        "<title>Doors — The Manual 1.2</title><p>Text.", "utf-8"
    )
    read_titles = [document.title for document in load_content(tmp_path).documents]
    assert read_titles == ["Keys", "Locks | Doors", "Bolts", "A — B", "Doors"]


@pytest.mark.parametrize("sign", [": ", " – ", " | "])
def test_what_the_titles_of_a_site_all_begin_with_is_no_part_of_a_title(
    tmp_path: Path, sign: str
) -> None:
    titles = {"index": "Home", "a": "Keys", "b": "Doors: Front", "c": "Bolts"}
    for name, title in titles.items():
        page = f"<title>The Manual{sign}{title}</title><p>Text.</p>"
        tmp_path.joinpath(f"{name}.html").write_text(page, "utf-8")
    documents = load_content(tmp_path).documents
    read_titles = {document.path: document.title for document in documents}
    home = f"The Manual{sign}Home"  # it names the site
    assert read_titles == {**titles, "index": home}


def test_a_heading_that_ends_the_title_is_named_once(tmp_path: Path) -> None:
    page = "<title>Manual: 3.2 Keys</title><p>Of iron.</p><h2>3.2 Keys</h2><p>Of brass.</p>"
    _, passages = read(tmp_path, page)
    assert [passage.name for passage in passages] == ["Manual: 3.2 Keys"] * 2


def test_ids_of_terms_are_handed_out_from_top_to_bottom() -> None:
    told = f"<dd>{'As big as a house. ' * 20}</dd>"
    rows = "".join(f"<dl><dt>Size{'!' * at}</dt>{told}</dl>" for at in range(9))
    body = read_html(f"<main><h1>T</h1>{rows}</main>").body
    assert re.findall('<dt id="(.*?)"', body) == ["size", *(f"size-{at}" for at in range(1, 9))]


def test_ids_within_a_heading_stay_next_to_that_of_its_part(tmp_path: Path) -> None:
    page = "<h1>T</h1><section id='part'><h2><span id='within'></span>Keys</h2><p>x</p></section>"
    document, _ = read(tmp_path, page)
    assert '<h2 id="part"><span id="within"></span>Keys</h2>' in document.body


def test_what_follows_a_list_explains_its_last_term_where_the_list_does_not(tmp_path: Path) -> None:
    page = (
        "<main><h1>Commands</h1><h2>Options</h2><p>Two of them.</p>"
        "<dl><dt id='dry'>--dry-run</dt><dd></dd></dl><p>Shows what would be done.</p>"
        "<dl><dt id='merge'>--merge</dt><dd></dd></dl><p>Mends conflicts.</p>"
        "<h2>Files</h2><p>None.</p></main>"
    )
    _, passages = read(tmp_path, page)
    assert [(p.anchor, p.text) for p in passages] == [
        ("options", "Two of them."),
        ("dry", "--dry-run: Shows what would be done."),
        ("merge", "--merge: Mends conflicts."),
        ("files", "None."),
    ]


def test_elements_that_lie_too_deep_are_read_as_text_and_told(tmp_path: Path) -> None:
    deep = f"<h1>Deep</h1>\n{'<div>' * 40_000}It says this.{'</div>' * 40_000}<p>And this."
    tmp_path.joinpath("a.html").write_text(deep, "utf-8")
    content = load_content(tmp_path)
    (document,), (problem,) = content.documents, content.problems
    assert said(split_passages(document)) == ["It says this.", "And this."]
    assert (problem.source, problem.line) == ("a.html", 2)
    assert "close the open ones" in problem.message


def test_what_is_no_element_or_ends_by_itself_is_not_deep(tmp_path: Path) -> None:
    many = 300
    page = (
        f"<h1>Flat</h1><!--{'<div>' * many}--><script>{'<div>' * many}</script>"
        f"<ul>{'<li>One<br>' * many}</ul><p>{'<p><a name=x>And' * many}{'<b>so</b>' * many}"
    )
    tmp_path.joinpath("a.html").write_text(page, "utf-8")
    assert load_content(tmp_path).problems == ()


@pytest.mark.parametrize(
    ("piece", "times"),
    [
        ("One sentence of many. ", 40_000),
        ("<h2></h2>", 20_000),
        ("<dl><dt id=a>Other</dt><dd>See it.</dd></dl>", 2_000),
    ],
)
def test_a_page_of_one_long_line_is_read_in_proportion_to_its_length(
    tmp_path: Path, piece: str, times: int
) -> None:
    document, passages = read(tmp_path, f"<h1>Long</h1><p>It begins.</p>{piece * times}<p>It ends.")
    assert document.title == "Long"
    assert said(passages)[0] == "It begins."
    assert said(passages)[-1].endswith("It ends.")


def test_words_that_nearly_all_titles_end_with_are_no_part_of_them(tmp_path: Path) -> None:
    for at in range(20):
        tmp_path.joinpath(f"{at}.html").write_text(
            f"<h1>tool-{at}(1) Manual Page</h1><p>Does something.</p>", "utf-8"
        )
    titles = {document.title for document in load_content(tmp_path).documents}
    assert titles == {f"tool-{at}(1)" for at in range(20)}


def test_products_with_the_same_name_keep_their_names(tmp_path: Path) -> None:
    for at in range(19):
        tmp_path.joinpath(f"{at}.html").write_text(
            f"<h1>Larkspur {at} Down Jacket</h1><p>Is warm.</p>", "utf-8"
        )
    assert load_content(tmp_path).documents[0].title == "Larkspur 0 Down Jacket"


def test_a_paragraph_that_is_bold_from_end_to_end_is_a_heading(tmp_path: Path) -> None:
    page = (
        "<h1>Questions</h1><p>Many ask.</p><a name='q1'></a><p><b>(1) How do I list all keys?</b>"
        "</p><p>Look at the board.</p><p><b>Note:</b></p><p>It hangs there.</p><p><b>Never.</b></p>"
    )
    _, passages = read(tmp_path, page)
    assert [(passage.heading, passage.anchor) for passage in passages] == [
        ("Questions", "questions"),
        ("(1) How do I list all keys?", "q1"),
    ]
    assert said(passages)[1:] == ["Look at the board.", "Note: It hangs there.", "Never."]


def test_definitions_of_links_are_said(tmp_path: Path) -> None:
    entries = "".join(
        f"<dt><a href='p{n}.html'>part {n}</a></dt><dd>Does the thing of number {n}.</dd>"
        for n in range(60)
    )
    _, (passage, *_) = read(tmp_path, f"<main><h1>Parts</h1><dl>{entries}</dl></main>")
    assert passage.units[0].text == "part 0: Does the thing of number 0."


def test_further_paragraphs_of_an_item_have_no_mark(tmp_path: Path) -> None:
    html = "<main><ul><li><p>Oak.</p><p>It is hard.</p></li><li><p>Ash.</p></li></ul></main>"
    _, (passage,) = read(tmp_path, html)
    assert passage.text == "- Oak.\nIt is hard.\n- Ash."


@pytest.mark.parametrize(
    "row",
    [
        "<table><tr><td><a accesskey=p href=a>Prev</a></td><td>4.</td><td>Next</td></tr></table>",
        "<div><p>Next: <a rel=next href=a>Types</a>, Up: <a rel=up href=b>Index</a> [1]</p></div>",
        "<a class=previous_page href=a>back</a><a class=toc_page href=b>all</a>",
    ],
)
def test_what_leads_to_the_pages_around_is_no_content(tmp_path: Path, row: str) -> None:
    (passage,) = read(tmp_path, f"<main><h1>T</h1>{row}<p>Open it.</p>{row}</main>")[1]
    assert passage.text == "Open it."


def test_a_list_of_addresses_is_no_menu(tmp_path: Path) -> None:
    people = ("Ada", "Bea", "Cy")
    items = "".join(f"<li><a href='mailto:{one}@a.example'>{one}</a></li>" for one in people)
    (passage,) = read(tmp_path, f"<main><h1>T</h1><p>Write to:</p><ul>{items}</ul></main>")[1]
    assert [unit.text for unit in passage.units[1:]] == [
        f"{one} ({one}@a.example)" for one in people
    ]


def test_the_title_of_a_figure_heads_no_section(tmp_path: Path) -> None:
    page = (
        "<main><h1>T</h1><p>Look.</p><div class=figure><a name=idm612></a>"
        "<p class=title><b>Figure 2. A door</b></p>"
        "<img src=d.png></div><p>Open it.</p></main>"
    )
    (passage,) = read(tmp_path, page)[1]
    assert passage.text == "Look.\n\nFigure 2. A door\n\nOpen it."


def test_a_heading_of_a_section_is_no_note(tmp_path: Path) -> None:
    page = (
        "<main><h1>T</h1><p>Go.</p><section id=notes><h2>Notes</h2><p>It bites.</p></section>"
        "<ul><li>Install</li><li>Example</li><li>API</li></ul></main>"
    )
    _, *passages = read(tmp_path, page)[1]
    assert [(p.heading, p.text) for p in passages] == [
        ("Notes", "It bites.\n- Install\n- Example\n- API")
    ]


def test_the_name_of_an_example_stays_before_its_code(tmp_path: Path) -> None:
    page = "<main><h1>T</h1><p>Example:</p><pre>go()</pre><p>Then stop.</p></main>"
    (passage,) = read(tmp_path, page)[1]
    assert passage.text == "Example:\n```\ngo()\n```\n\nThen stop."
    assert passage.units[1].lead == "Example:"


def test_footnotes_are_headed_in_the_language_of_the_page(tmp_path: Path) -> None:
    note = '<aside class="footnote"><span class="label">1</span><p>Aus Holz.</p></aside>'
    _, passages = read(tmp_path, f'<html lang="de"><main><h1>Tor</h1><p>Alt.</p>{note}</main>')
    assert [one.heading for one in passages] == ["Tor", "Fußnoten"]


def test_footnotes_are_a_section_of_their_own(tmp_path: Path) -> None:
    dl = (
        '<dl class="footnote brackets"><dt class="label" id="n{0}"><a href="#r{0}">{0}</a></dt>'
        "<dd><p>Of oak.</p><p>Or ash.</p></dd></dl>"
    )
    aside = (
        '<aside class="footnote brackets" id="n{0}"><span class="label">[<a href="#r{0}">{0}</a>]'
        "</span><p>Of oak.</p><p>Or ash.</p></aside>"
    )
    for note in (dl, aside):
        notes = f"{note.format(1)}<h2>Locks</h2><p>One.</p>{note.format(2)}"
        html = f"<main><h1>Doors</h1><h2>Keys</h2><p>None.</p>{notes}"
        _, passages = read(tmp_path, html)
        assert [(one.heading, one.text) for one in passages] == [
            ("Keys", "None."),
            ("Locks", "One."),
            ("Footnotes", "- 1: Of oak. Or ash.\n- 2: Of oak. Or ash."),
        ]


def test_the_caption_of_a_table_announces_its_rows(tmp_path: Path) -> None:
    table = (
        "<table><caption>Poles</caption><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>"
    )
    _, passages = read(tmp_path, f"<main><h1>Tents</h1><p>Light.</p>{table}</table></main>")
    assert said(passages) == ["Light.", "Poles:", "1: 2"]


def test_summaries_in_a_row_are_headings_of_their_answers(tmp_path: Path) -> None:
    html = (
        "<main><h1>Classes</h1><p>Six guests.</p>"
        "<details id='lunch'><summary>Is lunch included?</summary><p>Yes.</p></details>\n"
        "<details><summary>Vouchers</summary><p>Two years.</p></details>"
        "<h2>Way</h2><details><summary>Map</summary><p>Below.</p></details><p>By bus.</p></main>"
    )
    _, passages = read(tmp_path, html)
    assert [(one.heading, one.url, one.text) for one in passages] == [
        ("Classes", "/a#classes", "Six guests."),
        ("Is lunch included?", "/a#lunch", "Yes."),
        ("Vouchers", "/a#vouchers", "Two years."),
        ("Way", "/a#way", "Map\n\nBelow.\n\nBy bus."),
    ]


def test_an_id_made_of_a_heading_keeps_the_vowels_of_thai(tmp_path: Path) -> None:
    _, (passage,) = read(tmp_path, "<main><h2>ที่จอดรถ</h2><p>6</p></main>")
    assert unquote(passage.url) == "/a#ที่จอดรถ"


def test_the_questions_of_a_docbook_list_are_headings_of_their_answers(tmp_path: Path) -> None:
    question = (
        "<tr class='question'><td><a id='q{0}'></a><p><b>3.{0}.</b></p></td>"
        "<td><p>{1}</p></td></tr>"
    )
    answer = "<tr class='answer'><td></td><td><p>{}</p><table><tr><td>a</td></tr></table></td></tr>"
    rows = question.format(1, "Who locks?") + answer.format("The guard locks.")
    rows += question.format(2, "And on Sundays?") + answer.format("Nobody does.")
    page = f"<h1>FAQ</h1><div class='qandaset'><table><tbody>{rows}</tbody></table></div>"
    _, passages = read(tmp_path, page)
    assert [(one.heading, one.anchor, one.units[0].text) for one in passages] == [
        ("Who locks?", "q1", "The guard locks."),
        ("And on Sundays?", "q2", "Nobody does."),
    ]


def test_a_note_of_docbook_opens_with_its_name(tmp_path: Path) -> None:
    note = (
        "<div class='tip'><table summary='Tip'><tr><td rowspan='2'><img src='tip.png'></td>"
        "<th>Astuce</th></tr><tr><td><p>Fermez la porte.</p></td></tr></table></div>"
    )
    shot = "<div class='longdesc-link'>[<a href='ld.html' target='longdesc'>D</a>]</div>"
    page = f"<h1>Portes</h1><p>Une porte.</p>{shot}{note}"
    assert said(read(tmp_path, page)[1]) == ["Une porte.", "Astuce: Fermez la porte."]


def test_lines_of_a_heading_are_words_apart(tmp_path: Path) -> None:
    page = "<main><h1>Come<br>hungry.</h1><p>We boil.</p><h2>Parking &amp;<br/>way</h2><p>Here.</p>"
    document, passages = read(tmp_path, page)
    assert document.title == "Come hungry."
    assert [one.heading for one in passages] == ["Come hungry.", "Parking & way"]


def card(before: str, heading: str, after: str = "") -> str:
    """A card of a page, with a label above its heading."""
    return f"<div>{before}<h2>{heading}</h2>{after}</div>"


def test_a_label_above_a_heading_belongs_to_the_section_below(tmp_path: Path) -> None:
    cards = card("<div><p>1.</p><div>Jul</div></div>", "Party") + card("<p>4. Aug</p>", "Race")
    shows = card("<span>Main dish</span>", "Gumbo", "<p>With okra.</p>")
    _, passages = read(tmp_path, f"<main><h1>Dates</h1><p>All of them.</p>{cards}{shows}</main>")
    assert [(one.heading, one.text) for one in passages[1:]] == [
        ("Party", "1. Jul"),
        ("Race", "4. Aug"),
        ("Gumbo", "Main dish\n\nWith okra."),
    ]


def test_a_label_of_headings_alone_is_left_out(tmp_path: Path) -> None:
    group = f"<section><p>Our menu</p><h2>Worth it</h2>{card('', 'Gumbo', '<p>$9</p>')}</section>"
    _, passages = read(tmp_path, f"<main><h1>Shack</h1><p>We boil.</p>{group}</main>")
    assert [(one.heading, one.text) for one in passages] == [("Shack", "We boil."), ("Gumbo", "$9")]


def test_a_sentence_above_a_heading_stays_where_it_is(tmp_path: Path) -> None:
    page = "<main><h1>Shack</h1><div><p>We boil.</p><h2>Hours</h2><p>Nine to five.</p></div></main>"
    _, passages = read(tmp_path, page)
    assert [(one.heading, one.text) for one in passages] == [
        ("Shack", "We boil."),
        ("Hours", "Nine to five."),
    ]


def test_what_only_refers_to_other_pages_is_left_out_of_answers(tmp_path: Path) -> None:
    links = "<a href='b.html'>Baking</a>, <a href='c.html'>Cooling</a>"
    page = (
        "<main><h1>T</h1><p>Knead it.</p><div class='admonition seealso'>"
        f"<p class='admonition-title'>See also</p><p>{links}</p></div>"
        "<p>Next: <a href='b.html'>Baking</a></p>"
        "<p>See also the book by <a href='d.html'>A</a>.</p></main>"
    )
    assert said(read(tmp_path, page)[1]) == ["Knead it.", "See also the book by A."]


def test_a_term_of_many_things_is_a_field_of_each_and_no_section(tmp_path: Path) -> None:
    def setting(name: str) -> str:
        notes = f"<p>{name} is read at the start. {'It is never read again. ' * 12}</p>"
        fields = f"<dt>Default:</dt><dd>off</dd><dt>Notes:</dt><dd>{notes}</dd>"
        return f"<h2 id={name}>{name}</h2><dl>{fields}</dl>"

    page = f"<main><h1>Settings</h1>{''.join(map(setting, ('lock', 'log', 'port')))}</main>"
    _, passages = read(tmp_path, page)
    assert [passage.heading for passage in passages] == ["lock", "log", "port"]
    assert [passage.anchor for passage in passages] == ["lock", "log", "port"]
    first = passages[0].text
    assert first.startswith("Default: off\n")
    assert "Notes: lock is read at the start." in first


def test_bold_cells_of_the_first_row_are_the_columns(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return f"<tr>{''.join(f'<td><p>{cell}</p></td>' for cell in cells)}</tr>"

    columns = row(*(f"<strong>{name}</strong>" for name in ("Broker", "Status", "Remote")))
    rows = row("Rabbit", "Stable", "Yes") + row("<dl><dt>Keep</dt><dd>er</dd></dl>", "New", "No")
    _, passages = read(tmp_path, f"<main><h1>Brokers</h1><table>{columns}{rows}</table></main>")
    assert [passage.heading for passage in passages] == ["Brokers"]
    assert said(passages) == [
        "Rabbit – Status: Stable; Remote: Yes",
        "Keep: er – Status: New; Remote: No",
    ]
