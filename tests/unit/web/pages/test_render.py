"""What people see in a browser, as HTML: pure functions, from values to bytes."""

import json
import shlex
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import Contact, Site
from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.model.calls.action import Action, OpenTo
from aitp_desk.web.pages.assets import ASSETS, ICON, SCRIPTS, STYLE
from aitp_desk.web.pages.blocks.action_forms import list_offered_actions
from aitp_desk.web.pages.blocks.example_questions import list_example_questions, list_page_topics
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.home import MOST_IN_FOLDER, render_home
from aitp_desk.web.pages.renderer import make_page_index, render_error_page, render_page

SITE = Site(
    name="Pine Street Books",
    description="A small bookshop.",
    url="https://books.example",
    contact=Contact(email="hello@books.example", phone="+49 (30) 555", url="/contact"),
)
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;${x}$title"

SCRIPT = SCRIPTS["en"]
CHAT = "/widget.js"


def document(path: str = "policies/returns", **changes: str) -> Document:
    given = {"title": "Returns", "description": "How to give a book back.", **changes}
    return Document(
        path=path,
        source=f"{path}.md",
        title=given["title"],
        description=given["description"],
        kind="markdown",
        body=given.get("body", "## Return window\n\nTwo weeks."),
        updated=given.get("updated"),
    )


def passage(document: str, heading: str) -> Passage:
    return Passage(
        number=0,
        document=document,
        title="",
        heading=heading,
        trail=(heading,),
        anchor=heading.lower().replace(" ", "-"),
        text="",
        units=(),
    )


def home(site: Site = SITE) -> bytes:
    return render_home(site, [document()], ["Can I pay later?"])


def page(site: Site = SITE) -> bytes:
    return render_page(site, document(), make_page_index(site, [document()]), ["Return window"])


def error(site: Site = SITE) -> bytes:
    return render_error_page(site, status=404, words="error.missing", message="No.", is_needed=True)


every_page = pytest.mark.parametrize("render", [home, page, error])


def hostile(text: str) -> list[bytes]:
    """Every kind of page, with one text in each place where a value goes."""
    site = Site(
        name=text or "-", description=text, url=SITE.url, contact=Contact(email=text, phone=text)
    )
    written = document(title=text, description=text, updated=text, body="")
    return [
        render_home(site, [written], [text]),
        render_page(site, written, make_page_index(site, [written]), [text]),
        render_error_page(site, status=500, words="error.fault", message=text, is_needed=True),
    ]


# --- How agents find the desk -------------------------------------------------------------------


@pytest.mark.requirement("AHP-3.3-1", "AHPW-2.4.1-1")
@every_page
def test_the_head_of_every_page_names_the_manifest(render: Callable[[], bytes]) -> None:
    head = LexborHTMLParser(render().decode()).head
    assert head is not None
    for relation in ("agent-manifest", "ahp-manifest"):
        link = head.css_first(f'link[rel="{relation}"]')
        assert link is not None
        assert link.attributes["href"] == "/.well-known/agent.json"
        assert link.attributes["type"] == "application/agent+json"
    meta = head.css_first('meta[name="ahp-manifest"]')
    assert meta is not None
    assert meta.attributes["content"] == "/.well-known/agent.json"


@pytest.mark.requirement("AHP-3.4-1", "AHP-3.4-3", "AHP-3.4-5", "AHP-3.4-7", "AHP-3.4-8")
@pytest.mark.requirement("AHPW-4.1-3")
@every_page
def test_the_footer_of_every_page_has_the_notice_for_agents(render: Callable[[], bytes]) -> None:
    notice = LexborHTMLParser(render().decode()).css_first("footer section.ahp-notice")
    assert notice is not None
    assert notice.attributes["aria-label"] == "AI Agent Notice"
    said = notice.text()
    for address in ("GET /.well-known/agent.json", "POST /agent/converse", "GET /llms.txt"):
        assert address in said
    assert "AHP/0.1" in said


@pytest.mark.requirement("AHP-3.4-2")
def test_the_notice_is_hidden_by_the_style_sheet_and_by_nothing_else() -> None:
    notice = LexborHTMLParser(home().decode()).css_first(".ahp-notice")
    assert notice is not None
    assert notice.attributes.keys() == {"class", "aria-label"}
    assert b".ahp-notice {" in STYLE.body
    assert b"ahp-notice" not in SCRIPT.body


# --- Nothing breaks out of its place ------------------------------------------------------------


def test_a_value_is_escaped_and_markup_is_not() -> None:
    assert (
        fill_template('<a title="$it">$it</a>', it='"<&')
        == '<a title="&quot;&lt;&amp;">&quot;&lt;&amp;</a>'
    )
    assert fill_template("<p>$it</p>", it=Markup("<b>x</b>")) == "<p><b>x</b></p>"
    assert join_markup([Markup("<b>a</b>"), Markup("<b>c</b>")], " < ") == "<b>a</b> &lt; <b>c</b>"


def test_a_template_takes_exactly_the_values_that_it_names() -> None:
    with pytest.raises(KeyError):
        fill_template("$one $two", one="1")
    with pytest.raises(ValueError, match="no place for two"):
        fill_template("$one", one="1", two="2")


@given(text=st.text())
def test_no_text_leaves_its_element_or_its_attribute(text: str) -> None:
    filled = fill_template('<p class="one" title="$it">$it</p>', it=text)
    paragraph = LexborHTMLParser(filled).css("body *")
    assert [node.tag for node in paragraph] == ["p"]
    assert paragraph[0].attributes.keys() == {"class", "title"}


def shape(html: bytes) -> list[tuple[str | None, tuple[str, ...]]]:
    """Every element with the names of its attributes, in order."""
    nodes = LexborHTMLParser(html.decode()).css("*")
    return [(node.tag, tuple(node.attributes)) for node in nodes]


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40))
def test_no_text_of_the_site_adds_an_element_or_an_attribute_to_a_page(text: str) -> None:
    for plain, filled in zip(hostile("x"), hostile(f"x{text}x"), strict=True):
        assert shape(filled) == shape(plain)


def test_a_hostile_text_stays_text_on_every_page() -> None:
    for html in hostile(HOSTILE):
        tree = LexborHTMLParser(html.decode())
        assert not tree.css("img, [onerror]")
        assert {script.attributes["src"] for script in tree.css("script")} <= {SCRIPT.url, CHAT}
        assert "<script>alert(1)" in tree.text()


# --- Every page ---------------------------------------------------------------------------------


@every_page
def test_a_page_loads_only_the_desks_own_files(render: Callable[[], bytes]) -> None:
    tree = LexborHTMLParser(render().decode())
    loaded = [node.attributes["src"] for node in tree.css("[src]")]
    loaded += [node.attributes["href"] for node in tree.css("link[rel=stylesheet], link[rel=icon]")]
    assert set(loaded) - {CHAT} == {SCRIPT.url, STYLE.url, ICON.url}
    assert all(asset.url == f"/assets/desk/{name}" for name, asset in ASSETS.items())
    assert b"url(" not in STYLE.body
    assert b"@import" not in STYLE.body


@every_page
def test_a_page_has_nothing_inline_that_its_policy_forbids(render: Callable[[], bytes]) -> None:
    tree = LexborHTMLParser(render().decode())
    assert not tree.css("[style], style, form[action]:not([action='/search'])")
    assert not any(name.startswith("on") for node in tree.css("*") for name in node.attributes)


@every_page
def test_a_page_has_landmarks_one_heading_of_level_one_and_unique_ids(
    render: Callable[[], bytes],
) -> None:
    tree = LexborHTMLParser(render().decode())
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert tree.css_matches(landmark)
    assert len(tree.css("h1")) == 1
    assert all(heading.text(strip=True) for heading in tree.css("h1, h2, h3"))
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    targets = {(link.attributes["href"] or "") for link in tree.css("a[href^='#']")}
    assert targets <= {f"#{name}" for name in ids}


@every_page
def test_every_box_has_a_label_and_every_region_a_name(render: Callable[[], bytes]) -> None:
    tree = LexborHTMLParser(render().decode())
    for box in tree.css("textarea, input, select"):
        assert tree.css_matches(f'label[for="{box.attributes["id"]}"]')
    for node in tree.css("[aria-labelledby], [aria-describedby]"):
        names = node.attributes.get("aria-labelledby") or node.attributes["aria-describedby"]
        assert tree.css_matches(f'[id="{names}"]')


# --- The home page ------------------------------------------------------------------------------


def test_the_home_page_says_whose_desk_it_is_and_how_much_it_has_read() -> None:
    said = LexborHTMLParser(home().decode()).text()
    assert "Ask Pine Street Books" in said
    assert "A small bookshop." in said
    assert "one page" in said


def test_the_home_page_lists_the_pages_by_folder() -> None:
    documents = [document("about", title="About us"), document(), document("size-charts/boots")]
    tree = LexborHTMLParser(render_home(SITE, documents, []).decode())
    assert [heading.text() for heading in tree.css(".folder h3")] == [
        "General",
        "Policies",
        "Size charts",
    ]
    addresses = [link.attributes["href"] for link in tree.css(".folder a")]
    assert addresses == ["/about", "/policies/returns", "/size-charts/boots"]


def test_a_full_folder_lists_some_pages_and_says_how_many_more_there_are() -> None:
    documents = [document(f"many/{number}") for number in range(MOST_IN_FOLDER + 1200)]
    tree = LexborHTMLParser(render_home(SITE, documents, []).decode())
    links = tree.css(".folder a")
    assert len(links) == MOST_IN_FOLDER + 1
    assert links[-1].text() == "and 1,200 more pages"


def test_a_desk_without_content_says_so_and_offers_no_examples() -> None:
    tree = LexborHTMLParser(render_home(SITE, [], []).decode())
    assert "There are no pages here yet." in tree.text()
    assert not tree.css(".chip")


def test_the_examples_for_the_shell_are_requests_that_a_shell_and_json_can_read() -> None:
    asked = ["Who's there?", 'What is a "folio"?']
    tree = LexborHTMLParser(render_home(SITE, [], asked).decode())
    thread, converse = (shlex.split(node.text()) for node in tree.css(".samples pre"))
    assert thread[:4] == ["curl", "-X", "POST", "https://books.example/v1/thread"]
    assert "Prefer: wait=10" in thread
    assert json.loads(thread[-1]) == {"messages": ['What is a "folio"?']}
    assert converse[3] == "https://books.example/agent/converse"
    assert json.loads(converse[-1]) == {
        "ahp": "0.1",
        "capability": "content_search",
        "query": 'What is a "folio"?',
    }


# --- A page of the content ----------------------------------------------------------------------


def test_a_content_page_has_its_title_its_description_and_the_way_back() -> None:
    guides = document("guides", title="All guides")
    sizing = document("guides/fit/sizing", title="Size charts", updated="2026-01-20")
    tree = LexborHTMLParser(
        render_page(SITE, sizing, make_page_index(SITE, [guides, sizing]), []).decode()
    )
    assert [node.text() for node in tree.css("h1")] == ["Size charts"]
    title = tree.css_first("title")
    assert title is not None
    assert title.text() == "Size charts · Pine Street Books"
    crumbs = [node.text() for node in tree.css(".crumbs li")]
    assert crumbs == ["Desk", "All guides", "Fit", "Size charts"]
    assert [node.attributes["href"] for node in tree.css(".crumbs a")] == ["/", "/guides"]
    updated = tree.css_first("time")
    assert updated is not None
    assert updated.attributes["datetime"] == "2026-01-20"


def test_a_content_page_offers_to_ask_about_its_own_headings() -> None:
    tree = LexborHTMLParser(page().decode())
    chat = tree.css_first("aitp-chat")
    assert chat is not None
    assert chat.attributes["data-suggestions"] == "Returns: Return window"


def test_the_footer_tells_how_to_reach_the_sites_people() -> None:
    links = LexborHTMLParser(home().decode()).css("footer a")
    assert [link.attributes["href"] for link in links] == [
        "mailto:hello@books.example",
        "tel:+4930555",
        "/contact",
    ]


def test_a_contact_address_that_is_no_web_address_is_no_link() -> None:
    site = Site(name="x", url=SITE.url, contact=Contact(url="javascript:alert(1)"))
    assert not LexborHTMLParser(home(site).decode()).css("footer a")


# --- What a visitor may ask ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Can I pay later", "Can I pay later?"),
        ("Which cards do you take", "Which cards do you take?"),
        ("How to load the pack", "How to load the pack?"),
        ("Wie lange dauert das?", "Wie lange dauert das?"),
        ("What we cannot take back", "About us"),
        ("Opening hours", "About us"),
    ],
)
def test_a_heading_that_is_a_question_is_an_example(heading: str, question: str) -> None:
    found = list_example_questions(
        [document("about", title="About us")], [passage("about", heading)]
    )
    assert found[0] == question


def test_the_examples_are_taken_from_different_pages_and_folders() -> None:
    documents = [
        document("about", title="About us"),
        document("guides/a", title="Boots"),
        document("guides/b", title="Tents"),
        document("policies/a", title="Returns"),
    ]
    passages = [
        passage("guides/a", "Can I wear them in water?"),
        passage("guides/a", "Do they shrink?"),
        passage("policies/a", "How long does it take?"),
        passage("policies/a", "Is " + "very " * 30 + "long?"),
        passage("policies/b", "How do I…?"),
    ]
    assert list_example_questions(documents, passages) == (
        "Can I wear them in water?",
        "How long does it take?",
        "Boots",
        "Returns",
    )


def test_a_page_that_is_called_like_the_site_is_no_example() -> None:
    documents = [document("index", title="Olive Yard"), document("menu", title="Menu")]
    assert list_example_questions(documents, [], "Olive yard") == ("Menu",)


def test_the_topics_of_a_page_are_its_first_headings_each_once() -> None:
    headings = ("One", "Two", "Two", "Three", "Four", "Five")
    passages = [passage("policies/returns", heading) for heading in headings]
    assert list_page_topics(passages) == ("One", "Two", "Three", "Four")


def test_the_home_page_offers_what_changes_something_and_is_not_for_operators_alone() -> None:
    acts = list_offered_actions(
        (
            Action("search", "Searches."),
            Action("lend_lamp", "Lends a <lamp>.", kind="action", open_to="actions"),
            Action("mend_lamp", "Mends.", kind="async", open_to="actions"),
            Action("close_shop", "Closes.", kind="action", open_to="operators"),
        )
    )
    tree = LexborHTMLParser(render_home(SITE, [document()], [], acts=acts).decode())
    offered = [(node.attributes, node.text()) for node in tree.css("[data-action]")]
    assert [words for _, words in offered] == ["Lend lamp", "Mend lamp"]
    first, _ = offered[0]
    assert first["data-action"] == "lend_lamp"
    assert first["title"] == "Lends a <lamp>."
    assert tree.css(".key input[type=password]")
    assert not LexborHTMLParser(home().decode()).css("[data-action], .key")


@pytest.mark.parametrize(
    ("open_to", "sign_in", "told", "link"),
    [
        ("actions", "/sign-in", "Sign in to use them.", "/sign-in"),
        (
            "actions",
            "",
            "They need an access key of this site. Contact",
            "mailto:ask@lamps.example",
        ),
        ("anyone", "/sign-in", "", ""),
    ],
)
def test_the_home_page_says_how_to_get_what_an_action_needs(
    open_to: OpenTo, sign_in: str, told: str, link: str
) -> None:
    site = Site(name="Lamps", contact=Contact(email="ask@lamps.example"))
    acts = (Action("lend_lamp", "Lends a lamp.", kind="action", open_to=open_to),)
    page = render_home(site, [document()], [], acts=acts, sign_in=sign_in).decode()
    hints = LexborHTMLParser(page).css("section.ask > .hint")
    assert "".join(one.text() for one in hints) == told
    links = [one.attributes["href"] for hint in hints for one in hint.css("a")]
    assert links == ([link] if link else [])
